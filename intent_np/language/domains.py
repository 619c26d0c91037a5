"""Domains, their coordinates, and unordered iteration; extents that are required to be equal."""

from __future__ import annotations

from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.core import find
from intent_np.terms.index import Extent, Param, Value
from intent_np.terms.logical import After, Domain, Formal, Indices, LoopVar, Read, State
from intent_np.terms.normal import Memory

from . import indexing
from .context import Equal, fail, static
from .declare import intrinsic
from .elaborate import describe, extent_text
from .loops import Points
from .polynomials import from_polynomial, minus, polynomial
from .products import Record


@intrinsic
def domain(begin: Any, end: Any, step: Any = 1) -> Domain:
    """The coordinates begin, begin + step, … below end; the step is provably above 0, and there may be none."""
    return indexing.domain(static(begin), static(end), static(step))


@intrinsic
def parallel(domains: Any) -> Points:
    """The points of a domain, or of a tuple of domains, for a `for` that takes them in no order."""
    single = isinstance(domains, Domain)
    parts = (domains,) if single else domains
    if not isinstance(parts, tuple) or not parts or not all(isinstance(d, Domain) for d in parts):
        raise fail(
            "E113",
            name="I.parallel",
            signature="I.parallel(domain) or I.parallel((domain, domain))",
            found=describe(domains),
        )
    return Points(parts, single)


@intrinsic
def indices(region: Domain) -> Value:
    """The coordinates of a domain or subregion, as an index tensor of rank 1."""
    return Indices(indexing.ordered(region_of("indices", region)))


@intrinsic
def end(region: Domain) -> Any:
    """The first coordinate behind a domain or subregion."""
    return static(region_of("end", region).hi)


_ARGUMENTS = {"ragged": "outer, members, offsets, indices=None"}
_EXPECTED = "a domain or a subregion, such as I.domain(0, x.shape[0])"


def region_of(name: str, v: Any) -> Domain:
    """The domain that the operation `I.name` was given; E113 for anything else."""
    if not isinstance(v, Domain):
        raise fail(
            "E113",
            name=f"I.{name}",
            signature=f"I.{name}({_ARGUMENTS.get(name, 'domain')})",
            expected=_EXPECTED,
            found=describe(v),
        )
    return v


@intrinsic
def require_equal(left: Any, right: Any) -> None:
    """Make two extents equal: the host checks it before the launch, and the kernel may rely on it."""
    for v in (left, right):
        if isinstance(v, Memory):
            raise fail("E124", found=describe(v), fix=f"name an axis: {v.name}.shape[0]")  # type: ignore[attr-defined]
    a, b = (simplify(indexing.index_value(v)) for v in (left, right))
    gap = {m: c for m, c in minus(polynomial(a), polynomial(b)).items() if c}
    if not gap:
        return
    for v in (a, b):
        seen = find(v, (LoopVar, State, Read, After, Param, Formal))
        if any(True for _ in seen):
            raise fail("E124", found=f"{extent_text(v)}, which the host does not know before the launch")
    for m, c in sorted(gap.items(), key=lambda item: repr(item[0]), reverse=True):
        if len(m) == 1 and isinstance(m[0], Extent) and abs(c) == 1 and sum(m[0] in other for other in gap) == 1:
            rest = {n: -c * d for n, d in gap.items() if n != m}
            raise Equal(m[0], simplify(from_polynomial(rest)))
    if set(gap) == {()}:
        fix = "correct the annotations: these are two different numbers"
        raise fail("E124", found=f"{extent_text(a)} and {extent_text(b)}, which are never equal", fix=fix)
    raise fail("E124", found=f"{extent_text(a)} and {extent_text(b)}, of which no name can be given by the others")


@intrinsic
def record(**components: Any) -> Record:
    """Values by name: `r = I.record(total=t, count=n)`, then `r.total`."""
    if not components:
        raise fail("E113", name="I.record", signature="I.record(name=value)", found="no component")
    return Record(tuple(components), tuple(components.values()))
