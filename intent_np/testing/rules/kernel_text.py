"""A counterexample as a Python program: a kernel that writes both sides, and a call of it at the values found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...rules.pattern import Expr, Rule
from ...terms.operators import OPERATORS
from .instances import literal_only, metavariables

_WORDS = {"and": "and", "or": "or", "not": "not", "neg": "-", "bit_not": "~"}
_INFIX = {"bit_and": "&", "bit_or": "|", "bit_xor": "^"}


def kernel_text(
    r: Rule, dtype: str, values: Mapping[str, Any], elements: Mapping[str, str] | None = None, result: str = ""
) -> str:
    """Python source that prints the two sides of a rule at `values`, executed by the reference.

    `dtype` is that of all metavariables but predicates.  Literals stand in the kernel, all else is read.  A rule about
    types says in `elements` what its metavariables stand for, and its `result`.
    """
    variables = metavariables(r.left)
    read = [n for n, v in variables.items() if v.head == "var"]
    types = {n: "bool" if variables[n].args[1] == "b" else dtype for n in read} | {
        n: t for n, t in (elements or {}).items() if n in read
    }
    values = {**values, **{n: t for n, t in (elements or {}).items() if n not in read}}
    result = result or ("bool" if _is_bool(r.left, types) else dtype)
    parameters = [f"{n}: I.In[I.{t}, (1,)]" for n, t in types.items()]
    parameters += [f"{side}: I.Out[I.{result}, (1,)]" for side in ("before", "after")]
    arrays = [f"np.array([{_number(values.get(n, 0))}], {_numpy(t)})" for n, t in types.items()]
    name = "rule_" + r.name.replace("-", "_")
    return "\n".join([
        "import ml_dtypes",
        "import numpy as np",
        "",
        "import intent_np as intent",
        "import intent_np.language as I",
        "",
        "",
        "@intent.kernel",
        f"def {name}({', '.join(parameters)}):",
        f"    before[0] = {spelled(r.left, values)}",
        f"    after[0] = {spelled(r.right, values)}",
        "",
        "",
        f"before, after = np.zeros(1, {_numpy(result)}), np.zeros(1, {_numpy(result)})",
        f'intent.compile({name}, target="reference")({", ".join([*arrays, "before", "after"])})',
        "print(before[0], after[0])",
        "",
    ])  # fmt: skip


def _is_bool(e: Expr, types: Mapping[str, str]) -> bool:
    if e.head == "var":
        return types[e.args[0]] == "bool"
    if e.head == "const":
        return isinstance(e.args[0], bool)
    if e.head == "select":
        return all(_is_bool(a, types) for a in e.args[1:])
    if e.head == "literal":
        return False
    op = OPERATORS[e.head]
    return op.result == "bool" or any(_is_bool(a, types) for a in e.args)


def spelled(e: Expr, values: Mapping[str, Any], read: str = "{}[0]") -> str:
    """A side of a rule as Python; `read` says how a metavariable is."""
    if e.head == "var":
        return read.format(e.args[0])
    if e.head == "literal" or (e.head not in ("const",) and literal_only(e)):
        return f"({_computed(e, values)})"
    if e.head == "const":
        return _number(e.args[0])
    if e.head == "cast":
        value, to, mode = e.args
        name = {"wrap": "cast", "saturate": "saturate_cast", "bits": "bitcast"}[mode]
        return f"I.{name}({spelled(value, values, read)}, I.{values.get(to.args[0], to.args[0])})"
    args = [spelled(a, values, read) for a in e.args]
    word = _WORDS.get(e.head)
    if word and len(args) == 1:
        return f"({word} {args[0]})"
    symbol = word or _INFIX.get(e.head) or (OPERATORS[e.head].infix if OPERATORS[e.head].arity == 2 else "")
    if symbol:
        return f"({f' {symbol} '.join(args)})"
    return f"I.{e.head}({', '.join(args)})"


def _computed(e: Expr, values: Mapping[str, Any]) -> int:
    """A constant that the rule computes from literals."""
    if e.head == "literal":
        return int(values[e.args[0]])
    if e.head == "const":
        return int(e.args[0])
    a, *b = (_computed(x, values) for x in e.args)
    match e.head:
        case "add":
            return a + b[0]
        case "sub":
            return a - b[0]
        case "mul":
            return a * b[0]
        case "floordiv":
            return a // b[0]
        case "mod":
            return a % b[0]
        case "neg":
            return -a
        case "bit_and":
            return a & b[0]
        case "bit_or":
            return a | b[0]
        case "bit_xor":
            return a ^ b[0]
    raise TypeError(f"{e.head} of literals")


def _number(v: Any) -> str:
    if isinstance(v, float) and not math.isfinite(v):
        text = "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"
        return f'float("{text}")'
    return repr(v)


def _numpy(dtype: str) -> str:
    special = {"bf16": "ml_dtypes.bfloat16", "f8e5m2": "ml_dtypes.float8_e5m2", "f8e4m3fn": "ml_dtypes.float8_e4m3fn"}
    if dtype in special:
        return special[dtype]
    kinds = {"f": "float", "i": "int", "u": "uint"}
    return "np.bool_" if dtype == "bool" else "np.int64" if dtype == "index" else f"np.{kinds[dtype[0]]}{dtype[1:]}"
