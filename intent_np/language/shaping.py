"""Terms rebuilt over other parts, where a part that only shapes, as an extent does, may become another one than a part
that is computed with."""

from __future__ import annotations

from typing import Any

from intent_np.terms.core import Field, replace
from intent_np.terms.index import Value
from intent_np.terms.logical import SHAPING, shape_of
from intent_np.terms.normal import Effect, Memory

Node = tuple[Any, bool]  # a term, and whether it only shapes
Done = tuple[dict[Any, Any], dict[Any, Any]]  # what terms became where they are computed with, and where they shape


def extents(t: Any) -> tuple[Value, ...]:
    """Those of memory or of a value."""
    return t.shape if isinstance(t, Memory) else shape_of(t)  # type: ignore[attr-defined, no-any-return]


def below(t: Any, shaped: bool) -> list[Node]:
    """The terms that one is made of.  Below what shapes all does, but statements never do."""
    return [(c, _shapes(f, c, shaped)) for f in t.fields for c in _held(t, f)]


def rebuilt(t: Any, shaped: bool, done: Done) -> Any:
    """The same term over what its parts became."""
    ways = {s for _, s in below(t, shaped)}
    if len(ways) < 2:
        return t.rebuild(done[ways == {True}])
    new: dict[str, Any] = {}
    for f in t.fields:
        if parts := tuple(done[_shapes(f, c, shaped)][c] for c in _held(t, f)):
            new[f.name] = parts if f.kind == "terms" else parts[0]
    return t if all(new[n] == getattr(t, n) for n in new) else replace(t, **new)


def _held(t: Any, f: Field) -> tuple[Any, ...]:
    value = () if f.kind == "attribute" else getattr(t, f.name)
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _shapes(f: Field, c: Any, shaped: bool) -> bool:
    return (shaped or f.name in SHAPING) and not isinstance(c, Effect)
