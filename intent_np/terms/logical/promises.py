"""What the author promises of an index: the value itself, and a fact that checking mode tests."""

from __future__ import annotations

from typing import Any

from ..core import term
from ..dtypes import index
from ..index import Value
from .types import element, shape_of


@term
class InBounds(Value):
    """`value`, of which every element is promised to be at least 0 and below `extent`."""

    value: Value
    extent: Value
    syntax = "in_bounds {value} below {extent}"

    def infer(self) -> Any:
        if element(self.value.type) is not index or self.extent.type is not index:
            raise TypeError(f"a bound of {self.extent.type} for {self.value.type}")
        return self.value.type


@term
class Unique(Value):
    """Component `position` of coordinates that are promised to be together different in all lanes and points."""

    values: tuple[Value, ...]
    position: int = 0
    syntax = "unique ({values}){ component |position|}"

    def infer(self) -> Any:
        if not 0 <= self.position < len(self.values) or any(element(v.type) is not index for v in self.values):
            raise TypeError(f"component {self.position} of {len(self.values)} coordinates")
        return self.values[self.position].type

    @property
    def value(self) -> Value:
        return self.values[self.position]

    @property
    def rank(self) -> int:
        return max(len(shape_of(v)) for v in self.values)
