"""On a GPU: integers of every width at the ends of their ranges, where what one operator gives is asked by another.

A lower compiler may compute narrow integers in wider registers; whether a result wraps shows where it is compared,
converted, divided or shifted.  And it may share results among lanes that count up, from below 0 too.
"""

import pytest

from intent_np.testing.checked import Recipe
from intent_np.testing.oracles import examine
from intent_np.testing.reduction import kernel_of

from .test_gpu import pytestmark  # noqa: F401

DTYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
MADE = {
    "add": "x + y", "sub": "x - y", "less_one": "x - 1", "mul": "x * y", "square": "x * x", "abs": "I.abs(x)",
    "neg": "-x", "from_one": "1 - x", "floordiv": "x // d", "ceil_div": "I.ceil_div(x, d)", "mod": "x % d",
    "not": "~x", "and": "x & y", "xor": "x ^ y", "shl": "x << s", "shr": "x >> s", "least": "I.minimum(x, y)",
    "sum_of_products": "x * y + x",
}  # fmt: skip
ASKED = {
    "less": ("t < y", "bool"), "wide": ("I.cast(t, I.i64)", "i64"), "unsigned": ("I.cast(t, I.u64)", "u64"),
    "real": ("I.cast(t, I.f64)", "f64"), "half": ("t >> 1", ""), "quotient": ("t // d", ""), "rest": ("t % d", ""),
    "most": ("I.maximum(t, y)", ""), "narrow": ("I.cast(I.cast(t, I.i8), I.i32)", "i32"), "sign": ("I.abs(t)", ""),
}  # fmt: skip


GIVEN = {
    "memory": ("a[:], b[:]", "y | 1, y & 7"),
    "lanes": ("I.cast(I.indices(I.domain(-128, 129)), I.{dtype}), b[:]", "4, 2"),
    "negative": ("I.cast(I.indices(I.domain(-256, 1)), I.{dtype}), b[:]", "-8, 2"),
}  # fmt: skip
CASES = [(m, d, g) for m in MADE for d in DTYPES for g in GIVEN if g != "negative" or d[0] == "i"]


def text(dtype: str, made: str, given: str) -> str:
    values, divisors = GIVEN[given]
    views = ", ".join(f"{name}: I.Out[I.{d or dtype}, (257,)]" for name, (_, d) in ASKED.items())
    body = "".join(f"    {name}[:] = {e}\n" for name, (e, _) in ASKED.items())
    return (
        "import intent_np as intent\nimport intent_np.language as I\n\n@intent.kernel\n"
        f"def k(a: I.In[I.{dtype}, (257,)], b: I.In[I.{dtype}, (257,)], {views}):\n"
        f"    x, y = {values.format(dtype=dtype)}\n    d, s = {divisors}\n    t = {MADE[made]}\n{body}"
    )


@pytest.mark.parametrize(("made", "dtype", "given"), CASES)
def test_results_wrap_before_they_are_asked(made: str, dtype: str, given: str) -> None:
    recipes = [Recipe({}, "contiguous", values, 7) for values in ("extreme", "special", "integers")]
    outcome = examine(kernel_of(text(dtype, made, given)), recipes, ("device",), causes=False)
    assert outcome.failure is None, f"{outcome.failure}"
    assert outcome.calls
