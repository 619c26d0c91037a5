"""Accesses to memory in the triton language: pointers and masks, or whole tiles of a matrix."""

from __future__ import annotations

from typing import Any

from .core import term
from .dtypes import bool_, i32, i64
from .index import Physical
from .triton_expressions import Block, Expr, Name, broadcast, spelled_shape


@term
class Address(Expr):
    """A pointer moved by the sum of `offsets`, in elements."""

    pointer: Expr
    offsets: tuple[Expr, ...]
    syntax = "address({pointer}, [{offsets}])"

    def infer(self) -> Block:
        dtype, shape, pointer = self.pointer.type
        if not pointer:
            raise TypeError("an address starts at a pointer")
        if any(o.type.dtype not in (i32, i64) for o in self.offsets):
            raise TypeError(f"offsets of {', '.join(repr(o.type.dtype) for o in self.offsets)}")
        return Block(dtype, broadcast(shape, *(o.type.shape for o in self.offsets)), True)


def check_mask(address: Block, mask: Any) -> None:
    """A mask is bool and varies only where the address does."""
    if not address.pointer:
        raise TypeError("an access needs a pointer")
    if mask is not None and (
        mask.type.dtype is not bool_ or broadcast(mask.type.shape, address.shape) != address.shape
    ):
        raise TypeError(f"a mask of {mask.type} on an address of {address}")


@term
class LoadAt(Expr):
    """What is in memory where `mask`, and `other` elsewhere."""

    address: Expr
    mask: Expr | None = None
    other: Expr | None = None
    syntax = "fetch({address}{, |mask| else $other})"

    def infer(self) -> Block:
        check_mask(self.address.type, self.mask)
        if (self.mask is None) is not (self.other is None):
            raise TypeError("a masked load says what masked lanes hold, another one has none")
        return Block(self.address.type.dtype, self.address.type.shape)


@term
class Tiles(Expr):
    """A matrix in memory as tiles of this shape, for the unit that copies whole ones: where it begins, its extents, and
    the elements from one row to the next; those of a row are beside each other."""

    pointer: Expr
    extents: tuple[Expr, ...]
    stride: Expr
    shape: tuple[Physical, ...]
    syntax = "tiles({pointer}, [{extents}], {stride}, [{shape}])"

    def infer(self) -> Block:
        dtype, shape, pointer = self.pointer.type
        if not pointer or shape:
            raise TypeError("tiles begin at a pointer to one element")
        if len(self.extents) != 2 or len(self.shape) != 2:
            raise TypeError(f"tiles are of matrices, not of {len(self.extents)} extents in {spelled_shape(self.shape)}")
        if any(e.type.shape or not e.type.dtype.is_integer for e in (*self.extents, self.stride)):
            raise TypeError("extents and strides of tiles are scalars")
        return Block(dtype, self.shape, True)


@term
class LoadTile(Expr):
    """The tile that begins at this row and column; 0 past the end of the matrix."""

    tiles: Name
    row: Expr
    column: Expr
    syntax = "tile({tiles}, {row}, {column})"

    def infer(self) -> Block:
        if not self.tiles.tiles:
            raise TypeError(f"{self.tiles.name} names no tiles")
        if any(x.type.shape or not x.type.dtype.is_integer for x in (self.row, self.column)):
            raise TypeError("a tile begins at scalars")
        return Block(self.tiles.dtype, self.tiles.shape)
