"""Productions of contractions of operands in fewer bits: scaled groups, and groups of which some members were kept."""

from __future__ import annotations

from .values import production, some_extent, value
from .writer import Block, Extent, Type, number


@production("scaled contraction", 40, rounds=True, structured=True)
def scaled(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """[M, G, 4] scaled by [M, G], times [G, 4, N] scaled by [N, G]."""
    if want.dtype != "f32" or want.rank != 2 or want.shape is None:
        return None
    m, n = want.shape
    g, width = some_extent(block), number(4)
    dtype, form = block.choices.choice((("f8e4m3fn", "e4m3"), ("f8e5m2", "e5m2"), ("u8", "e4m3")))
    left = value(block, Type(dtype, (m, g, width)), fuel - 1, exact)
    right = value(block, Type(dtype, (g, width, n)), fuel - 1, exact)
    scales = [f"I.clamp({value(block, Type('u8', s), 1, True)}, 120, 134)" for s in ((m, g), (n, g))]
    return (
        f"I.scaled_contract({left}, {scales[0]}, {right}, {scales[1]}, lhs_format=I.{form}, rhs_format=I.{form}, "
        "lhs_group_size=4, rhs_group_size=4, acc_dtype=I.f32)"
    )


@production("sparse contraction", 6, rounds=True, structured=True)
def sparse(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """[M, G, kept] at ascending positions, times [G, width, N]."""
    d = want.element
    if want.rank != 2 or want.shape is None or d.kind == "bool" or d.bits < 32:
        return None
    m, n = want.shape
    c, g = block.choices, some_extent(block)
    narrow = [x for x in block.writer.dtypes if Type(x).element.kind == d.kind and Type(x).element.bits <= d.bits]
    dtype = c.choice(narrow or [want.dtype])
    kept, width, form = c.choice(((1, 2, "one_of_two"), (2, 4, "two_of_four")))
    shape = (m, g, number(kept))
    compressed = value(block, Type(dtype, shape), fuel - 1, exact or not d.is_float)
    right = value(block, Type(dtype, (g, number(width), n)), fuel - 1, exact or not d.is_float)
    chosen = f"({value(block, Type('i32', shape), 1, True)} & 1)"
    if kept == 2:  # one of the first two, and one of the others
        chosen = f"({chosen} + I.cast(I.indices(I.domain(0, 2)), I.i32) * 2)"
    return (
        f"I.sparse_contract({compressed}, {chosen}, {right}, format=I.sparse.{form}(), acc_dtype=I.{want.dtype})"
    )  # fmt: skip


def records(block: Block, shape: tuple[Extent, ...], groups: Extent, fuel: int) -> str:
    """The name of quantized records [*shape, groups, 292] of values that are the same everywhere."""
    source = value(block, Type("f32", (*shape, groups.multiple(256))), fuel - 1, True)
    made = Type("u8", (*shape, groups, number(292)))
    return block.bind(f"I.quantize({source}, format=I.quant.q8_k)", made, True)


@production("quantized bytes", 8, structured=True)
def quantized(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A byte of each record, or those of one part of it."""
    if want.dtype != "u8" or want.rank not in (1, 2) or want.shape is None:
        return None
    c, groups = block.choices, number(block.choices.choice((1, 2)))
    last = want.shape[-1]
    if last.name or last.plus > 16 or want.rank == 1:
        name, entries = records(block, want.shape, groups, fuel), ", ".join([":"] * want.rank)
        return f"{name}[{entries}, {c.choice(('0', '-1'))}, {c.integer(0, 291)}]"
    start = c.choice((0, 4, 100, 260))
    return f"{records(block, want.shape[:1], groups, fuel)}[:, 0, {start}:{start + last.plus}]"


@production("quantized dot", 10, rounds=True, structured=True, closed=False)
def quantized_dot(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """Records that a view holds, with those of values."""
    if want.dtype != "f32" or want.rank not in (1, 2) or want.shape is None:
        return None
    groups = number(block.choices.choice((1, 2, 3)))  # records are long
    right = records(block, want.shape[-1:], groups, fuel)
    left = block.writer.source("u8", (*want.shape[:1], groups, number(144)))
    if want.rank == 1:
        return f"I.quantized_dot({left.name}[:, :, :], {right})"
    return f"I.quantized_dot({left.name}[:, None, :, :], {right}[None, :, :, :])"
