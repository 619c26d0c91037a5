"""Rules about shapes keep the type, the extents and every element; each makes its term smaller by the declared measure.

Random terms are made of what the rules rearrange, and evaluated by the reference before and behind each firing.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intent_np.backends.reference.logical import run
from intent_np.numerics import cast, invalid_cast, storage
from intent_np.passes.compose_shapes import rewritten
from intent_np.rules.pattern import rule, structure
from intent_np.rules.shape_attributes import FUNCTIONS, holds_exactly
from intent_np.rules.shapes import RULES, measure, p, step, v
from intent_np.rules.structures import compile_rules, source
from intent_np.terms.core import Arena, find
from intent_np.terms.dtypes import DTYPES, bool_, f16, f32, f64, i8, i32, index
from intent_np.terms.index import Const, Extent, Param, Stride, const
from intent_np.terms.logical import (
    LOGICAL,
    Along,
    At,
    Convert,
    Domain,
    Filled,
    Indices,
    LogicalProgram,
    NewAxis,
    Pointwise,
    Read,
    Reshape,
    Take,
    TensorReduce,
    TensorType,
    Transpose,
    Write,
    shape_of,
)
from intent_np.terms.normal import View, builtin, identity
from intent_np.terms.operators import OPERATORS

from .meaning import evaluate, same, samples

SIZES = {"M": 3, "N": 4}


class Maker:
    """Random terms over the extents 1, 2, 3, M and N; every access is inside."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.extents: list[Any] = [const(1), const(2), Extent("M"), Extent("N")]

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def size(self, e: Any) -> int:
        return e.value if isinstance(e, Const) else SIZES[e.name]

    def scalar(self, d: Any) -> Any:
        return self.pick(Param(f"s_{d}", d), const(self.pick(0, 1, 5), d))

    def leaf(self, rank: int, d: Any) -> Any:
        shape = tuple(self.pick(*self.extents) for _ in range(rank))
        if rank == 1 and d is index:
            lo = const(self.pick(0, 2))
            return Indices(Domain(lo, self.pick(const(6), const(3)), self.pick(None, const(2))))
        if rank == 0 or self.random.random() < 0.4:
            return Filled(self.scalar(d), shape)
        return self.read(shape, d)

    def read(self, shape: tuple[Any, ...], d: Any) -> Any:
        name = f"x_{d}_" + "_".join(str(self.size(e)) for e in shape)
        extents = tuple(const(self.size(e)) if isinstance(e, Const) else e for e in shape)
        view = View(name, "in", d, extents, tuple(Stride(name, i) for i in range(len(shape))))
        return Read(view, tuple(Along(Domain(const(0), e)) for e in extents))

    def subscripts(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        out: list[Any] = []
        for e in shape:
            if self.random.random() < 0.2:
                out.append(NewAxis())
            n = self.size(e) if isinstance(e, (Const, Extent)) else None
            whole = Along(Domain(const(0), e))
            part = [] if n is None or n < 2 else [Along(Domain(const(1), e if self.pick(0, 1) else const(2)))]
            stepped = [] if n is None or n < 2 else [Along(Domain(const(0), const(2), const(2)))]
            at = [] if n == 0 else [At(const(self.pick(0, (n or 1) - 1)))]
            out.append(self.pick(whole, whole, *part, *stepped, *at))
        return tuple(out)

    def value(self, depth: int, rank: int, d: Any) -> Any:
        """A tensor; of `rank`, unless what is taken of it changes that."""
        if depth == 0:
            return self.leaf(rank, d)
        kind = self.pick("transpose", "reshape", "take", "take", "convert", "pointwise", "pointwise", "kept")
        if kind == "convert":
            return (
                Convert(self.value(depth - 1, rank, self.pick(i8, i32, f16, f32)), d)
                if d is not index
                else self.leaf(rank, d)
            )
        inner = self.value(depth - 1, rank, d)
        shape = shape_of(inner)
        if kind == "transpose":
            return Transpose(inner, tuple(self.random.sample(range(len(shape)), len(shape))))
        if kind == "take":
            taken = Take(inner, self.subscripts(shape))
            return taken if isinstance(taken.type, TensorType) else Filled(taken, self.pick((), (Extent("M"),)))
        if kind == "reshape":
            ones = [e for e in shape if not (isinstance(e, Const) and e.value == 1)]
            return Reshape(inner, self.pick(shape, (*shape, const(1)), (const(1), *shape), tuple(ones)))
        if kind == "kept" and shape and d is not index:
            dimension = self.random.randrange(len(shape))
            kept = TensorReduce((inner,), dimension, builtin("max", d), (identity("max", d),), True)
            rest = tuple(Along(Domain(const(0), e)) for e in shape)
            at_0 = (*rest[:dimension], At(const(0)), *rest[dimension + 1 :])
            less = shape[:dimension] + shape[dimension + 1 :]
            if not less:
                return kept
            return self.pick(kept, Take(kept, at_0), Reshape(kept, less))
        others = [
            self.scalar(d),
            inner,
            Filled(self.scalar(d), shape),
            Filled(self.scalar(d), (const(1),) * len(shape)),
        ]
        if shape and d is not index and all(isinstance(e, (Const, Extent)) for e in shape):
            others.append(self.read(shape[-1:], d))
        other = self.pick(*others)
        args = (inner, other) if self.pick(0, 1) else (other, inner)
        if self.random.random() < 0.1:
            args = (self.scalar(d), self.scalar(d))
        return Pointwise(OPERATORS[self.pick("add", "maximum", "sub")], args)


def evaluated(value: Any) -> Any:
    """The elements of a value of the arena in force, by the reference."""
    shape = shape_of(value)
    d: Any = value.type.dtype if isinstance(value.type, TensorType) else value.type
    extents = [Extent("M"), Extent("N")]
    holder = View("sizes", "in", f32, tuple(extents), (Stride("sizes", 0), Stride("sizes", 1)))
    out = View("out", "out", d, shape, tuple(Stride("out", i) for i in range(len(shape))))
    write = Write(out, tuple(Along(Domain(const(0), e)) for e in shape), value)
    views = list(dict.fromkeys(r.view for r in find(write, Read)))
    scalars = list(dict.fromkeys(find(write, Param)))
    rng = np.random.default_rng(3)
    arrays = {"sizes": np.zeros((SIZES["M"], SIZES["N"]), np.float32)}
    for view in views:
        sizes = tuple(e.value if isinstance(e, Const) else SIZES[e.name] for e in view.shape)
        arrays[view.name] = samples(view.dtype, int(np.prod(sizes)), rng).reshape(sizes)
    sizes = tuple(
        e.value if isinstance(e, Const) else SIZES[e.name] if isinstance(e, Extent) else _number(e) for e in shape
    )
    arrays["out"] = np.zeros(sizes, storage(d))
    program = LogicalProgram("p", (holder, *views, *scalars, out), (write,))
    with np.errstate(all="ignore"):
        run(program, arrays, {s.name: 3 for s in scalars})
    return arrays["out"]


def _number(e: Any) -> int:
    return int(evaluate(e, {Extent(n): np.asarray(s) for n, s in SIZES.items()})[0])


def firings(seed: int) -> dict[str, list[tuple[Any, Any]]]:
    """What each rule did to a random term, once the whole is known to keep its elements."""
    random = Random(seed)
    maker = Maker(random)
    fired: dict[str, list[tuple[Any, Any]]] = {}
    value = maker.value(random.randint(1, 4), random.choice([0, 1, 1, 2, 3]), random.choice([f32, i8, f16, index]))
    after = rewritten(value, lambda name, old, new: fired.setdefault(name, []).append((old, new)))
    for name, pairs in fired.items():
        for old, new in pairs:
            assert new.type == old.type, name
            assert measure(new) < measure(old), name
            assert same(evaluated(old), evaluated(new), _element(old)).all(), name
    assert after.type == value.type
    assert same(evaluated(value), evaluated(after), _element(value)).all()
    assert rewritten(after) is after
    return fired


def _element(v: Any) -> Any:
    return v.type.dtype if isinstance(v.type, TensorType) else v.type


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_rules_keep_types_and_elements_and_end(seed: int) -> None:
    with Arena():
        firings(seed)


def test_every_rule_fires() -> None:
    fired: set[str] = set()
    for seed in range(1500):
        with Arena():
            fired |= set(firings(seed))
        if len(fired) == len(RULES):
            break
    assert fired == {r.name for r in RULES}


EXACT = [d for d in DTYPES.values() if d is not index and d.name != "u64"]


@pytest.mark.parametrize("d", EXACT, ids=lambda d: d.name)
def test_a_conversion_between_loses_nothing(d: Any) -> None:
    """Whatever the type in between, the result is that of one conversion, or the chain is not shortened."""
    rng = np.random.default_rng(1)
    values = samples(d, 4000, rng)
    with Arena(), np.errstate(all="ignore"):
        held = Filled(Param("s", d), (const(4),))
        between = [m for m in EXACT if m is not d and holds_exactly(held, m, "wrap", "wrap")]
        for m in between:
            back = cast(cast(values, m, d), d, m)
            assert same(back, values, d).all(), m
            for e in (f64, i32):
                fine = ~np.broadcast_to(invalid_cast(cast(values, m, d), e, m), values.shape)
                found, wanted = cast(values, e, d)[fine], cast(cast(values, m, d), e, m)[fine]
                assert same(found, wanted, e).all(), (m, e)
        assert bool_ not in between
        assert not holds_exactly(held, d, "bits", "wrap")


def test_lossy_conversions_stay() -> None:
    with Arena():
        maker = Maker(Random(0))
        for first, middle in ((f32, f16), (i32, f32), (i32, i8), (f64, f32), (f16, DTYPES["bf16"])):
            chain = Convert(Convert(maker.read((const(4),), first), middle), f64)
            assert step(chain) is None, (first, middle)


WRONG = (
    rule("backwards", structure("Transpose", structure("Transpose", v, "p"), "q"), v),
    rule("any-permutation", structure("Transpose", v, p), v),
)


def test_a_wrong_rule_changes_elements() -> None:
    with Arena():
        maker = Maker(Random(1))
        t = Transpose(maker.read((const(2), const(2)), f32), (1, 0))
        (wrong,) = compile_rules(WRONG[1:], LOGICAL, FUNCTIONS).values()
        assert not same(evaluated(t), evaluated(wrong(t)[0]), f32).all()


def test_rules_are_data_and_read_like_it() -> None:
    names = [r.name for r in RULES]
    assert len(set(names)) == len(names)
    assert all(r.why and r.numerics == "exact" for r in RULES)
    (r,) = (r for r in RULES if r.name == "transpose-transpose")
    assert (str(r.left), str(r.right)) == ("Transpose(Transpose(v, p), q)", "Transpose(v, composed(p, q))")
    assert "# take-take" in source(RULES, LOGICAL)["Take"]
    assert all(f.__doc__ for f in FUNCTIONS.values() if not f.__name__.startswith("_"))


def test_a_deep_chain_is_rewritten() -> None:
    with Arena():
        t: Any = Maker(Random(1)).read((const(2), const(3)), f32)
        for _ in range(3000):
            t = Pointwise(OPERATORS["add"], (Transpose(t, (1, 0)), const(1, f32)))
        assert rewritten(Transpose(t, (0, 1))) is rewritten(t)
