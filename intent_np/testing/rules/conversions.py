"""Rules about types judged: at every choice of types for which they fire, proved by z3 or for all values.

Values of 8 and 16 bits are tried in full; wider integers are bit vectors, wider floats IEEE numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import z3

from ... import numerics
from ...rules.matcher import compile_rules
from ...rules.pattern import Rule, nodes
from ...rules.scalar_attributes import has_all
from ...terms.core import Arena, find
from ...terms.dtypes import DTYPES, DType, bool_, f64
from ...terms.index import Apply, Cast, Const, Param, Value
from .instances import built, metavariables
from .kernel_text import kernel_text
from .meaning import evaluate, same, samples
from .order import ends
from .prove import EFFORT, theory_of
from .theory import ROUNDING

if TYPE_CHECKING:
    from .verdict import Verdict

ROWS = 600


class UntypedError(Exception):
    """A rule makes something that is no term."""


@dataclass(frozen=True)
class Instance:
    """A rule at some types: its sides as terms over parameters, and the types by the name of their metavariable."""

    left: Value
    right: Value
    types: Mapping[str, DType]


def judged(r: Rule) -> Verdict:
    """Refuted at some types by values, or proved at all of them, or tested at those that z3 does not decide."""
    from .verdict import refuted

    try:
        return _judged(r)
    except UntypedError as e:
        return refuted(r, str(e))


def _judged(r: Rule) -> Verdict:
    from .verdict import Verdict, refuted

    rng = np.random.default_rng(0)
    undecided: list[str] = []
    count = 0
    with Arena():
        for i in typed_instances(r):
            count += 1
            if i.right.type is not i.left.type:
                return refuted(r, f"{i.left} of {i.left.type} becomes {i.right} of {i.right.type}")
            whole = _whole(i)
            env = whole if whole is not None else {p: samples(p.dtype, ROWS, rng) for p in _parameters(i)}
            if (at := _wrong(i, env)) is not None:
                return _shown(r, i, at)
            if whole is None and not _proved(i):
                undecided.append(", ".join(f"{n} {t}" for n, t in i.types.items()))
    if not count:
        return refuted(r, "it never fires: its guards hold at no types")
    if not ends(r):
        return refuted(r, f"rewriting may not end: {r.right} is not below {r.left} in the order of terms")
    if undecided:
        return Verdict(r.name, "", "tested", detail=f"z3 does not decide it for {undecided[0]} and the like")
    return Verdict(r.name, "", "proved-any", detail=f"at {count} choices of types")


def typed_instances(r: Rule) -> Iterator[Instance]:
    """Every choice of types at which the left side is a term and the rule fires."""
    (step,) = compile_rules([r]).values()
    variables = metavariables(r.left)
    elements = dict.fromkeys(n.args[0] for n in nodes(r.left) if n.head == "element" and n.args[1] != "named")
    numbers = any(n.head == "const" and not isinstance(n.args[0], bool) for n in nodes(r.left))
    names = [n for n, v in variables.items() if v.args[1] != "b"] + [*elements] + ["constants"] * numbers
    for choice in product(DTYPES.values(), repeat=len(names)):
        types = dict(zip(names, choice, strict=True))
        leaves: dict[str, Any] = {n: Param(n, types.get(n, bool_)) for n in variables}
        try:
            left = built(r.left, leaves | {n: types[n] for n in elements}, types.get("constants", bool_))
        except (TypeError, OverflowError):
            continue
        if _is_bitcast(left) and not _same_width(left):
            continue
        try:
            found = step(left, lambda t: t)
        except TypeError as e:
            raise UntypedError(f"the right side has no type at {types}: {e}") from None
        if found is not None:
            yield Instance(left, found[0], types)


def _is_bitcast(t: Any) -> bool:
    return isinstance(t, Cast) and t.mode == "bits"


def _bare(t: Any) -> Any:
    """What bitcasts are of."""
    while _is_bitcast(t):
        t = t.value
    return t


def _same_width(t: Any) -> bool:
    """Whether every bitcast in a chain is between types of one width, neither bool."""
    while _is_bitcast(t):
        source = t.value.type
        if source.bits != t.dtype.bits or (source is bool_) != (t.dtype is bool_):
            return False
        t = t.value
    return True


def _parameters(i: Instance) -> list[Any]:
    return list(dict.fromkeys(find(i.left, Param)))


def _whole(i: Instance) -> dict[Any, Any] | None:
    """All values of the parameters, if they are few."""
    parameters = _parameters(i)
    bits = sum(1 if p.dtype is bool_ else p.dtype.bits for p in parameters)
    if bits > 16:
        return None
    every = [_every(p.dtype) for p in parameters]
    grid = np.meshgrid(*every, indexing="ij")
    return {p: g.reshape(-1) for p, g in zip(parameters, grid, strict=True)}


def _every(d: DType) -> Any:
    if d is bool_:
        return np.array([False, True])
    return np.arange(2**d.bits, dtype=np.uint8 if d.bits == 8 else np.uint16).view(numerics.storage(d))


def _wrong(i: Instance, env: dict[Any, Any]) -> dict[Any, Any] | None:
    """Values of the parameters at which the sides differ."""
    (before, poison), (after, worse) = evaluate(i.left, env), evaluate(i.right, env)
    rows = len(next(iter(env.values())))
    bad = np.broadcast_to(~poison & ~(same(before, after, i.left.type) & ~worse), (rows,))  # type: ignore[arg-type]
    if not bad.any():
        return None
    at = int(np.argmax(bad))
    return {p: v[at].item() for p, v in env.items()}


def _shown(r: Rule, i: Instance, at: Mapping[Any, Any]) -> Verdict:
    from .verdict import refuted

    values = {p.name: v for p, v in at.items()}
    types = {n: d.name for n, d in i.types.items()}
    program = kernel_text(r, i.types.get("constants", i.left.type).name, values, types, i.left.type.name)  # type: ignore[union-attr]
    return refuted(r, f"the sides differ for {types} at {values}", program)


# ---- proofs


def _proved(i: Instance) -> bool:
    """Whether z3 finds both sides equal wherever the left one is defined; or both are the same bits."""
    if _is_bitcast(i.left):
        return _bare(i.left) is _bare(i.right)
    return _equal(i, _Numbers()) or _equal(i, _Encoding())


def _equal(i: Instance, encoding: _Encoding) -> bool:
    try:
        left = encoding(i.left)
        needs = encoding.needs
        given = list(needs)
        right = encoding(i.right)
    except NotImplementedError:
        return False
    solver = z3.Solver()
    solver.set("rlimit", EFFORT // 4)
    solver.add(*given, z3.Not(z3.And(*needs[len(given) :], left == right)))
    return bool(solver.check() == z3.unsat)


class _Encoding:
    """Terms over the sorts of their types; `needs` collects what conversions need of their operands."""

    def __init__(self) -> None:
        self.needs: list[Any] = []

    def __call__(self, t: Any) -> Any:
        if isinstance(t, Param):
            return z3.Const(t.name, _theory(t.dtype).sort)
        if isinstance(t, Const):
            return z3.BoolVal(t.value) if t.dtype is bool_ else _theory(t.dtype).constant(t.value)
        if isinstance(t, Cast) and t.mode != "bits":
            return self.converted(self(t.value), t.value.type, t.dtype, t.mode)
        if isinstance(t, Apply):
            args = [self(a) for a in t.args]
            theory = _theory(t.args[-1].type)
            if t.op.name in ("and", "or", "not", "select", "eq", "ne") or theory.interprets(t.op.name):
                self.needs.append(theory.valid(t.op.name, args))
                return theory.apply(t.op.name, args)
        raise NotImplementedError

    def converted(self, v: Any, source: Any, to: DType, mode: str) -> Any:
        """A conversion between two types."""
        if source is to and mode == "wrap":
            return v
        if theory_of(to) is None:
            return self.rounded(v, source, to, mode)
        if to is bool_:
            return z3.Not(z3.fpIsZero(v)) if source.is_float else v != 0
        if source is bool_:
            return z3.If(v, _theory(to).constant(1), _theory(to).constant(0))
        if source.is_integer and to.is_integer:
            return _resized(v, source, to, mode)
        if source.is_integer:
            return self.from_integer(v, source, to, mode)
        if mode == "saturate":
            raise NotImplementedError
        return z3.fpToFP(ROUNDING, v, _theory(to).sort) if to.is_float else self.truncated(v, to)

    def rounded(self, v: Any, source: Any, to: DType, mode: str) -> Any:
        """A conversion to a type that no theory is of, as a function of the number alone: in f64 where that has all
        values of the type, else an integer of 66 bits."""
        in_f64 = source is bool_ or source.is_float or source.bits <= 32
        number = self.converted(v, source, f64, "wrap") if in_f64 else _widened(v, source)
        return _function(number, to, mode, z3.DeclareSort(to.name))

    def from_integer(self, v: Any, source: DType, to: DType, mode: str) -> Any:
        sort = _theory(to).sort
        made = z3.fpToFP(ROUNDING, v, sort) if source.is_signed else z3.fpToFPUnsigned(ROUNDING, v, sort)
        limit = z3.FPVal(numerics.FORMATS[to.name].largest, sort)
        over = z3.If(z3.fpIsNegative(made), z3.fpNeg(limit), limit)
        return made if mode == "wrap" else z3.If(z3.fpIsInf(made), over, made)

    def truncated(self, v: Any, to: DType) -> Any:
        cut = z3.fpRoundToIntegral(z3.RTZ(), v)
        low, high = (z3.FPVal(float(b), v.sort()) for b in (to.range[0], to.range[1] + 1))
        self.needs.append(z3.And(z3.fpGEQ(cut, low), z3.fpLT(cut, high)))
        return z3.Extract(to.bits - 1, 0, z3.fpToSBV(z3.RTZ(), cut, z3.BitVecSort(66)))


class _Numbers(_Encoding):
    """Conversions between integers and floats as functions of the number alone: what is proved holds for any rounding.

    An exact conversion keeps the number, so that a conversion of its result is one of the number.
    """

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[Any, Any] = {}  # the number that a float is

    def converted(self, v: Any, source: Any, to: DType, mode: str) -> Any:
        number = self.known.get(v)
        if source.is_float and number is not None and to is not source and mode == "wrap":
            if to.is_float:
                return self._of(number, to, mode)
            if to is bool_:
                return number != 0
            self.needs.append(z3.And(number >= to.range[0], number <= to.range[1]))
            return z3.Extract(to.bits - 1, 0, number)
        return super().converted(v, source, to, mode)

    def from_integer(self, v: Any, source: DType, to: DType, mode: str) -> Any:
        number = _widened(v, source)
        made = self._of(number, to, mode)
        if has_all(source, to):
            self.known[made] = number
        return made

    def truncated(self, v: Any, to: DType) -> Any:
        wide = z3.FPSort(11, 53)
        number = v if v.sort() == wide else z3.fpToFP(ROUNDING, v, wide)
        self.needs.append(z3.Function(f"in range of {to}", wide, z3.BoolSort())(number))
        return _function(number, to, "wrap", _theory(to).sort)

    def rounded(self, v: Any, source: Any, to: DType, mode: str) -> Any:
        if source is bool_ or source.is_float:
            return super().rounded(v, source, to, mode)
        return self._of(_widened(v, source), to, mode)

    def _of(self, number: Any, to: DType, mode: str) -> Any:
        sort = z3.DeclareSort(to.name) if theory_of(to) is None else _theory(to).sort
        return _function(number, to, mode, sort)


def _function(number: Any, to: DType, mode: str, sort: Any) -> Any:
    return z3.Function(f"{mode} {to} of {number.sort()}", number.sort(), sort)(number)


def _theory(d: Any) -> Any:
    theory = theory_of(d)
    if theory is None:
        raise NotImplementedError
    return theory


def _widened(v: Any, source: DType) -> Any:
    return z3.SignExt(66 - source.bits, v) if source.is_signed else z3.ZeroExt(66 - source.bits, v)


def _resized(v: Any, source: DType, to: DType, mode: str) -> Any:
    wide = _widened(v, source)
    if mode == "saturate":
        low, high = (z3.BitVecVal(b, 66) for b in to.range)
        wide = z3.If(wide < low, low, z3.If(wide > high, high, wide))
    return z3.Extract(to.bits - 1, 0, wide)
