"""The built-in tables of rules, in the order in which their rules are tried."""

from __future__ import annotations

from ..terms.logical import LOGICAL
from ..terms.normal import NORMAL
from . import arithmetic, bits, casts, folds, index, predicates, selection, shapes
from .rule_set import RuleSet, Table
from .shape_attributes import FUNCTIONS

BUILTIN = RuleSet((
    Table.of(index, "index"),
    Table.of(arithmetic, "arithmetic"),
    Table.of(bits, "bits"),
    Table.of(predicates, "predicates"),
    Table.of(selection, "selection"),
    Table.of(casts, "casts"),
    Table.of(
        folds, "folds", language=NORMAL, functions=folds.FUNCTIONS, measure=folds.measure
    ),
    Table.of(
        shapes, "shapes", language=LOGICAL, functions=FUNCTIONS, measure=shapes.measure
    ),
))  # fmt: skip
