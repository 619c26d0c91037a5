"""Operators on captured values: literals take the dtype that their use expects, shapes broadcast, dtypes agree.

A captured value is a term (`Value`) or, where nothing decided its dtype yet, a Python number: a literal.
"""

from __future__ import annotations

import enum
import inspect
import math
import types
from collections.abc import Sequence
from typing import Any

from intent_np.terms.core import arena
from intent_np.terms.dtypes import DType, bool_, f64, i64, index, u64
from intent_np.terms.index import Apply, Cast, Const, Value, apply, const
from intent_np.terms.logical import Convert, Domain, Formal, Pointwise, Read, TensorType, broadcast, element, shape_of
from intent_np.terms.normal import Memory
from intent_np.terms.operators import OPERATORS, Op

from .context import capture, fail
from .declare import Intrinsic
from .products import Record

Operand = Any  # a Value or a literal


def is_literal(v: Any) -> bool:
    """Whether it is a Python number, which has no dtype yet."""
    return isinstance(v, bool | int | float)


def number(v: Any) -> str:
    """A Python number as an error shows it: not all digits of one that has hundreds."""
    if isinstance(v, int) and abs(v) >= 10**40:
        return f"{'-' if v < 0 else ''}2**{abs(v).bit_length() - 1} or more"
    return repr(v)


def is_tensor(v: Any) -> bool:
    """Whether it is a tensor value, of any rank."""
    return isinstance(v, Value) and isinstance(v.type, TensorType)


def show(v: Any) -> str:
    """A type or a value as an error names it."""
    if isinstance(v, Value):
        t = v.type
        return f"{t.dtype}{shape_text(t.shape)}" if isinstance(t, TensorType) else str(t)
    return repr(v)


def shape_text(shape: Sequence[Any]) -> str:
    """`(M, N)`: extents by the names that they have in the source."""
    parts = [extent_text(e) for e in shape]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def extent_text(e: Any) -> str:
    """An index expression as an author would write it."""
    return _spelled(e)[0]


def _spelled(v: Any) -> tuple[str, int]:
    """The text of a value, and how tightly it binds."""
    if not isinstance(v, Value):
        return repr(v), 9
    if isinstance(v, Const):
        return str(v.value), 9
    name = arena().names.get(v) or getattr(v, "name", None)
    if isinstance(v, Formal) and name and "." in name:  # of a function of slices, by the name of its parameter
        label = name.rpartition(".")[2]
        return "slice" if label.startswith("extent") else label, 9
    if name and not isinstance(v, Apply):
        return name, 9
    if isinstance(v, Cast):
        narrow = v.value.type is index and v.dtype is not index  # it may wrap
        return (f"I.cast({_spelled(v.value)[0]}, I.{v.dtype})", 9) if narrow else _spelled(v.value)
    if isinstance(v, Read):
        return f"{v.view.name}[...]", 9
    if not isinstance(v, Apply):
        return "a value", 9
    level = v.op.level
    if not v.op.infix and not v.op.written.startswith("I."):
        text, inner = _spelled(v.args[0])
        return v.op.written + (text if inner > 6 else f"({text})"), 7
    if not v.op.infix:
        return f"{v.op.written}({', '.join(_spelled(a)[0] for a in v.args)})", 9
    parts = []
    for i, a in enumerate(v.args):
        text, inner = _spelled(a)
        parts.append(f"({text})" if inner < level + (i > 0) else text)
    return f" {v.op.written} ".join(parts), level


def literal(v: bool | int | float, d: DType) -> Const:
    """A literal as a constant of dtype `d`; E203 when `d` does not represent it."""
    from intent_np.numerics import fits

    wrote = v
    if isinstance(v, int) and not isinstance(v, bool) and d.is_float and abs(v) < 2**1023:
        v = float(v)
    if not fits(v, d) or (isinstance(v, float) and math.isinf(v) and not _has_infinity(d)):
        hint = ""
        if d is bool_:
            hint = "write True or False; for arithmetic, I.cast the bool to an integer dtype"
        elif d is index and _integral(v):
            hint = f"write {int(v)}: coordinates are integers"
        elif _integral(v) and d.is_integer:
            hint = f"cast the other side to a float dtype, or write {int(v)}"
        elif isinstance(v, bool):
            hint = f"write {float(v) if d.is_float else int(v)}"
        elif d.bits == 64:
            hint = "use a literal in range: no dtype is wider"
        shown = number(wrote)
        raise fail("E203", value=shown, dtype=d, found=f"the {_kind(wrote)} literal {shown}", fix=hint)
    return const(v, d)


def _in_range(v: int, d: DType) -> bool:
    least, most = d.range
    return least <= v <= most


def _has_infinity(d: DType) -> bool:
    return d.is_float and d.name != "f8e4m3fn"


def _integral(v: Any) -> bool:
    return isinstance(v, float) and math.isfinite(v)


def _kind(v: Any) -> str:
    return {bool: "bool", int: "integer", float: "float"}[type(v)]


