"""How many fragments a pick keeps alive at once across a reduction: what a held row costs in registers."""

from __future__ import annotations

from .search import Pick, Search


def live(search: Search, pick: Pick) -> int:
    """The widest cut between levels of reductions; a value is born where it is first needed."""
    frame = next(f for f in search.s.frames if search.s.graph.roots.get(f.number) == search.root)
    held = sum(1 << i for i, r in enumerate(frame.roles) if r == "whole")
    below: dict[int, tuple[int, ...]] = {}
    level: dict[int, int] = {}
    for c in sorted(_picked(search, pick)):  # what a class is made of has a lower number
        own = search.classes[c]
        n = own[pick[c]] if len(own) > 1 else own[0]
        below[c] = n.classes
        level[c] = max((level[k] for k in n.classes), default=0) + (n.op == "XHold")
    used: dict[int, list[int]] = {}
    cut: dict[int, int] = {}
    for c in sorted(level, reverse=True):
        own = search.classes[c]
        n = own[pick[c]] if len(own) > 1 else own[0]
        uses = used.get(c, [level[c]])
        born = max(level[c], min(uses))
        wide = (
            n.literals[1] & held
            if n.op in ("XUn", "XBin", "XTri")
            else n.op == "XLeaf" and _lanes(search, n.literals[0]) & held
        )
        for at in range(born, max(uses)) if wide else ():
            cut[at] = cut.get(at, 0) + 1
        for k in below[c]:
            used.setdefault(k, []).append(level[c] - 1 if n.op == "XHold" else born)
    return max(cut.values(), default=0)


def _lanes(search: Search, leaf: int) -> int:
    return search.s.problem.bits(search.s.leaves[leaf])


def _picked(search: Search, pick: Pick) -> set[int]:
    seen, stack = {search.root}, [search.root]
    while stack:
        c = stack.pop()
        own = search.classes[c]
        new = [k for k in (own[pick[c]] if len(own) > 1 else own[0]).classes if k not in seen]
        seen.update(new)
        stack += new
    return seen
