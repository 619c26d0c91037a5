"""What a combine uses besides its sides, known at run time: components that go along with them.

combine a, b with c of x from e      combine (x, c, true) from (e, 0, false)

A side that holds members knows what they bring; two that do are combined with it, and one alone stays what it is.  So
a combine is closed again, and is blocked, carried and printed as all others are.

Used by `lower_to_coordinates` and `lower_scans`.
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import node
from ..terms.core import arena, named, rewrite
from ..terms.dtypes import bool_
from ..terms.index import Const, Value, apply, const, select
from ..terms.normal import Arg, Combine


def carried(
    combine: Combine, values: tuple[Any, ...], identities: tuple[Const, ...], operands: tuple[Any, ...]
) -> tuple[Combine, tuple[Value, ...], tuple[Const, ...]]:
    """A combine, its values and its identities, without operands; the components that were there come first."""
    if not operands:
        return combine, values, identities
    used = tuple(o.type for o in operands)
    dtypes = (*combine.dtypes, *used, bool_)
    n, last = len(combine.dtypes), len(dtypes) - 1
    a, b = ([Arg(side, i, d) for i, d in enumerate(dtypes)] for side in "ab")
    brought = [node(select(a[last], x, y)) for x, y in zip(a[n:last], b[n:last], strict=True)]
    bodies: Any = rewrite(
        combine.bodies, lambda t: brought[t.position] if isinstance(t, Arg) and t.side == "c" else node(t)
    )
    both = node(apply("and", a[last], b[last]))
    alone = (node(select(a[last], x, y)) for x, y in zip(a[:n], b[:n], strict=True))
    joined = (node(select(both, body, one)) for body, one in zip(bodies, alone, strict=True))
    made = Combine(dtypes, (*joined, *brought, node(apply("or", a[last], b[last]))))
    named(made, arena().names.get(combine, "combine"))
    nothing = tuple(const(0, d) for d in used)
    return made, (*values, *operands, const(True, bool_)), (*identities, *nothing, const(False, bool_))
