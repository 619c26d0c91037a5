"""The built-in tables of rules, in the order in which their rules are tried."""

from __future__ import annotations

from ..terms.logical import LOGICAL
from . import arithmetic, bits, casts, index, predicates, selection, shapes
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
        shapes, "shapes", language=LOGICAL, functions=FUNCTIONS, measure=shapes.measure
    ),
))  # fmt: skip
