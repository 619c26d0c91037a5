"""Tiles of matrices in memory as Triton's descriptors, each made once in front of the first statement that loads one.

    k_tiles = tl.make_tensor_descriptor(k + b * k_s0, [K, 128], [max(k_s1, 8), 1], [BLOCK_KEYS, BI])
    …
    k_value = k_tiles.load([keys0, 0])

Used by `lower_to_triton`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..terms.dtypes import i32
from ..terms.gpu import Load
from ..terms.index import is_const
from ..terms.triton import Address, Assign, Expr, Name, Number, Statement, Tiles, is_literal
from .triton_values import Values
from .turning import LINE, Tile, Turning


def described(values: Values, loads: Iterable[Load], turning: Turning) -> list[Statement]:
    """Lines that make the tiles of these loads, but for those that are made; `values` knows them from there on."""
    lines: list[Statement] = []
    for t in loads:
        if t not in values.tiles:
            tile = turning.tiles[t]
            name = Name(values.fresh.fresh(f"{t.view.name}_tiles"), t.view.dtype, tile.shape, True)
            lines.append(Assign(name, _tiles(values, tile)))
            values.tiles[t] = (name, *tile.begin)
    return lines


def _tiles(values: Values, tile: Tile) -> Tiles:
    """The matrix at this instance's coordinates.  A stride is 0 only of a dimension with one row, which needs none."""
    view, row = tile.load.view, tile.dims[0]
    offsets: list[Expr] = []
    for d, (i, step) in enumerate(zip(tile.load.index, view.strides, strict=True)):
        if d not in tile.dims and not is_const(i, 0):
            x = values.lower(i)
            offsets.append(x if is_const(step, 1) else values.operate("mul", [x, values.lower(step)]))
    base: Expr = values.parameter(view, view.dtype)
    stride: Expr = values.lower(view.strides[row])
    if not is_literal(stride):
        stride = values.operate("maximum", [stride, Number(LINE // view.dtype.bytes, i32)])
    extents = tuple(values.lower(view.shape[d]) for d in tile.dims)
    return Tiles(Address(base, tuple(offsets)) if offsets else base, extents, stride, tile.shape)
