"""Coordinates in values: the expression of an element is what the reference computes there, or there is none."""

import numpy as np
import pytest

import intent_np.language as I
from intent_np.backends.reference import logical
from intent_np.passes.inline_calls import inline_calls
from intent_np.rules.provenance import is_position, provenance
from intent_np.terms.core import Arena, find
from intent_np.terms.index import Apply, Cast, Const, Extent
from intent_np.terms.logical import At, Call, Read, Write
from tests.sources import executed

PREAMBLE = """
@intent.fn
def grid(rows, columns, scale):
    i, j = I.indices(rows), I.indices(columns)
    return i[:, None] * scale + j[None, :], I.record(row=i, flipped=I.transpose(i[:, None] - j[None, :]))

@intent.fn
def moved(v, by):
    return v + by

@intent.kernel
def k(x: I.In[I.i32, ("M",)], f: I.In[I.f32, ("M",)], z: I.Out[I.index, {shape}]):
    M = x.shape[0]
    rows, columns = I.domain(1, M, 3), I.domain(0, M)
    i, j = I.indices(rows), I.indices(columns)
    z[{all}] = {value}
"""

M = 11
# shape of the result, value, and whether each element is known
CASES = [
    (("cdiv(M - 1, 3)",), "i", True),
    (("cdiv(M - 1, 3)", "M"), "i[:, None] * 10 + j[None, :]", True),
    (("M", "cdiv(M - 1, 3)"), "I.transpose(i[:, None] * 10 + j[None, :])", True),
    (("M * 2",), "I.reshape(j[:, None] * 2 + I.indices(I.domain(0, 2))[None, :], (M * 2,))", True),
    ((2, "M"), "I.reshape(I.reshape(j[:, None] + I.indices(I.domain(0, 2))[None, :] * 9, (2 * M,)), (2, M))", True),
    (("M",), "I.select(j % 3 == 1, j // 2, 0 - j)", True),
    (("M",), "I.cast(I.cast(j, I.i32) + 5, I.index)", True),
    (("M",), "I.cast(x[columns], I.index) + j", True),
    (("M",), "I.cast(I.cast(f[:], I.i32), I.index)", False),
    (("M",), "I.gather(j, j, valid=j > 2, fill=-1)", False),
    (("M",), "I.cast(I.gather(x, j, valid=j > 2, fill=-1), I.index)", False),
    (("M",), "I.reduce.sum(j[:, None] + j[None, :], axis=0)", False),
    (("M",), "j * I.reduce.sum(j)", True),
    (("M", "cdiv(M - 1, 3)"), "I.transpose(grid(rows, columns, 10)[0])", True),
    (("M", "cdiv(M - 1, 3)"), "grid(rows, columns, M)[1].flipped + 1", True),
    (("cdiv(M - 1, 3)",), "moved(grid(rows, columns, 10)[1].row, I.cast(x[0], I.index) if M > 0 else 0)", True),
    (("M",), "moved(moved(j, 2), M)", True),
]  # fmt: skip


def captured(shape, value):
    """The program that stores the value, and the value."""
    text = PREAMBLE.format(shape=shape, all=", ".join(":" for _ in shape), value=value)
    program = executed(text)["k"].capture()
    return program, stored(program)


def stored(program):
    (write,) = find(program, Write)
    return write.value


def evaluate(t, where, x):
    """An element's expression as Python means it."""
    if isinstance(t, Const):
        return t.value
    if isinstance(t, Extent):
        return M
    if is_position(t):
        return where[t.position]
    if isinstance(t, Cast):
        return int(evaluate(t.value, where, x))
    if isinstance(t, Read) and all(isinstance(s, At) for s in t.subscripts):
        return x[tuple(evaluate(s.value, where, x) for s in t.subscripts)]
    if isinstance(t, Apply):
        a = [evaluate(v, where, x) for v in t.args]
        return {
            "add": sum, "sub": lambda a: a[0] - a[1], "mul": lambda a: int(np.prod(a)), "neg": lambda a: -a[0],
            "floordiv": lambda a: a[0] // a[1], "mod": lambda a: a[0] % a[1], "eq": lambda a: a[0] == a[1],
            "select": lambda a: a[1] if a[0] else a[2], "lt": lambda a: a[0] < a[1], "not": lambda a: not a[0],
            "ceil_div": lambda a: -(-a[0] // a[1]),
        }[t.op.name](a)  # fmt: skip
    if t.type is I.index:  # a scalar that the program computes: here the sum of all coordinates
        return M * (M - 1) // 2
    raise AssertionError(t)


@pytest.mark.parametrize(("shape", "value", "known"), CASES, ids=[c[1] for c in CASES])
def test_an_element_is_what_the_reference_computes(shape, value, known):
    with Arena():
        program, v = captured(shape, value)
        found = provenance(v)
        assert (found.element is not None) == known, found
        x = np.random.default_rng(3).integers(0, 9, M).astype(np.int32)
        z = np.zeros([eval(str(e), {"M": M, "cdiv": lambda a, b: -(-a // b)}) for e in shape], np.int64)
        logical.run(program, {"x": x, "f": x.astype(np.float32), "z": z}, {})
        if known:
            for where in np.ndindex(z.shape):
                assert evaluate(found.element, where, x) == z[where], (where, found.element)
        # a helper expanded gives the same as a helper called
        assert provenance(stored(inline_calls(program))) == found


def test_outlined_and_expanded_helpers_give_one_answer():
    with Arena():
        called, v = captured(("cdiv(M - 1, 3)", "M"), "grid(rows, columns, M)[0]")
        _, w = captured(("cdiv(M - 1, 3)", "M"), "i[:, None] * M + j[None, :]")
        assert list(find(called, Call))
        assert not list(find(w, Call))
        assert provenance(v) == provenance(w)


def test_axes_keep_the_domain_that_they_run_over():
    with Arena():
        _, v = captured(("cdiv(M - 1, 3)", "M"), "i[:, None] * 10 + j[None, :]")
        rows, columns = provenance(v).axes
        assert rows.step == Const(3, I.index)
        assert columns.hi == Extent("M")
        _, w = captured(("M",), "j[0:]")
        assert provenance(w).axes == (columns,)
        _, u = captured(("M",), "I.reshape(j, (M, 1))[:, 0]")
        assert provenance(u).axes == (columns,)


def test_a_part_of_an_axis_is_a_subregion_of_its_source():
    with Arena():
        _, v = captured((2,), "I.indices(I.domain(5, 25, 4))[1:4:2]")
        found = provenance(v)
        (part,) = found.axes
        assert (part.lo.value, part.step.value, part.extent.value) == (9, 8, 2)
        assert part.source.lo.value == 5
        assert [evaluate(found.element, (p,), None) for p in range(2)] == [9, 17]
        assert not found.depends