def is_open(v: Any) -> bool:
    """Whether the dtype is still to be decided by a use: of a literal, or of a choice between literals."""
    return is_literal(v) or isinstance(v, Value) and v in capture().choices


def value(v: Operand, d: DType | None = None) -> Value:
    """`v` as a term; what is open takes `d`, or the dtype of `alone`."""
    if isinstance(v, Value):
        if d is not None and element(v.type) is not d and is_open(v):
            condition, then, otherwise = capture().choices[v]
            return capture().decided(v, select(condition, value(then, d), value(otherwise, d)))  # type: ignore[no-any-return]
        return v
    if is_literal(v):
        return literal(v, d or alone(v))
    raise fail("E121", what=describe(v), fix=_elements(v))


def alone(v: bool | int | float) -> DType:
    """The dtype of a literal that no use decides: bool, i64, f64, and u64 for what it alone represents."""
    if isinstance(v, int) and not isinstance(v, bool):
        return u64 if not _in_range(v, i64) and _in_range(v, u64) else i64
    return bool_ if isinstance(v, bool) else f64


def _elements(v: Any) -> str:
    """How to get from something to its elements."""
    if isinstance(v, Memory):
        return f"read its elements: {called(v)}[{', '.join(':' * len(v.shape)) or '()'}]"  # type: ignore[attr-defined]
    if isinstance(v, Domain):
        return "take its coordinates with I.indices(domain)"
    if isinstance(v, tuple | Record):
        return "take the components apart first: a, b = value; a tensor is assigned element by element, y[0] = a"
    if v is None:
        return "return a value from the helper that is called here; None stands in subscripts alone"
    if isinstance(v, enum.Enum):
        return "compare it: mode == Mode.PLAIN"
    if isinstance(v, DType):
        return f"write a number, or I.cast(value, I.{v})"
    if isinstance(v, Intrinsic):
        return f"call it: {v.usage}"
    return ""


def called(v: Memory) -> str:
    """What the author calls a view or a buffer."""
    return arena().names.get(v) or v.name  # type: ignore[attr-defined, no-any-return]


def describe(v: Any) -> str:
    """What a captured thing is, in a word or two."""
    if isinstance(v, Memory):
        return f"the {'buffer' if v.mode == 'buffer' else 'view'} {called(v)}"  # type: ignore[attr-defined]
    if isinstance(v, Domain):
        return "a domain"
    if isinstance(v, Value):
        return show(v)
    if isinstance(v, tuple):
        return f"a tuple of {len(v)}"
    if isinstance(v, Record):
        return f"a record of {', '.join(v.names)}"
    if isinstance(v, enum.Enum):
        return f"{type(v).__name__}.{v.name}"
    if isinstance(v, DType):
        return f"the dtype {v}"
    if isinstance(v, Intrinsic):
        return f"the operation I.{v.name}"
    if isinstance(v, type):
        return f"the Python type {v.__name__}"
    if getattr(v, "is_helper", None) is not None:
        return f"the {'helper' if v.is_helper else 'kernel'} {v.name}"
    if isinstance(v, str):
        return f"the text {v!r}"
    if isinstance(v, types.ModuleType):
        return f"the module {v.__name__}"
    if inspect.isroutine(v):
        return f"the Python function {v.__name__}"
    return number(v) if v is None or v is Ellipsis or is_literal(v) else getattr(v, "about", f"a {type(v).__name__}")


def index_value(v: Operand) -> Value:
    """A scalar of any integer dtype, or an integer literal, as an index."""
    if is_literal(v) and not isinstance(v, int):
        hint = f"write {int(v)}: coordinates are integers" if _integral(v) else ""
        raise fail("E203", value=repr(v), dtype=index, found=f"the {_kind(v)} literal {v!r}", fix=hint)
    made = value(v, index)
    if is_tensor(made) or not isinstance(made.type, DType) or not made.type.is_integer:
        fix = "take its element: value[()]" if is_tensor(made) and not shape_of(made) else ""
        found, wanted = show(made), "an integer scalar"
        raise fail("E202", operation="an index", dtype=found, expected=wanted, found=found, fix=fix)
    return made if made.type is index else Cast(made, index)


def unify(operator: str, operands: Sequence[Operand]) -> tuple[Value, ...]:
    """Operands of one dtype: what is open takes it, other differences are errors."""
    plain = [alone(v) if is_literal(v) else element(value(v).type) for v in operands]
    dtypes = [d for d, v in zip(plain, operands, strict=True) if not is_open(v)]
    if not dtypes:
        dtypes = [next((d for d in (f64, u64, i64) if d in plain), plain[0])]
    for d in dtypes[1:]:
        if d is not dtypes[0]:
            named = ", ".join(show(v) for v in operands)
            raise fail("E201", operator=operator, left=dtypes[0], right=d, found=named, fix=_cast_one(dtypes[0], d))
    return tuple(value(v, dtypes[0]) for v in operands)


