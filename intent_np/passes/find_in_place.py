"""normal -> normal: which views may be one array.

x = view in f32[N] strides [x_s0]                          x = view in f32[N] strides [x_s0] or y
y = view out f32[N] strides [y_s0]                         y = view out f32[N] strides [y_s0]
program @relu(x, y, N) { store y[i] = … load x[i] … }
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from ..terms.core import find, replace, rewrite
from ..terms.normal import NORMAL, Load, Program, Store, Update, View
from ..terms.ordered import evaluated
from .base import nanopass

Accesses = dict[View, list[Any]]


@nanopass(NORMAL, NORMAL)
def find_in_place(program: Program) -> Program:
    """Note the views that a call may give one array: an input that every instance reads only where it writes the
    output, and outputs of one alias group that are written at one index.

    Behind `forward_stores`, which settles what is read.  That an instance reads an element before it writes it is up to
    `emit`, which drops the note where it can't be.  Preserves every statement; what is not noted is copied at a call.
    """
    accesses: Accesses = {}
    for t in find(program, (Load, Store, Update)):  # type: ignore[arg-type]
        accesses.setdefault(t.view, []).append(t)
    views = [v for v in program.parameters if isinstance(v, View) and v.mode not in ("workspace", "copy", "report")]
    others = [e for e in program.effects if not isinstance(e, Store)]
    inside = set(evaluated(*others))
    changed = {}
    for v in views:
        same = tuple(w.name for w in views if w is not v and _may_be_one(v, w, accesses, inside, not others))
        if same != v.same:
            changed[v] = replace(v, same=same)
    return rewrite((program,), lambda t: changed.get(t, t))[0] if changed else program  # type: ignore[no-any-return]


def _may_be_one(v: View, w: View, accesses: Accesses, inside: Container[Any], alone: bool) -> bool:
    """Whether all that is read of `v` is what is written of `w`, in a program of stores `alone`; of two outputs,
    whether neither is read at all, nor accessed `inside` of a loop or an update."""
    mine, others = accesses.get(v, []), accesses.get(w, [])
    stores = [t for t in others if isinstance(t, Store)]
    if v.dtype is not w.dtype or not mine or not stores:
        return False
    if not alone and (v.mode == "in" or any(t in inside for t in (*mine, *others))):
        return False
    if v.mode != "in" and not (w.name in v.same and all(isinstance(t, Store) for t in (*mine, *others))):
        return False
    return all(t.index == s.index for t in (*mine, *others) for s in stores)
