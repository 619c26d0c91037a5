"""The condition of an ordered loop computed in its body: where it asks for what takes a loop of its own.

    while c(s) carrying s from x yielding y: …      while go carrying s from x, go from true
                                                        yielding select(c, y, s), c:
                                                      write b = c(s)
                                                      branch read b: …

The loop has one iteration more, in which nothing is done but to ask.  Used by `lower_to_coordinates`.
"""

from __future__ import annotations

from typing import Any

from ..terms import logical as L
from ..terms.core import inherit, named, replace, rewrite
from ..terms.dtypes import bool_
from ..terms.index import OPERATORS, apply, const


def asked_inside(program: L.LogicalProgram, loop: str) -> L.LogicalProgram:
    """The program whose loop of this name asks its condition inside."""
    (new,) = rewrite((program,), lambda t: _inside(t) if isinstance(t, L.Ordered) and t.name == loop else t)
    return new  # type: ignore[no-any-return]


def _inside(t: Any) -> L.Ordered:
    flag: Any = named(L.State(t.name, len(t.states), bool_, (), True), "going")
    kept = named(L.Buffer(f"{t.name} goes", bool_, ()), "goes")
    write = L.Write(kept, (), t.condition)
    goes = L.Read(kept, (), write)
    body = (L.Allocate(kept), write, L.Branch(goes, t.body))
    for x in body:
        inherit(t, x)
    yields = (_select(goes, y, s) for y, s in zip(t.yields, t.states, strict=True))
    return replace(  # type: ignore[no-any-return]
        t, states=(*t.states, flag), inits=(*t.inits, const(True, bool_)), yields=(*yields, goes), body=body,
        condition=flag,
    )  # fmt: skip


def _select(condition: Any, then: Any, otherwise: Any) -> Any:
    if isinstance(then.type, L.TensorType):
        return L.Pointwise(OPERATORS["select"], (condition, then, otherwise))
    return apply("select", condition, then, otherwise)
