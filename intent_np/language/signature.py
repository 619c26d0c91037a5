"""Signatures: parameters as declared, and the extents and strides that their names stand for."""

from __future__ import annotations

import ast
import enum
import keyword
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from intent_np.errors import Errors, Span, article, error
from intent_np.parsing import parse
from intent_np.rules.simplify import simplify
from intent_np.terms.dtypes import DType
from intent_np.terms.index import Extent, Stride, Value, apply, const

from .advice import instead
from .annotations import Alternatives, ConstexprAnnotation, Constraints, ViewAnnotation
from .declare import Intrinsic
from .source import Source


@dataclass(frozen=True)
class ViewParameter:
    """A parameter in memory: `I.In`, `I.Out` or `I.InOut`.  `shape` holds ints and strings, as written."""

    name: str
    mode: str
    dtype: DType
    shape: tuple[int | str, ...]
    constraints: Constraints
    kind: ClassVar[str] = "view"


@dataclass(frozen=True)
class Scalar:
    """A runtime scalar, passed by value."""

    name: str
    dtype: DType
    kind: ClassVar[str] = "scalar"


@dataclass(frozen=True)
class Constexpr:
    """A parameter that specialises the program: an int, float, bool or enum."""

    name: str
    type: Any
    default: Any
    kind: ClassVar[str] = "constexpr"
    REQUIRED: ClassVar[object] = object()

    def accepts(self, v: Any) -> bool:
        """Whether `v` is of the annotated type; a bool is no int, an int is a float."""
        if self.type is float:
            return isinstance(v, int | float) and not isinstance(v, bool)
        return isinstance(v, self.type) and (self.type is bool or not isinstance(v, bool))


Parameter = ViewParameter | Scalar | Constexpr


def parameters(function: types.FunctionType, source: Source) -> tuple[Parameter, ...]:
    """The parameters of a kernel, or everything that is wrong with them."""
    errors, made = Errors(), []
    args = source.tree.args
    for stars, extra in (("*", args.vararg), ("**", args.kwarg)):
        if extra is not None:
            errors.add(
                "E102",
                source.span(extra),
                construct=f"{stars}{extra.arg} in the signature of a kernel",
                suggestion="name each parameter",
            )
    defaults = _defaults(function)
    for a in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        span = source.span(a)
        if a.arg not in function.__annotations__:
            errors.add("E103", span, name=a.arg)
            continue
        try:
            annotation = _resolved(function, function.__annotations__[a.arg])
            made.append(_parameter(a.arg, annotation, defaults.get(a.arg, Constexpr.REQUIRED), span))
        except Exception as problem:
            from intent_np.errors import IntentError

            for one in getattr(problem, "errors", ()):
                if one.span is not None and one.span.file == "<string>":  # an annotation that was kept as text
                    one.span = source.span(a.annotation or a)
            unknown = isinstance(problem, NameError)
            fix = (
                "names in annotations that are kept as text are those of the module: import it there" if unknown else ""
            )
            wrong = error("E104", span, name=a.arg, found=f"{type(problem).__name__}: {problem}", fix=fix)
            errors.add(problem if isinstance(problem, IntentError) else wrong)
    if source.tree.returns is not None and function.__annotations__.get("return") not in (None, "None"):
        errors.add("E108", source.span(source.tree.returns), name=function.__name__, found="a return annotation")
    _names_apart(made, source, errors)
    errors.raise_if_any()
    return tuple(made)


def _names_apart(made: list[Parameter], source: Source, errors: Errors) -> None:
    """E104 for an extent under the name of a parameter that is no constexpr: it would not be that parameter's value."""
    names = {p.name for p in made if not isinstance(p, Constexpr)}
    nodes = {a.arg: a for a in (*source.tree.args.posonlyargs, *source.tree.args.args, *source.tree.args.kwonlyargs)}
    for p in made:
        for e in p.shape if isinstance(p, ViewParameter) else ():
            for n in names & _names(e):
                errors.add(
                    "E104",
                    source.span(nodes[p.name]),
                    name=p.name,
                    expected="extents under names of their own, or names of I.Constexpr[int] parameters",
                    found=f"the extent {e!r}, and a parameter '{n}', whose value it is not",
                    fix=f"rename the extent, or make {n} an I.Constexpr[int]",
                )


