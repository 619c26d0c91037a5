"""triton terms as Python source that reads like a person's.

Everything has been decided before: this file only knows precedence, literals and where `tl.` goes.  Pointwise
operators are spelled by `spelling.py`, long lines are broken by `layout.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from ...terms import triton as t
from ...terms.core import arena, find
from ...terms.dtypes import bool_, f32, f64
from ...terms.index import Extent, Param, Physical
from ...terms.triton import Expr, Function, Helper
from .conversions import spelled_type
from .layout import STEP, WIDTH, wrap
from .spelling import ATOM, PRODUCT, SUM, TYPES, UNARY, Spelled, Spelling, number
from .support import SUPPORT

NUMBERS: dict[Any, str] = {Extent: "number", Param: "number"}
"""Parameters that stand on one line although they differ in kind."""

UPDATES = {"add": ("+", SUM + 1), "sub": ("-", SUM + 1), "mul": ("*", PRODUCT + 1)}
"""Operators with an augmented assignment, and the level that their right operand needs."""


def print_triton(function: Function, capability: int | None = None) -> str:
    """The module: imports, the helpers that are used, the function.  `capability` is that of what runs it, by default
    of the function's target."""
    return Printer(function, capability).module()


class Printer:
    """Prints one function.  An expression becomes its text and its precedence."""

    def __init__(self, function: Function, capability: int | None = None) -> None:
        """capability: of what runs it, by default that of the function's target, or the least."""
        self.function = function
        known = function.target.capability if function.target is not None else 80
        self.spelling = Spelling(known if capability is None else capability)
        self.spans: dict[int, Any] = {}  # a line's number in the module -> the author's place, once printed

    # ---- the module

    def module(self) -> str:
        body = self.block(self.function.body, STEP) or [(STEP + "pass", self.function)]
        helpers = [self.helper(h) for h in find(self.function, Helper)]
        # what helpers need is known only when they are printed
        parts = [*self.spelling.helpers(), *helpers, ["@triton.jit", *self.header(), *(text for text, _ in body)]]
        head = ["import triton", "import triton.language as tl", *self.spelling.imports()]
        module = "\n".join(head) + "".join("\n\n\n" + "\n".join(p) for p in parts) + "\n"
        above = module.count("\n") - len(body)
        self.spans = {above + i: span for i, (_, s) in enumerate(body, 1) if (span := _span(s)) is not None}
        return module

    def header(self) -> list[str]:
        """The signature, on one line or a line for each run of pointers, numbers, strides and constexprs."""
        f = self.function
        parameters: list[tuple[Any, str]] = [(type(p.source), p.name) for p in f.parameters]
        parameters += [(Physical, f"{p.name}: tl.constexpr") for p in f.constexprs]
        line = f"def {f.name}({', '.join(name for _, name in parameters)}):"
        if len(line) <= WIDTH:
            return [line]
        lines: list[str] = []
        for _, run in groupby(parameters, key=lambda p: NUMBERS.get(p[0], p[0])):
            names = [name for _, name in run]
            text = f"{STEP}{', '.join(names)},"
            lines += [text] if len(text) <= WIDTH else [f"{STEP}{name}," for name in names]
        return [f"def {f.name}(", *lines, "):"]

    def helper(self, h: Helper) -> list[str]:
        head = f"def {h.name}({', '.join(p.name for p in h.parameters)}):"
        return ["@triton.jit", head, *(text for text, _ in self.block(h.body, STEP))]

    # ---- statements

    def block(self, body: Iterable[Any], indent: str) -> list[tuple[str, Any]]:
        """Lines of text, each with the statement that it belongs to."""
        out: list[tuple[str, Any]] = []
        for s in body:
            out += [(line, s) for line in self.statement(s, indent)]
            out += self.block(t.bodies(s), indent + STEP)
        return out

    def statement(self, s: Any, indent: str) -> list[str]:
        """The lines of a statement itself, without those inside it."""
        match s:
            case t.Assign(target, value):
                return wrap(self.assignment(target.name, value), indent)
            case t.Unpack(targets, value):
                return wrap(f"{', '.join(x.name for x in targets)} = {self.text(value)}", indent)
            case t.StoreAt(address, value, mask):
                guard = [] if mask is None else [f"mask={self.text(mask)}"]
                return wrap(f"tl.store({', '.join([self.text(address), self.text(value), *guard])})", indent)
            case t.AtomicAt():
                return wrap(self.atomic(s), indent)
            case t.ForRange(target, lo, hi, step, _, note, stages):
                comment = [f"{indent}# {note}"] if note else []
                one = isinstance(step, t.Number) and step.value == 1
                bounds = ", ".join(self.text(b) for b in ((lo, hi) if one else (lo, hi, step)))
                loop = f"tl.range({bounds}, num_stages={stages})" if stages else f"range({bounds})"
                return [*comment, f"{indent}for {target.name} in {loop}:"]
            case t.WhileHolds(condition, _, note):
                comment = [f"{indent}# {note}"] if note else []
                return [*comment, f"{indent}while {self.text(condition)}:"]
            case t.IfThen(condition):
                return [f"{indent}if {self.text(condition)}:"]
            case t.Barrier():
                return [f"{indent}tl.debug_barrier()"]
            case t.Return(values):
                return wrap(f"return {', '.join(self.text(v) for v in values)}", indent)
        raise TypeError(f"no statement: {type(s).__name__}")

    def atomic(self, s: t.AtomicAt) -> str:
        """The call of an atomic operation, its memory order spelled out: Triton's own default is another one."""
        address = self.text(s.address)
        if s.address.type.dtype is not s.dtype:
            pointer = f"tl.pointer_type({TYPES[s.dtype.name]})"
            address = f"{self.operand(s.address, ATOM)}.to({pointer}, bitcast=True)"
        args = [address, *(self.text(o) for o in s.operands)]
        if s.function == "update_with_at":
            args[2:] = [f"({', '.join(args[2:])}{',' * (len(args) == 3)})"]
        own = s.function in SUPPORT
        if s.mask is not None:
            args.append(self.text(s.mask) if own else f"mask={self.text(s.mask)}")
        args += [s.helper.name] if s.helper is not None else []
        call = f'{"" if own else "tl."}{s.function}({", ".join(args)}, sem="{s.order}")'
        self.spelling.note(call)
        return call if s.target is None else f"{s.target.name} = {call}"

    def assignment(self, name: str, value: Expr) -> str:
        """`x = …`, or `x += …` where that says the same."""
        if isinstance(value, t.Pointwise) and value.op.name in UPDATES and isinstance(value.args[0], t.Name):
            symbol, level = UPDATES[value.op.name]
            text = f"{name} {symbol} {self.operand(value.args[1], level)}"
            if text == self.text(value):
                return f"{name} {symbol}= {self.text(value.args[1])}"
        return f"{name} = {self.text(value)}"

    # ---- expressions

    def text(self, e: Expr) -> str:
        return self.spell(e)[0]

    def operand(self, e: Expr, level: int) -> str:
        text, own = self.spell(e)
        return text if own >= level else f"({text})"

    def spell(self, e: Any) -> Spelled:
        match e:
            case t.Name(name) | t.Parameter(name):
                return name, ATOM
            case t.Size(extent):
                return extent.name, ATOM
            case t.Number(value, dtype):
                text = number(value, dtype)
                return text, UNARY if text.startswith("-") else ATOM
            case t.FullBlock(value, dtype, shape):
                if value == 0 and shape and dtype is not bool_:
                    return f"tl.zeros({spelled_shape(shape)}, {spelled_type(dtype, self.spelling.capability)})", ATOM
                if dtype.is_float and dtype.bits == 8:  # of which Triton makes no constants but zero
                    single = f"tl.full({spelled_shape(shape)}, {number(value, f32)}, {TYPES['f32']})"
                    return self.spelling.conversion((single, ATOM), f32, dtype)
                return f"tl.full({spelled_shape(shape)}, {number(value, dtype)}, {TYPES[dtype.name]})", ATOM
            case t.Arange(extent):
                return f"tl.arange(0, {extent.name})", ATOM
            case t.ProgramId():
                return "tl.program_id(0)", ATOM
            case t.Expand(value, at):
                places = ", ".join("None" if i in at else ":" for i in range(len(e.type.shape)))
                return f"{self.operand(value, ATOM)}[{places}]", ATOM
            case t.Permute(value, order):
                places = "" if order == (1, 0) else "".join(f", {i}" for i in order)
                return f"tl.trans({self.text(value)}{places})", ATOM
            case t.BroadcastTo(value, shape):
                return f"tl.broadcast_to({self.text(value)}, {spelled_shape(shape)})", ATOM
            case t.Address(pointer, offsets):
                return " + ".join([self.operand(pointer, SUM), *(self.operand(o, PRODUCT) for o in offsets)]), SUM
            case t.LoadAt(address, mask, other):
                guard = [f"{word}={self.text(x)}" for word, x in (("mask", mask), ("other", other)) if x is not None]
                return f"tl.load({', '.join([self.text(address), *guard])})", ATOM
            case t.Pointwise():
                return self.pointwise(e)
            case t.ConvertTo(value, dtype, mode):
                return self.spelling.conversion(self.spell(value), value.type.dtype, dtype, mode=mode)
            case t.Dot():
                return self.dot(e), ATOM
            case t.ReduceCall(function, axis, values, helper):
                if helper is None:
                    return f"tl.{function}({self.text(values[0])}, axis={axis})", ATOM
                operands = ", ".join(self.text(v) for v in values)
                return f"tl.reduce({operands if len(values) == 1 else f'({operands})'}, {axis}, {helper.name})", ATOM
            case t.HistogramCall(values, bins, mask):
                under = "" if mask is None else f", mask={self.text(mask)}"
                return f"tl.histogram({self.text(values)}, {bins.name}{under})", ATOM
            case t.ScanCall(axis, values, helper, reverse):
                more = ", reverse=True" if reverse else ""
                if helper is None:
                    return f"tl.cumsum({self.text(values[0])}, axis={axis}{more})", ATOM
                operands = ", ".join(self.text(v) for v in values)
                operands = operands if len(values) == 1 else f"({operands})"
                return f"tl.associative_scan({operands}, {axis}, {helper.name}{more})", ATOM
        raise TypeError(f"no expression: {type(e).__name__}")

    def pointwise(self, e: t.Pointwise) -> Spelled:
        d = e.type.dtype  # beside a narrower integer, Triton takes a literal as one of 32 bits
        if d.is_integer and d.bits >= 32 and not e.type.shape and e.op.name in ("minimum", "maximum"):
            return f"{e.op.name[:3]}({', '.join(self.text(a) for a in e.args)})", ATOM
        if e.op.name == "ceil_div" and e.natural:
            return f"tl.cdiv({', '.join(self.text(a) for a in e.args)})", ATOM
        operands = e.args[1:] if e.op.name == "select" else e.args
        dtype = next((a.type.dtype for a in operands if not t.is_literal(a)), operands[0].type.dtype)
        return self.spelling.operator(e.op, dtype, [self.spell(a) for a in e.args], e.natural, e.natural)

    def dot(self, e: t.Dot) -> str:
        """Never less precise than asked: no TF32, and no short accumulation of 8-bit floats."""
        args = [self.text(e.left), self.text(e.right)]
        if e.accumulator is not None:
            args.append(self.text(e.accumulator))
        dtype = e.left.type.dtype
        if dtype in (f32, f64):
            args.append('input_precision="ieee"')
        elif dtype.is_float and dtype.bits == 8:
            args.append("max_num_imprecise_acc=0")
        if e.acc is not f32:
            args.append(f"out_dtype={TYPES[e.acc.name]}")
        return f"tl.dot({', '.join(args)})"


def _span(s: Any) -> Any:
    """The author's place for a statement: that of its largest part that has one."""
    known = arena().spans
    parts = reversed(t.inner(*t.expressions(s))) if isinstance(s, t.Statement) else ()
    found = (known[e] for e in parts if e in known and isinstance(e, Expr) and not isinstance(e, t.Parameter))
    return next((spans[0] for spans in found if spans), None)


def spelled_shape(shape: tuple[Any, ...]) -> str:
    """A shape as the list of names that Triton takes."""
    return f"[{', '.join(x.name for x in shape)}]"


__all__ = ["Printer", "print_triton"]
