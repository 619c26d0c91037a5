"""Which domain each dimension of a tensor runs over, so that what meets along it is one axis.

    y[rows, columns] = x[rows, columns] + b[columns]        the last dimensions of all three run over `columns`

Where an operator keeps a dimension it keeps the domain; a dimension that none is known of runs over 0..extent.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..terms import logical as L
from ..terms.index import Value, const, is_const
from ..terms.normal import Proj


class DimensionLowering:
    """The part of the lowering that knows the dimensions of tensors."""

    open: dict[str, Any]
    bound: dict[Any, Any]

    @cached_property
    def known_domains(self) -> dict[Value, tuple[L.Domain, ...]]:
        """What was found so far."""
        return {}

    def domains(self, v: Value) -> tuple[L.Domain, ...]:
        """The domain that each dimension of a tensor runs over; 0..extent where none is known."""
        stack: list[Any] = [v]  # operands first
        while v not in self.known_domains:
            t = stack[-1]
            operands = (c for c in t.children() if isinstance(c.type, L.TensorType))
            waiting = [c for c in operands if c not in self.known_domains]
            if waiting:
                stack.extend(waiting)
            else:
                self.known_domains[stack.pop()] = self._domains(t)
        return self.known_domains[v]

    def _domains(self, v: Value) -> tuple[L.Domain, ...]:
        shape = L.shape_of(v)
        if isinstance(v, (L.Read, L.Take)):
            found = self._indexed(v.subscripts, self.domains(v.value) if isinstance(v, L.Take) else None)
        elif isinstance(v, L.Indices):
            found = [v.domain]
        elif isinstance(v, (L.Old, L.Succeeded)):
            found = self._indexed(v.access.subscripts, None)
        elif isinstance(v, (L.State, L.After)):
            loop = v.loop if isinstance(v, L.After) else self.open[v.loop][0]
            carry = v.position if isinstance(v, L.After) else loop.states.index(v)
            found = list(self.domains(loop.inits[carry]))
        elif isinstance(v, L.Formal) and v in self.bound:
            found = list(self.domains(self.bound[v]))
        elif isinstance(v, (L.Convert, L.InBounds, L.Unique)):
            found = list(self.domains(v.value))
        elif isinstance(v, L.Transpose):
            inner_domains = self.domains(v.value)
            found = [inner_domains[p] for p in v.permutation]
        elif isinstance(v, L.Pointwise):
            found = self._merged(v.args, len(shape))
        elif isinstance(v, L.TensorReduce):
            found = self._merged(v.values, len(L.broadcast(tuple(L.shape_of(x) for x in v.values))))
            found[v.dimension : v.dimension + 1] = [None] if v.keepdims else []
        elif isinstance(v, L.TensorScan) or isinstance(v, Proj) and isinstance(v.value, L.TensorScan):
            found = self._merged((v.value if isinstance(v, Proj) else v).values, len(shape))  # type: ignore[attr-defined]
        elif isinstance(v, Proj) and isinstance(v.value, L.TensorSort):
            found = list(self.domains(v.value.value))
        elif isinstance(v, L.TensorContract):
            summed, paired = {p[0] for p in v.summed}, {p[1] for p in (*v.summed, *v.batch)}
            found = [d for i, d in enumerate(self.domains(v.left)) if i not in summed]
            found += [d for j, d in enumerate(self.domains(v.right)) if j not in paired]
        elif isinstance(v, (L.ScaledContract, L.SparseContract)):
            found = [self.domains(v.left)[0], self.domains(v.right)[2]]
        else:
            found = [None] * len(shape)
        return tuple(
            d if d is not None and d.extent is e else L.Domain(const(0), e) for d, e in zip(found, shape, strict=True)
        )

    def _indexed(self, subscripts: tuple[L.Subscript, ...], inner: tuple[L.Domain, ...] | None) -> list[Any]:
        """The domains of the axes of an access, to a value whose own dimensions run over `inner`."""
        place = L.placed(subscripts)
        found: list[Any] = [None] * len(place.shape)
        own = iter(inner or ())
        for s, axes in zip(subscripts, place.axes, strict=True):
            d = None if isinstance(s, L.NewAxis) else next(own, None)
            if isinstance(s, L.Along):
                found[axes[0]] = _kept_domain(s, d)
        tensors = tuple(s.value for s in subscripts if isinstance(s, L.AtEach))
        for a, d in zip(place.joint, self._merged(tensors, len(place.joint)), strict=True):
            found[a] = d
        return found

    def _merged(self, values: tuple[Value, ...], rank: int) -> list[Any]:
        found: list[Any] = [None] * rank
        for a in values:
            for i, d in enumerate(reversed(self.domains(a)), 1):
                if found[-i] is None and not is_const(L.shape_of(a)[-i], 1):
                    found[-i] = d
        return found


def _kept_domain(s: Any, d: L.Domain | None) -> L.Domain | None:
    """The domain of a dimension that a subscript keeps whole, else the subscript's own."""
    whole = isinstance(s, L.Along) and d is not None and s.domain.extent is d.extent
    return d if whole else getattr(s, "domain", None)