def _names(extent: int | str) -> set[str]:
    return (
        {n.id for n in ast.walk(parse(extent, "eval")) if isinstance(n, ast.Name)} if isinstance(extent, str) else set()
    )


def _defaults(function: types.FunctionType) -> dict[str, Any]:
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    values = function.__defaults__ or ()
    return dict(zip(positional[len(positional) - len(values) :], values, strict=True)) | (function.__kwdefaults__ or {})


def _resolved(function: types.FunctionType, annotation: Any) -> Any:
    """An annotation, evaluated where `from __future__ import annotations` left it as text."""
    if not isinstance(annotation, str):
        return annotation
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return eval(annotation, function.__globals__, {n: c.cell_contents for n, c in cells})


def _parameter(name: str, annotation: Any, default: Any, span: Span) -> Parameter:
    match annotation:
        case ViewAnnotation(mode, items):
            _no_default(name, default, span)
            return _view(name, mode, items, span)
        case ConstexprAnnotation(kind):
            if kind not in (int, float, bool) and not (isinstance(kind, type) and issubclass(kind, enum.Enum)):
                kinds = "I.Constexpr of int, float, bool or an I.Enum"
                fix = "write I.Constexpr[int], float, bool, or a class that is derived from I.Enum"
                raise error("E104", span, name=name, expected=kinds, found=_shown(kind), fix=fix)
            return Constexpr(name, kind, default)
        case DType():
            _no_default(name, default, span)
            return Scalar(name, annotation)
    fix = ""
    if annotation in (int, float, bool):
        dtypes = {int: "I.i32", float: "I.f32", bool: "I.bool"}
        own = annotation.__name__
        fix = (
            f"write a dtype, {name}: {dtypes[annotation]}, or {name}: I.Constexpr[{own}] for a constant of the program"
        )
    elif isinstance(annotation, type):
        fix = instead(annotation.__name__)
    elif isinstance(annotation, Alternatives):
        fix = "annotate one view; a kernel without it is another kernel, and what both do is a helper"
    elif repr(annotation) in ("I.In", "I.Out", "I.InOut"):
        fix = f'say its dtype and its shape: {name}: {annotation!r}[I.f32, ("N",)]'
    elif repr(annotation) == "I.Constexpr":
        fix = f"say its type: {name}: I.Constexpr[int]"
    raise error("E104", span, name=name, found=_shown(annotation), fix=fix)


def _shown(v: Any) -> str:
    if isinstance(v, Intrinsic):
        return f"the operation I.{v.name}"
    if isinstance(v, type):
        return f"the Python type {v.__name__}"
    return article(type(v).__name__) if " at 0x" in repr(v) else repr(v)


def _no_default(name: str, default: Any, span: Span) -> None:
    if default is not Constexpr.REQUIRED:
        raise error(
            "E104",
            span,
            name=name,
            expected="defaults on I.Constexpr parameters only",
            found=f"a default of {default!r}",
            fix="drop the default, or make it an I.Constexpr",
        )


