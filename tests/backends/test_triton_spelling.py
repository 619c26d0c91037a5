"""Every operator and conversion has a Triton spelling that compiles to the right type and the right instructions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_np.backends.triton import spelling as table
from intent_np.backends.triton.compiler import compile_source
from intent_np.backends.triton.spelling import ATOM, TYPES, Spelled, Spelling
from intent_np.backends.triton.support import SUPPORT
from intent_np.target import resolve
from intent_np.terms.dtypes import (
    DTYPES,
    DType,
    bf16,
    bool_,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    u8,
    u16,
    u32,
)
from intent_np.terms.operators import OPERATORS, Op, result_dtype

pytest.importorskip("triton")

TYPED = [d for d in DTYPES.values() if d.name != "index"]
SIGNATURE = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "f8e4m3fn": "fp8e4nv", "f8e5m2": "fp8e5", "bool": "i1"}


def spelled(op: Op, dtype: DType, spelling: Spelling, literal: str = "", **facts: bool) -> tuple[str, DType]:
    """`op` on `a`, `b`, `c`, and the dtype of its result; the last operand `literal` if given."""
    arity = op.arity if op.arity > 0 else 3
    names = list("abc"[:arity])
    if op.name == "select":
        names[0] = "p"
    if literal:
        names[-1] = literal
    dtypes = tuple(bool_ if op.name == "select" and k == 0 else dtype for k in range(arity))
    text, _ = spelling.operator(op, dtype, [(n, ATOM) for n in names], **facts)
    return text, result_dtype(op, dtypes)


def module(source: DType, results: list[tuple[str, DType]], spelling: Spelling) -> tuple[str, list[tuple[str, str]]]:
    """A kernel that computes each text from three loads of `source`, and asserts the dtype; and its signature."""
    parts = ["import triton\nimport triton.language as tl", *spelling.imports()]
    parts += ["\n\n" + "\n".join(lines) for lines in spelling.helpers()]
    outs = [f"o{k}" for k in range(len(results))]
    parts.append(f"\n\n@triton.jit\ndef kernel(x, y, z, {', '.join(outs)}, n):")
    parts.append("    i = tl.program_id(0) * 128 + tl.arange(0, 128)\n    m = i < n\n    p = i < 5")
    parts += [f"    {name} = tl.load({pointer} + i, mask=m)" for name, pointer in zip("abc", "xyz", strict=True)]
    for out, (text, dtype) in zip(outs, results, strict=True):
        parts.append(f"    r = {text}\n    tl.static_assert(r.dtype == {TYPES[dtype.name]})")
        parts.append(f"    tl.store({out} + i, r, mask=m)")
    types = [source] * 3 + [dtype for _, dtype in results]
    signature = [(n, "*" + SIGNATURE.get(d.name, d.name)) for n, d in zip([*"xyz", *outs], types, strict=True)]
    return "\n".join(parts) + "\n", [*signature, ("n", "i32")]


def compiled(source: DType, results: list[tuple[str, DType]], spelling: Spelling, path: Path) -> str:
    """The PTX of that module."""
    text, signature = module(source, results, spelling)
    target = resolve(f"sm_{spelling.capability}")
    return compile_source(text, "kernel", signature, {}, {}, target, 4, 1, path).ptx


CAPABILITIES = [pytest.param(80, marks=pytest.mark.slow), 90, pytest.param(100, marks=pytest.mark.slow)]


def test_the_table_covers_every_operator() -> None:
    floats = {op.name for op in OPERATORS.values() if op.accepts(f32)}
    integers = {op.name for op in OPERATORS.values() if op.accepts(i32)}
    bools = {op.name for op in OPERATORS.values() if op.accepts(bool_)}
    assert (set(table.FLOAT), set(table.INTEGER), set(table.BOOL)) == (floats, integers, bools)


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("dtype", TYPED, ids=repr)
def test_every_operator_compiles_to_its_type(dtype: DType, capability: int, tmp_path: Path) -> None:
    if dtype is f8e4m3fn and capability < 89:
        pytest.skip("Triton has no e4m3 below sm_89")
    spelling = Spelling(capability)
    results = [spelled(op, dtype, spelling) for op in OPERATORS.values() if op.accepts(dtype)]
    if dtype is not bool_:
        literal = "1.5" if dtype.is_float else "3"
        binary = [op for op in OPERATORS.values() if op.accepts(dtype) and op.arity in (2, 3)]
        results += [spelled(op, dtype, spelling, literal) for op in binary]
    if dtype.is_integer:
        divisions = [OPERATORS[n] for n in ("floordiv", "mod", "ceil_div")]
        results += [spelled(op, dtype, spelling, nonnegative=True) for op in divisions]
        results += [spelled(op, dtype, spelling, literal, nonnegative=True) for op in divisions]
    compiled(dtype, results, spelling, tmp_path)


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("mode", ["wrap", "saturate", "bits"])
@pytest.mark.parametrize("source", TYPED, ids=repr)
def test_every_conversion_compiles_to_its_type(source: DType, mode: str, capability: int, tmp_path: Path) -> None:
    spelling = Spelling(capability)
    targets = [d for d in TYPED if mode != "bits" or (d.bits == source.bits and (d is bool_) == (source is bool_))]
    if capability < 89:
        targets = [d for d in targets if d is not f8e4m3fn]
        if source is f8e4m3fn:
            pytest.skip("Triton has no e4m3 below sm_89")
    results = [(spelling.conversion(("a", ATOM), source, d, mode=mode)[0], d) for d in targets]
    compiled(source, results, spelling, tmp_path)


# operator, dtype, what the PTX contains, what it must not
INSTRUCTIONS = [
    ("div", f32, r"div\.rn\.f32", r"div\.full|div\.approx"),
    ("div", f64, r"div\.rn\.f64", ""),
    ("div", f16, r"div\.rn\.f32[\s\S]*cvt\.rn\.f16\.f32", r"div\.full"),
    ("div", bf16, r"div\.rn\.f32[\s\S]*cvt\.rn\.bf16\.f32", r"div\.full"),
    ("sqrt", f32, r"sqrt\.rn\.f32", r"sqrt\.approx"),
    ("sqrt", f64, r"sqrt\.rn\.f64", ""),
    ("sqrt", f16, r"sqrt\.rn\.f32", r"sqrt\.approx"),
    ("exp", f32, r"fma\.rn\.f32[\s\S]*ex2\.approx", r"mul\.rn\.f32[^;]*;\s*ex2\.approx"),
    ("exp", f16, r"fma\.rn\.f32[\s\S]*ex2\.approx", ""),
    ("exp2", f32, r"ex2\.approx\.f32", r"\.ftz"),
    ("rsqrt", f32, r"rsqrt\.approx\.f32", r"\.ftz"),
    ("log", f32, r"fma\.rn\.f32", r"lg2\.approx"),
    ("log2", f32, r"fma\.rn\.f32", r"lg2\.approx"),
    ("sin", f32, r"fma\.rn\.f32", r"sin\.approx"),
    ("cos", f32, r"fma\.rn\.f32", r"cos\.approx"),
    ("tanh", f32, r"fma\.rn\.f32", r"tanh\.approx"),
    ("sigmoid", f32, r"ex2\.approx[\s\S]*div\.rn\.f32", r"div\.full"),
    ("sigmoid", f64, r"div\.rn\.f64", ""),
    ("maximum", f32, r"max\.NaN\.f32", ""),
    ("minimum", f16, r"min\.NaN\.f16", ""),
    ("maximum", bf16, r"max\.NaN\.bf16", ""),
    ("maximum", f64, r"setp\.nan\.f64", ""),
    ("maximum_num", f32, r"max\.f32", r"\.NaN"),
    ("neg", f32, r"xor\.b32|neg\.f32", r"sub"),
    ("neg", f16, r"xor\.b16|neg\.f16", r"sub"),
    ("fma", f32, r"fma\.rn\.f32", r"mul\.rn|add\.rn"),
    ("fma", f16, r"fma\.rn\.f16", r"cvt\.f32"),
    ("fma", f64, r"fma\.rn\.f64", ""),
    ("mul", f32, r"mul\.rn\.f32", r"\.ftz"),
    ("add", f16, r"add\.rn\.f16", r"cvt"),
    ("round", f32, r"cvt\.rni\.f32\.f32", ""),
    ("div_approx", f32, r"div\.full\.f32", ""),
    ("exp2_approx", f32, r"ex2\.approx\.ftz\.f32", ""),
    ("exp_approx", f32, r"ex2\.approx\.f32", r"fma"),
    ("tanh_approx", f32, r"tanh\.approx\.f32", ""),
    ("sigmoid_approx", f32, r"div\.full\.f32", ""),
    ("shr", i32, r"shr\.s32", ""),
    ("shr", u32, r"shr\.u32", ""),
    ("lt", u32, r"setp\.\w+\.u32", ""),
]


@pytest.mark.parametrize(("name", "dtype", "wanted", "unwanted"), INSTRUCTIONS)
def test_instructions(name: str, dtype: DType, wanted: str, unwanted: str, tmp_path: Path) -> None:
    spelling = Spelling(90)
    ptx = compiled(dtype, [spelled(OPERATORS[name], dtype, spelling)], spelling, tmp_path)
    assert re.search(wanted, ptx)
    assert not unwanted or not re.search(unwanted, ptx[ptx.index("ld.global") :])


def test_multiplication_and_addition_stay_apart(tmp_path: Path) -> None:
    spelling = Spelling(90)
    product = spelling.operator(OPERATORS["mul"], f32, [("a", ATOM), ("b", ATOM)])
    text, _ = spelling.operator(OPERATORS["add"], f32, [product, ("c", ATOM)])
    assert text == "a * b + c"
    assert "fma" not in compiled(f32, [(text, f32)], spelling, tmp_path)


@pytest.mark.parametrize("name", ["floordiv", "mod", "ceil_div"])
@pytest.mark.parametrize("dtype", [i32, u32], ids=repr)
def test_a_guarded_division_keeps_its_guard(name: str, dtype: DType, tmp_path: Path) -> None:
    """LLVM removes `b == 0` where the same lane divides by `b`: that is undefined there, and poison here."""
    spelling = Spelling(90)
    quotient, _ = spelled(OPERATORS[name], dtype, spelling)
    guarded = compiled(dtype, [(f"tl.where(b == 0, 12345, {quotient})", dtype)], spelling, tmp_path)
    assert re.search(r"selp\.b32[^;]*12345", guarded)
    plain = {"floordiv": "a // b", "mod": "a % b", "ceil_div": "a // b"}[name]
    naive = compiled(dtype, [(f"tl.where(b == 0, 12345, {plain})", dtype)], spelling, tmp_path)
    assert not re.search(r"12345", naive), "LLVM has stopped doing so: the guards of `support.py` may go"


def test_division_by_a_literal_is_cheap(tmp_path: Path) -> None:
    spelling = Spelling(90)
    quotient = spelled(OPERATORS["floordiv"], i32, spelling, "64")
    assert quotient == ("floor_div(a, 64)", i32)
    ptx = compiled(i32, [quotient], spelling, tmp_path)
    assert "div.s32" not in ptx
    assert spelled(OPERATORS["floordiv"], i32, spelling, "64", nonnegative=True)[0] == "a // 64"
    assert spelled(OPERATORS["mod"], i32, spelling, nonnegative=True, nonzero=True)[0] == "a % b"
    assert spelled(OPERATORS["floordiv"], u32, spelling)[0] == "a // nonzero(b)"


def test_literals_in_calls_have_the_dtype_of_the_operator() -> None:
    spelling = Spelling(90)

    def written(name: str, dtype: DType, literal: str) -> str:
        return spelled(OPERATORS[name], dtype, spelling, literal)[0]

    all_nan = ", propagate_nan=tl.PropagateNan.ALL"
    assert written("maximum", u8, "5") == "tl.maximum(a, tl.full([], 5, tl.uint8))"
    assert written("maximum", i64, "5") == "tl.maximum(a, 5)"
    assert written("maximum", f32, "0.0") == f"tl.maximum(a, 0.0{all_nan})"
    assert written("maximum", f32, "1e-40") == f"tl.maximum(a, tl.full([], 1e-40, tl.float32){all_nan})"
    assert written("maximum", f16, '-float("inf")'.replace('-float("', 'float("-')) == (
        f'tl.maximum(a, tl.full([], float("-inf"), tl.float16){all_nan})'
    )
    assert written("pow", f64, "0.1") == "libdevice.pow(a, tl.full([], 0.1, tl.float64))"
    assert written("pow", f16, "0.5") == "libdevice.pow(a.to(tl.float32), 0.5).to(tl.float16)"
    assert written("mul", f16, "0.5") == "a * 0.5"
    assert written("mul", f8e5m2, "0.5") == "to_float8e5(a.to(tl.float32) * 0.5)"
    assert written("add", f8e4m3fn, "0.94") == "(a.to(tl.float32) + 0.9375).to(tl.float8e4nv)"
    assert written("lt", f8e5m2, "0.9") == "a.to(tl.float32) < 0.875"
    assert written("fmod", bf16, "0.1") == "libdevice.fmod(a.to(tl.float32), 0.100097656).to(tl.bfloat16)"
    assert written("lt", bf16, "0.1") == "a < tl.full([], 0.1, tl.bfloat16)"
    assert written("eq", f64, "0.1") == "a == tl.full([], 0.1, tl.float64)"
    assert written("eq", f64, "0.5") == "a == 0.5"
    assert written("le", f32, "0.1") == "a <= 0.1"
    assert written("le", f32, "1e-40") == "a <= tl.full([], 1e-40, tl.float32)"
    assert written("select", f8e5m2, "0.5") == "tl.where(p, b, to_float8e5(tl.full([], 0.5, tl.float32)))"


def test_what_is_used_is_defined() -> None:
    spelling = Spelling(90)
    assert (spelling.imports(), spelling.helpers()) == ([], [])
    spelled(OPERATORS["add"], f32, spelling)
    assert (spelling.imports(), spelling.helpers()) == ([], [])
    spelled(OPERATORS["sigmoid"], f32, spelling)
    spelled(OPERATORS["floordiv"], i32, spelling)
    assert spelling.imports() == ["from triton.language.extra import libdevice"]
    assert [lines[1] for lines in spelling.helpers()] == ["def floor_div(a, b):", "def sigmoid(x):"]
    spelled(OPERATORS["exp"], f32, other := Spelling(90))
    assert (len(other.imports()), other.helpers()) == (1, [])


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> tuple[Spelled, int]:
    """An integer expression as it is spelled, and its value in Python."""
    if depth == 0 or draw(st.booleans()):
        value = draw(st.integers(0, 9))
        return (str(value), ATOM), value
    name = draw(st.sampled_from(["add", "sub", "mul", "bit_and", "bit_or", "bit_xor", "shl", "neg", "bit_not"]))
    op = OPERATORS[name]
    parts = [draw(expressions(depth=depth - 1)) for _ in range(op.arity)]
    values = [v for _, v in parts]
    if name == "shl":
        parts[1], values[1] = (("3", ATOM), 3), 3
    value = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "bit_and": lambda a, b: a & b,
        "bit_or": lambda a, b: a | b, "bit_xor": lambda a, b: a ^ b, "shl": lambda a, b: a << b, "neg": lambda a: -a,
        "bit_not": lambda a: ~a,
    }[name](*values)  # fmt: skip
    return Spelling().operator(op, i64, [p for p, _ in parts]), value


@given(expressions())
def test_parentheses_keep_the_meaning(case: tuple[Spelled, int]) -> None:
    (text, _), value = case
    assert eval(text) == value


def test_comparisons_do_not_chain() -> None:
    spelling = Spelling()
    less = spelling.operator(OPERATORS["lt"], i32, [("a", ATOM), ("b", ATOM)])
    assert spelling.operator(OPERATORS["eq"], bool_, [less, ("p", ATOM)])[0] == "(a < b) == p"
    both = spelling.operator(OPERATORS["and"], bool_, [less, less, ("p", ATOM)])
    assert both[0] == "(a < b) & (a < b) & p"
    assert spelling.operator(OPERATORS["not"], bool_, [both])[0] == "~((a < b) & (a < b) & p)"


def test_conversions_read_well() -> None:
    spelling = Spelling(90)

    def written(source: DType, dtype: DType, mode: str = "wrap") -> str:
        return spelling.conversion(("a + b", table.SUM), source, dtype, mode=mode)[0]

    assert written(f32, f16) == "(a + b).to(tl.float16)"
    assert written(f32, f32) == "a + b"
    assert written(f8e5m2, bf16) == "(a + b).to(tl.float32).to(tl.bfloat16)"
    assert written(f32, f8e5m2) == "to_float8e5(a + b)"
    assert written(f32, f8e4m3fn, "saturate") == "(a + b).to(tl.float8e4nv)"
    assert written(f64, f8e4m3fn) == "round_to_odd(a + b).to(tl.float8e4nv)"
    assert written(f32, i8, "saturate") == "saturate(a + b, tl.int8, -128, 127)"
    assert written(i32, u8, "saturate") == "tl.minimum(tl.maximum(a + b, 0), 255).to(tl.uint8)"
    assert written(u16, i32, "saturate") == "(a + b).to(tl.int32)"
    assert written(f32, i32, "bits") == "(a + b).to(tl.int32, bitcast=True)"
    assert not set(SUPPORT) & set(TYPES)
    assert written(i8, i8) == "a + b"
