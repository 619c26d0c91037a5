"""Domains, their coordinates, and unordered iteration."""

from __future__ import annotations

from typing import Any

from intent_np.terms.index import Value
from intent_np.terms.logical import Domain, Indices

from . import indexing
from .context import fail, static
from .declare import intrinsic
from .elaborate import describe
from .loops import Points
from .products import Record


@intrinsic
def domain(begin: Any, end: Any, step: Any = 1) -> Domain:
    """The coordinates begin, begin + step, … below end; may be empty."""
    return indexing.domain(static(begin), static(end), static(step))


@intrinsic
def parallel(domains: Any) -> Points:
    """Every point of a domain, or of a tuple of domains, once and in no order."""
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
    """The absolute coordinates of a domain or subregion, as an index tensor of rank 1."""
    return Indices(indexing.ordered(_region("indices", region)))


@intrinsic
def end(region: Domain) -> Any:
    """The first coordinate behind a domain or subregion."""
    return static(_region("end", region).hi)


def _region(name: str, v: Any) -> Domain:
    if not isinstance(v, Domain):
        raise fail("E113", name=f"I.{name}", signature=f"I.{name}(domain)", found=describe(v))
    return v


@intrinsic
def record(**components: Any) -> Record:
    """Values by name: `r = I.record(total=t, count=n)`, then `r.total`."""
    if not components:
        raise fail("E113", name="I.record", signature="I.record(name=value)", found="no component")
    return Record(tuple(components), tuple(components.values()))