def _cast_one(a: DType, b: DType) -> str:
    """Which of two dtypes to cast where one is an index, whose cast to an integer may wrap and proves nothing."""
    other = b if a is index else a
    if index not in (a, b):
        return ""
    if other.is_integer:
        return f"cast the {other} to index: I.cast(value, I.index)"
    return f"cast the index: I.cast(value, I.{other})"


def pointwise(name: str, *operands: Operand, spelled: str = "") -> Value:
    """Operator `name` on operands of one dtype, broadcast."""
    return _made(OPERATORS[name], unify(spelled or OPERATORS[name].infix or f"I.{name}", operands), spelled)


def select(condition: Operand, then: Operand, otherwise: Operand) -> Value:
    """`then` where the condition holds; the condition is bool, the other two have one dtype."""
    condition = value(condition, bool_)
    if element(condition.type) is not bool_:
        raise fail(
            "E202",
            operation="a condition",
            dtype=show(condition),
            expected="bool",
            found=show(condition),
            fix="compare it, for example value != 0",
        )
    made = _made(OPERATORS["select"], (condition, *unify("I.select", (then, otherwise))), "I.select")
    if is_open(then) and is_open(otherwise):
        capture().choices[made] = (condition, then, otherwise)
    return made


def _made(op: Op, args: tuple[Value, ...], spelled: str) -> Value:
    d = element(args[-1].type)
    if not isinstance(d, DType) or not op.accepts(d):
        raise fail(
            "E202", operation=spelled or op.infix or f"I.{op.name}", dtype=d, found=show(args[-1]), fix=_instead(op, d)
        )
    if not any(is_tensor(a) for a in args):
        return apply(op, *args)
    fit(args, spelled or op.infix or f"I.{op.name}")
    return Pointwise(op, args)


def _instead(op: Op, d: Any) -> str:
    if not isinstance(d, DType):
        return "take the components apart first"
    if op.name == "div" and d.is_integer:
        return "use // for the floor quotient, or cast both sides to a float dtype"
    if op.name in ("floordiv", "mod") and d.is_float:
        return "use I.floor(a / b), or I.fmod(a, b) for the remainder with the dividend's sign"
    if op.name in ("and", "or", "not") and d is not bool_:
        return "compare first (value != 0), or use & | ~ for bits"
    if d is bool_:
        return "cast the operand, for example I.cast(value, I.i32)"
    return f"cast the operand, for example I.cast(value, I.{'i32' if d.is_float else 'f32'})"


def fit(args: Sequence[Value], operation: str) -> tuple[Value, ...]:
    """The broadcast shape of the operands, or E204."""
    shapes = tuple(shape_of(a) for a in args)
    try:
        return broadcast(shapes)
    except TypeError:
        ranked = [s for s in shapes if s]
        left, right = next((a, b) for a in ranked for b in ranked if not _fits(a, b))
        raise fail(
            "E204",
            left=shape_text(left),
            right=shape_text(right),
            found=f"{operation} of {shape_text(left)} and {shape_text(right)}",
            fix=_aligned(left, right),
        ) from None


def _aligned(a: Sequence[Value], b: Sequence[Value]) -> str:
    """How to make two shapes broadcast, where that can be seen."""
    if all(isinstance(e, Const) for e in (*a, *b)):
        return "give both the same extents, or cut one with a slice"
    if len(a) == len(b) > 1 and tuple(a) == tuple(reversed(b)):
        return "transpose one of them: I.transpose(value)"
    long, short = (a, b) if len(a) > len(b) else (b, a)
    if len(short) < len(long) and tuple(long[: len(short)]) == tuple(short):
        entries = ", ".join([":"] * len(short) + ["None"] * (len(long) - len(short)))
        return f"insert the axis that is missing: value[{entries}], or keepdims=True where a reduction took it away"
    return ""


def _fits(a: tuple[Value, ...], b: tuple[Value, ...]) -> bool:
    try:
        broadcast((a, b))
    except TypeError:
        return False
    return True


def convert(v: Operand, d: Any, mode: str = "wrap") -> Value:
    """`v` in dtype `d`: the value itself where it has it already, a literal rounded once."""
    if not isinstance(d, DType):
        fix, kind = "call it as I.cast(value, dtype), for example I.cast(x[:], I.f32)", "a dtype, for example I.f32"
        raise fail("E202", operation="a cast", dtype=describe(d), expected=kind, found=describe(d), fix=fix)
    if isinstance(v, float) and mode == "wrap" and d.is_integer and not (math.isfinite(v) and _in_range(int(v), d)):
        fix = "use I.saturate_cast, or a literal in range"
        raise fail("E203", value=repr(v), dtype=d, found=f"the float literal {v!r}", fix=fix)
    if is_literal(v) and mode == "wrap" and (not isinstance(v, float) or d.is_float):
        return literal(v, d) if not isinstance(v, bool) else const(int(v), d)
    v = value(v)
    if not isinstance(element(v.type), DType):
        raise fail("E202", operation="a cast", dtype=show(v))
    if element(v.type) is d and not (mode == "saturate" and d.is_float):  # which makes infinities finite
        return v
    return Convert(v, d, mode) if is_tensor(v) else Cast(v, d, mode)