def _view(name: str, mode: str, items: tuple[Any, ...], span: Span) -> ViewParameter:
    word = {"in": "In", "out": "Out", "inout": "InOut"}[mode]
    if len(items) not in (2, 3) or not isinstance(items[0], DType) or not isinstance(items[1], tuple):
        fix = ""
        if len(items) > 1 and isinstance(items[0], DType):
            parts = items[1] if isinstance(items[1], list) else [items[1]]
            parts = parts if all(isinstance(p, int | str) for p in parts) else ["N"]
            fix = f"a shape is a tuple: I.{word}[I.{items[0]}, ({', '.join(map(repr, parts))},)]"
        elif len(items) > 1 and isinstance(items[1], DType):
            fix = "name the dtype first, then the shape"
        elif len(items) > 1:
            fix = f"name the dtype as one of I: {instead(str(items[0])) or 'I.f32'}"
        raise error(
            "E104",
            span,
            name=name,
            expected=f'I.{word}[dtype, shape], for example I.{word}[I.f32, ("N",)]',
            found=f"I.{word}[{', '.join(map(_shown, items))}]",
            fix=fix,
        )
    promises = items[2] if len(items) == 3 else Constraints()
    if not isinstance(promises, Constraints):
        fix = "write I.constraints(strides=, alias=, noalias=, finite=)"
        raise error(
            "E104", span, name=name, expected="I.constraints(...) as the third item", found=repr(promises), fix=fix
        )
    _promised(name, items[0], len(items[1]), promises, span)
    for e in items[1]:
        if isinstance(e, str):
            _expression(name, e, span)
        elif not isinstance(e, int) or isinstance(e, bool) or not 0 <= e < 2**63:
            raise error(
                "E104",
                span,
                name=name,
                expected="extents that are ints of 0 or more and below 2**63, names, or arithmetic over names",
                found=_shown(e),
                fix="correct the extent",
            )
    return ViewParameter(name, mode, items[0], items[1], promises)


def _promised(name: str, dtype: DType, rank: int, promises: Constraints, span: Span) -> None:
    """E104 for a promise that says nothing of such a view."""

    def wrong(expected: str, found: Any) -> Exception:
        fix = f"correct the promise: {expected}"
        return error("E104", span, name=name, expected=expected, found=str(found), fix=fix)

    strides, alias = promises.strides, promises.alias
    if alias is not None and promises.noalias:
        raise wrong("alias= or noalias=, not both", "both: they exclude each other")
    if alias is not None and not (isinstance(alias, str) and alias):
        raise wrong("the name of a group as alias=", repr(alias))
    for word in ("noalias", "finite"):
        if not isinstance(getattr(promises, word), bool):
            raise wrong(f"{word}=True or {word}=False", repr(getattr(promises, word)))
    if promises.finite and not dtype.is_float:
        raise wrong("finite=True on a view of floats", f"a view of {dtype}, which has neither NaN nor infinity")
    if strides is None:
        return
    if not isinstance(strides, tuple) or len(strides) != rank:
        raise wrong(f"{rank} strides, one an axis", len(strides) if isinstance(strides, tuple) else repr(strides))
    for e in strides:
        number = isinstance(e, int) and not isinstance(e, bool) and -(2**63) <= e < 2**63
        if e is not None and not number and not (isinstance(e, str) and e.isidentifier()):
            raise wrong("strides that are ints (in elements), names, or None", repr(e))


# ---- extents -----------------------------------------------------------------------------------------------------

_OPERATORS: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
}
_FUNCTIONS = {"cdiv": "ceil_div", "ceil_div": "ceil_div", "min": "minimum", "max": "maximum"}


def _expression(name: str, text: str, span: Span | None) -> ast.expr:
    """The syntax tree of an extent, if it is integer arithmetic over names."""
    try:
        tree: ast.expr = parse(text, "eval").body
        _build(tree, lambda n: Extent(n))
    except (SyntaxError, ValueError, ArithmeticError) as problem:
        words = keyword.kwlist
        word = next((w for w in text.replace("(", " ").split() if w in words), "")
        fix = "write a name or arithmetic over names, such as N or 2 * N"
        if word:
            fix = f"rename it: {word} is a keyword of Python"
        elif isinstance(problem, ZeroDivisionError | OverflowError):
            fix = "write an extent that has a value"
        elif "/" in text.replace("//", "") or "(" in text:
            fix = "write // for the quotient rounded down, cdiv(a, b) for the one rounded up"
        raise error(
            "E104",
            span,
            name=name,
            expected="extents of integers, names, + - * // %, cdiv, min and max",
            found=repr(text),
            fix=fix,
        ) from None
    return tree


