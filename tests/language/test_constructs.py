"""Every definition, construct and rule of the language once, in the order of its manual: captured, printed, read back,
and executed, or refused with the error that says why."""

import itertools

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.reference import logical
from intent_np.errors import IntentError
from intent_np.terms.core import Arena
from intent_np.terms.logical import LOGICAL
from intent_np.terms.parse import parse
from intent_np.terms.text import show
from tests.sources import executed

from .constructs import CONSTRUCTS, K, X
from .definitions import DEFINITIONS

SIGNATURE = (
    'x: I.In[I.f32, ("N",)], k: I.In[I.i32, ("N",)], m: I.In[I.f32, ("M", "N")], o: I.In[I.i32, ("M + 1",)], n: I.index'
)
HELPERS = '''
@intent.fn
def twice(v):
    return v * 2

@intent.fn
def span(axis, begin, end):
    return axis[begin:end]

@intent.fn
def affine(a, b):
    """x -> a.scale * x + a.shift, then b"""
    return I.record(scale=a.scale * b.scale, shift=a.shift * b.scale + b.shift)

@intent.fn
def add(a, b):
    return a + b

@intent.fn
def last_of(a, b):
    return I.record(v=b.v if b.any else a.v, any=a.any or b.any)

@intent.fn
def summed(v):
    return I.reduce.sum(v, axis=0)

@intent.fn
def weighted(v, i):
    return I.reduce.sum(v * I.cast(i, I.f32), axis=0)

@intent.fn
def shift_state(summary, state):
    return state + summary

@intent.fn
def prefix(v, state):
    return state + I.cumsum(v, axis=0)

@intent.fn
def noisy(v):
    return I.reduce.sum(v, axis=0) + I.random.uniform(1, 2)

@intent.fn
def noise(a, b):
    return a + b + I.random.uniform(1, 2)

@intent.fn
def counting(v, count):
    I.atomic.add(count, index=0, value=1)
    return I.reduce.sum(v, axis=0)

@intent.fn
def how_many(v):
    return I.cast(v.shape[0], I.f32)

@intent.fn
def where_most(v):
    return I.arg_reduce.max(v, axis=0)[1]

@intent.fn
def only_state(v, state):
    return state

@intent.fn
def put(target, i, v):
    target[i] = v
'''


def declared(out):
    """The dtype and the shape of `f32[M, N]`."""
    dtype, inner = out[:-1].split("[")
    return dtype, tuple(int(e) if e.isdigit() else e for e in inner.split(", ") if e)


def kernel(out, body, helpers=""):
    """The kernel of a construct."""
    dtype, shape = declared(out)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"{HELPERS}{helpers}\n@intent.kernel\ndef construct({SIGNATURE}, out: I.Out[I.{dtype}, {shape!r}]):\n"
    return executed(f"{text}    M, N = m.shape\n{lines}")["construct"]


def arguments(out):
    """The arrays that a construct is given, `out` the last of them."""
    dtype, shape = declared(out)
    extents = [eval(str(e), {"N": 5, "M": 2}) for e in shape]
    made = np.zeros(extents, "i8" if dtype == "index" else np.dtype(f"{dtype[0]}{int(dtype[1:]) // 8}"))
    return {
        "x": np.array(X, np.float32), "k": np.array(K, np.int32), "m": np.arange(10, dtype=np.float32).reshape(2, 5),
        "o": np.array([0, 3, 5], np.int32), "out": made,
    }  # fmt: skip


def by_machine(k, out):
    """What the program machine makes of what it is compiled to."""
    arrays = arguments(out)
    *given, made = arrays.values()
    intent.compile(k, target="cpu")(*given, 2, made)
    return made.tolist()


def evaluated(k, out):
    """What the reference makes of it, whole and point by point."""
    with Arena():
        program = k.capture()
        assert LOGICAL.check(program) == []
        assert parse(show(program), LOGICAL) is program
        results = []
        for budget, cuts in itertools.product((1 << 18, 1), (1, 3)):
            arrays = arguments(out)
            logical.run(program, arrays, {"n": 2}, budget=budget, cuts=cuts)
            results.append(arrays["out"].tolist())
    assert all(r == results[0] for r in results), results
    return results[0]


@pytest.mark.parametrize(
    ("out", "body", "expected"), [c[2:] for c in CONSTRUCTS], ids=[f"{c[0]} {c[1]}" for c in CONSTRUCTS]
)
def test_a_construct_means_what_the_manual_says(out, body, expected):
    if isinstance(expected, str) and expected != "host":
        with Arena(), pytest.raises(IntentError) as found:
            kernel(out, body).capture()
        assert found.value.code == expected, found.value
        assert found.value.span is not None
    elif expected == "host":
        with Arena():
            assert parse(show(program := kernel(out, body).capture()), LOGICAL) is program
    else:
        assert evaluated(kernel(out, body), out) == expected


ARGUMENTS = {
    "x": np.array(X, np.float32), "k": np.array(K, np.int32), "m": np.arange(10, dtype=np.float32).reshape(2, 5),
    "w": np.arange(10, dtype=np.float32)[::2], "y": np.zeros(5, np.float32), "s": 2.0, "n": 2,
}  # fmt: skip


def defined(around, signature, body):
    """The kernel of a definition, which compiles itself where it is called."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return executed(f'{around}\n@intent.jit(target="reference")\ndef construct({signature}):\n{lines}')["construct"]


def called(around, signature, body, constexprs):
    """What a call of it gives."""
    k = defined(around, signature, body)
    with Arena():
        program = k.capture(constexprs)
        assert LOGICAL.check(program) == []
        assert parse(show(program), LOGICAL) is program
    names = [p.name for p in k.parameters if p.name in ARGUMENTS]
    made = k.run(*_fresh(names), **constexprs)
    out = np.zeros_like(made)
    k(**dict(zip(names, _fresh(names), strict=True)), out=out, **constexprs)
    assert out.tolist() == made.tolist()
    return made.tolist()


def _fresh(names):
    return [np.copy(ARGUMENTS[n]) if n in "xy" else ARGUMENTS[n] for n in names]


@pytest.mark.parametrize("row", DEFINITIONS, ids=[d[0] for d in DEFINITIONS])
def test_a_definition_means_what_the_manual_says(row):
    *definition, expected = row[1:]
    if isinstance(expected, str):
        with pytest.raises(IntentError) as found:
            called(*definition)
        assert found.value.code == expected, found.value
    else:
        assert called(*definition) == expected


VALUES = [c for c in CONSTRUCTS if not isinstance(c[4], str)]


@pytest.mark.parametrize(("out", "body", "expected"), [c[2:] for c in VALUES], ids=[f"{c[0]} {c[1]}" for c in VALUES])
def test_it_means_the_same_once_it_is_compiled(out, body, expected):
    assert by_machine(kernel(out, body), out) == expected


def test_every_section_is_there():
    assert [key for key, _ in itertools.groupby(c[0] for c in CONSTRUCTS)] == [
        "1", "1.1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12",
    ]  # fmt: skip
    assert I.f32.is_float