def _build(node: ast.expr, meaning: Callable[[str], Value]) -> Value:
    match node:
        case ast.Constant(value=int(v)) if not isinstance(v, bool):
            return const(v)
        case ast.Name(id=n):
            return meaning(n)
        case ast.BinOp(left=l, op=op, right=r) if type(op) in _OPERATORS:
            made = _build(l, meaning), _build(r, meaning)
            if isinstance(op, ast.FloorDiv | ast.Mod) and getattr(made[1], "value", 1) == 0:
                raise ZeroDivisionError
            return apply(_OPERATORS[type(op)], *made)
        case ast.Call(func=ast.Name(id=n), args=[l, r], keywords=[]) if n in _FUNCTIONS:
            return apply(_FUNCTIONS[n], _build(l, meaning), _build(r, meaning))
    raise ValueError(ast.unparse(node))


def ceil_div(a: int, b: int) -> int:
    """The quotient rounded up."""
    return -(-a // b)


_SMALLER = "choose a smaller one: extents are integers of 64 bits"


def shape_terms(p: ViewParameter, bound: Mapping[str, Any], span: Span | None = None) -> tuple[Value, ...]:
    """The extents of a view in normal form; a name of a constexpr is its value."""

    def meaning(n: str) -> Value:
        if n not in bound:
            return Extent(n)
        v = bound[n]
        if not isinstance(v, int) or isinstance(v, bool | enum.Enum):
            fix = f"annotate it I.Constexpr[int], or give the extent of {p.name} another name"
            raise error("E111", span, name=n, expected="an int, since it is an extent", found=repr(v), fix=fix)
        if abs(v) >= 2**63:
            raise error("E104", span, name=p.name, expected="extents below 2**63", found=f"{n} = {v}", fix=_SMALLER)
        return const(v)

    made = []
    for e in p.shape:
        if isinstance(e, int):
            made.append(const(e))
            continue
        tree = _expression(p.name, e, span)
        extent = simplify(_build(tree, meaning))
        exact = _exactly(tree, bound)
        if exact is not None and not 0 <= exact < 2**63:
            fix = "choose constexprs that leave the extents 0 or more" if exact < 0 else _SMALLER
            wanted, found = "extents of 0 or more and below 2**63", f"{e} = {exact}"
            raise error("E104", span, name=p.name, expected=wanted, found=found, fix=fix)
        made.append(extent)
    return tuple(made)


def _exactly(tree: ast.expr, bound: Mapping[str, Any]) -> int | None:
    """The value of an extent whose names are all constexprs, however large; None where there is none yet."""
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - _FUNCTIONS.keys()
    if not names <= bound.keys():
        return None
    functions = {"cdiv": ceil_div, "ceil_div": ceil_div, "min": min, "max": max}
    try:
        return int(
            eval(compile(ast.Expression(tree), "<extent>", "eval"), {**functions, **{n: bound[n] for n in names}})
        )
    except ZeroDivisionError:
        return None


def stride_terms(p: ViewParameter, bound: Mapping[str, Any], shared: dict[str, Value]) -> tuple[Value, ...]:
    """Strides in elements: promised ones as they are, equal names as one term, others free."""
    promised = p.constraints.strides or (None,) * len(p.shape)
    made: list[Value] = []
    for i, s in enumerate(promised):
        if isinstance(s, str) and s in bound:
            s = bound[s]
        if isinstance(s, int):
            made.append(const(s))
        elif isinstance(s, str):
            made.append(shared.setdefault(s, Stride(p.name, i)))
        else:
            made.append(Stride(p.name, i))
    return tuple(made)
