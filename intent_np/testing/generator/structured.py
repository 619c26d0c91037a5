"""Productions of reductions, scans, contractions, order, counts, gathers and random numbers."""

from __future__ import annotations

from ...language.reductions import ACCUMULATORS
from ...terms.dtypes import DTYPES
from .layout import bound_part
from .monoids import Monoid, commutative, lawful, written
from .values import literal, named_value, production, shape_text, some_extent, some_shape, tuple_of, value
from .writer import Block, Extent, Shape, Type, number


def widened(want: Type) -> list[str]:
    """Dtypes whose sums are of the wanted one."""
    return [want.dtype] * 2 * (want.dtype not in ACCUMULATORS) + [
        d for d, wide in ACCUMULATORS.items() if wide == want.dtype
    ]


def longer(want: Type, extent: Extent, axis: int, keepdims: bool) -> Shape:
    """The shape before a reduction."""
    shape = list(want.shape or ())
    if keepdims:
        shape[axis] = extent
    else:
        shape.insert(axis, extent)
    return tuple(shape)


def reduced_axis(block: Block, want: Type) -> tuple[Extent, int, bool] | None:
    """An extent to reduce over, its axis, and whether it is kept with extent 1."""
    kept = [i for i, e in enumerate(want.shape or ()) if e == number(1)]
    c = block.choices
    if kept and c.chance(70):
        return some_extent(block), c.choice(kept), True
    if want.shape == () or want.rank > 2:
        return None
    return some_extent(block), c.integer(0, want.rank), False


@production("reduce", 24, rounds=True, structured=True)
def reduce(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    c = block.choices
    if (found := reduced_axis(block, want)) is None:
        return None
    extent, axis, keep = found
    more = ", keepdims=True" if keep else ""
    if want.dtype == "bool":
        inner = value(block, Type("bool", longer(want, extent, axis, keep)), fuel - 1, True)
        return f"I.reduce.{c.choice(('any', 'all'))}({inner}, axis={axis}{more})"
    kind = c.choice(("sum", "max", "min", "sum", "prod"))
    d = want.dtype
    if kind == "sum":
        if c.chance(70) and widened(want):
            d = c.choice(widened(want))
        else:
            more += f", acc_dtype=I.{want.dtype}"
            if not want.element.is_float and c.chance(30):
                d = "bool"
    precise = exact or not want.element.is_float
    inner = value(block, Type(d, longer(want, extent, axis, keep)), fuel - 1, precise)
    return f"I.reduce.{kind}({inner}, axis={axis}{more})"


@production("extreme", 6, structured=True)
def extreme(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """Maxima are the same in any order."""
    if want.dtype == "bool" or (found := reduced_axis(block, want)) is None:
        return None
    extent, axis, keep = found
    inner = value(block, Type(want.dtype, longer(want, extent, axis, keep)), fuel - 1, exact)
    return f"I.reduce.{block.choices.choice(('max', 'min'))}({inner}, axis={axis}{', keepdims=True' if keep else ''})"


@production("reduce all", 3, rounds=True, structured=True)
def reduce_all(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A scalar of every member, or of several axes."""
    if want.shape is not None or want.dtype in ("bool", *ACCUMULATORS):
        return None
    shape = some_shape(block, 3, 1)
    inner = value(block, Type(want.dtype, shape), fuel - 1, exact or not want.element.is_float)
    axes = f", axis={tuple_of([str(i) for i in range(len(shape))])}" if block.choices.chance(40) else ""
    return f"I.reduce.{block.choices.choice(('max', 'sum', 'min'))}({inner}{axes})"


@production("place of an extreme", 6, structured=True)
def arg_reduce(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if (found := reduced_axis(block, want)) is None:
        return None
    extent, axis, keep = found
    c = block.choices
    which = 1 if want.dtype == "index" and c.chance(70) else 0
    d = c.choice(block.writer.dtypes) if which else want.dtype
    inner = value(block, Type(d, longer(want, extent, axis, keep)), fuel - 1, exact or which == 1)
    more = ", keepdims=True" if keep else ""
    return bound_part(block, f"I.arg_reduce.{c.choice(('max', 'min'))}({inner}, axis={axis}{more})", 2, which)


@production("running", 10, rounds=True, structured=True)
def running(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if not want.rank or want.dtype == "bool":
        return None
    c = block.choices
    axis = c.integer(0, want.rank - 1)
    options = "".join(
        text for text, percent in ((", inclusive=False", 40), (", reverse=True", 40)) if c.chance(percent)
    )
    kind = c.choice(("cumsum", "cummax", "cummin", "cumprod"))
    d = want.dtype
    if kind == "cumsum":
        if c.chance(70) and widened(want):
            d = c.choice(widened(want))
        else:
            options += f", acc_dtype=I.{want.dtype}"
    if ", inclusive=False" in options:
        block.writer.used["exclusive scan"] += 1
    if ", reverse=True" in options:
        block.writer.used["reverse scan"] += 1
    precise = exact or not want.element.is_float
    return f"I.{kind}({value(block, want.of(d), fuel - 1, precise)}, axis={axis}{options})"


# ---- combines that authors write


def combined(block: Block, m: Monoid, shape: Shape, fuel: int, exact: bool) -> tuple[str, str, str]:
    """The value, the identity, and the options of an operation over a monoid."""
    operand = ""
    if m.operand:
        operand = block.bind(m.operand.format(block.writer.scalar(m.dtypes[0])), Type(m.dtypes[0]), True, "m")
    used = "".join(m.members)
    inner = [
        named_value(block, Type(d, shape), fuel - 1, exact or not DTYPES[d].is_float) if f"{{{i}}}" in used else ""
        for i, d in enumerate(m.dtypes)
    ]
    parts = [form.format(*inner, m=operand, shape=shape_text(shape)) for form in m.members]
    options = f"combine={written(block, m)}" + (f", combine_operands=({operand},)" if operand else "")
    if m.grouping == "record":
        text, zero = (
            ", ".join(f"{n}={p}" for n, p in zip(m.fields, given, strict=True)) for given in (parts, m.identity)
        )
        return f"I.record({text})", f"I.record({zero})", options
    if m.grouping == "tuple":
        return tuple_of(parts), tuple_of(list(m.identity)), options
    return parts[0], m.identity[0], options


def component(block: Block, code: str, m: Monoid, which: int) -> str:
    """One component of what a monoid's operation gives."""
    if m.grouping == "tuple":
        return bound_part(block, code, len(m.dtypes), which)
    if m.grouping == "record":
        name = block.writer.fresh("r")
        block.write(f"{name} = {code}")
        return f"{name}.{m.fields[which]}"
    return code


@production("generic reduce", 10, rounds=True, structured=True, closed=False)
def generic_reduce(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if (found := reduced_axis(block, want)) is None:
        return None
    extent, axis, keep = found
    m, which = lawful(block, want.dtype, commutative)
    shape = longer(want, extent, axis, keep)
    members, identity, options = combined(block, m, shape, fuel, exact)
    more = ", keepdims=True" if keep else ""
    block.writer.used[f"monoid {m.name}"] += 1
    code = f"I.reduce({members}, axis={axis}, identity={identity}, {options}{more})"
    return component(block, code, m, which)


@production("generic scan", 10, rounds=True, structured=True, closed=False)
def generic_scan(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if not want.rank or want.shape is None:
        return None
    c = block.choices
    m, which = lawful(block, want.dtype)
    axis = c.integer(0, want.rank - 1)
    members, identity, options = combined(block, m, want.shape, fuel, exact)
    more = f", inclusive={c.choice(('True', 'False'))}{', reverse=True' if c.chance(40) else ''}"
    block.writer.used[f"monoid {m.name}"] += 1
    code = f"I.scan({members}, axis={axis}, identity={identity}, {options}{more})"
    return component(block, code, m, which)


# ---- contractions


@production("contract", 12, rounds=True, structured=True)
def contract(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    c, d = block.choices, want.element
    narrow = [
        n for n in block.writer.dtypes if n != "bool" and DTYPES[n].is_float == d.is_float and DTYPES[n].bits <= d.bits
    ]
    if want.dtype == "bool" or d.bits < 16 or not narrow or want.rank > 2 or want.shape == ():
        return None
    n = c.choice(narrow)
    k = some_extent(block)
    precise = exact or not d.is_float

    def operand(*shape: Extent) -> str:
        return value(block, Type(n, shape), fuel - 1, precise)

    acc = f"acc_dtype=I.{want.dtype}"
    if want.shape is None:
        return f"I.dot({operand(k)}, {operand(k)}, {acc})"
    if want.rank == 1:
        (m,) = want.shape
        kind = c.choice(("matvec", "vecmat", "batch"))
        if kind == "matvec":
            return f"I.matvec({operand(m, k)}, {operand(k)}, {acc})"
        if kind == "vecmat":
            return f"I.vecmat({operand(k)}, {operand(k, m)}, {acc})"
        return f"I.contract({operand(m, k)}, {operand(m, k)}, reduce=((1, 1),), batch=((0, 0),), {acc})"
    m, o = want.shape
    kind = c.choice(("matmul", "rhs", "lhs", "contract", "outer", "pairs"))
    block.writer.used[f"contract {kind}"] += 1
    if kind == "rhs":
        return f"I.matmul({operand(m, k)}, {operand(o, k)}, transpose_rhs=True, {acc})"
    if kind == "lhs":
        return f"I.matmul({operand(k, m)}, {operand(k, o)}, transpose_lhs=True, {acc})"
    if kind == "contract":
        return f"I.contract({operand(m, k)}, {operand(k, o)}, reduce=((1, 0),), {acc})"
    if kind == "outer":
        return f"I.outer({operand(m)}, {operand(o)}, {acc})"
    if kind == "pairs":
        two = number(2)
        return f"I.contract({operand(m, k, two)}, {operand(two, k, o)}, reduce=((1, 1), (2, 0)), {acc})"
    return f"I.matmul({operand(m, k)}, {operand(k, o)}, {acc})"


# ---- order and counts


@production("sort", 4, structured=True)
def sort(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if not want.rank or want.dtype == "bool":
        return None
    c = block.choices
    axis = c.integer(0, want.rank - 1)
    options = ", descending=True" if c.chance(30) else ""
    if want.dtype == "index" and c.chance(60):
        d = c.choice([d for d in block.writer.dtypes if d != "bool"])
        return f"I.argsort({value(block, want.of(d), fuel - 1, True)}, axis={axis}{options})"
    return f"I.sort({value(block, want, fuel - 1, True)}, axis={axis}{options})"


@production("topk", 8, structured=True)
def topk(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    few = [i for i, e in enumerate(want.shape or ()) if not e.name and 0 < e.plus < 5]
    if not few or want.shape is None or want.dtype == "bool":
        return None
    c = block.choices
    axis = c.choice(few)
    k = want.shape[axis].plus
    extent = c.choice((number(8), Extent("N", 1, k), number(k)))
    if extent.name and block.known is not None and extent.name not in block.known:
        return None
    shape = (*want.shape[:axis], extent, *want.shape[axis + 1 :])
    which = 1 if want.dtype == "index" and c.chance(60) else 0
    d = c.choice([d for d in block.writer.dtypes if d != "bool"]) if which else want.dtype
    inner = value(block, Type(d, shape), fuel - 1, True)
    return bound_part(block, f"I.topk({inner}, {k}, axis={axis})", 2, which)


@production("histogram", 3, structured=True)
def histogram(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if want.rank != 1 or not want.element.is_integer or want.shape is None:
        return None
    c = block.choices
    shape = some_shape(block, 2, 1)
    d = c.choice(("i32", "u8", "i64"))
    inner = value(block, Type(d, shape), fuel - 1, True)
    valid = f", valid={value(block, Type('bool', shape), fuel - 1, True)}" if c.chance(40) else ""
    return f"I.histogram({inner}, bins={want.shape[0]}, count_dtype=I.{want.dtype}{valid})"


# ---- computed places


def places(block: Block, shape: Shape | None, extent: Extent, fuel: int) -> str:
    """Coordinates inside of an extent that is above 0."""
    d = block.choices.choice(("index", "i32", "i64", "index", "u8"))
    inner = value(block, Type(d, shape), fuel - 1, True)
    at = inner if d == "index" else f"I.cast({inner}, I.index)"
    if block.choices.chance(70):
        return f"({at} % {extent if not extent.name else f'({extent})'})"
    return f"I.clamp({at}, 0, {extent.more(-1)})"


@production("gather", 10, structured=True)
def gather(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A tensor indexed by a tensor: in bounds by arithmetic, or with the lanes that are not masked."""
    if not want.rank or want.shape is None:
        return None
    c = block.choices
    rest = want.shape[1:]
    source = c.choice((number(8), number(5), Extent("N", 1, 1), Extent("M", 1, 2)))
    if source.name and block.known is not None and source.name not in block.known:
        source = number(8)
    valid = c.chance(40)
    if valid:
        source = some_extent(block)
    viewed = not block.closed and c.chance(60)
    if viewed:
        from_ = block.writer.source(want.dtype, (source, *rest)).name
    else:
        from_ = named_value(block, Type(want.dtype, (source, *rest)), fuel - 1, exact)
    subscripts = [":"] * len(rest)
    if not valid:
        at = places(block, want.shape[:1], source, fuel)
        if c.chance(30):
            at_tuple = tuple_of([at, *["slice(None)"] * len(rest)])
            return f"I.gather({from_}, {at_tuple})"
        return f"{from_}[{', '.join([at, *subscripts])}]"
    block.writer.used["masked gather"] += 1
    at = named_value(block, Type("index", want.shape[:1]), fuel - 1, True)
    inside = f"(0 <= {at} < {source})"
    inside = f"{inside}[{', '.join([':', *['None'] * len(rest)])}]" if rest else inside
    index = tuple_of([at, *["slice(None)"] * len(rest)])
    return f"I.gather({from_}, {index}, valid={inside}, fill={literal(block, want.dtype)})"


@production("element at a computed place", 4, closed=False)
def element(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """One element of a view, at a scalar that data decides."""
    if want.shape is not None:
        return None
    c = block.choices
    source = c.choice((number(8), Extent("N", 1, 1), number(3)))
    view = block.writer.source(want.dtype, (source,))
    if c.chance(40):
        block.writer.used["guarded element"] += 1
        other = block.writer.source(want.dtype, (Extent("N"),))
        at = block.bind(value(block, Type("index"), fuel - 1, True), Type("index"), True)
        return f"({other.name}[{at}] if 0 <= {at} < N else {literal(block, want.dtype)})"
    return f"{view.name}[{places(block, None, source, fuel)}]"


@production("random", 14)
def random(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if want.dtype not in ("f32", "u32") or block.closed:
        return None
    c = block.choices
    kind = "bits" if want.dtype == "u32" else c.choice(("uniform", "uniform", "normal"))
    if kind == "normal" and exact:
        kind = "uniform"
    seed = c.choice(("7", value(block, Type("u64"), 0, True)))
    counter = value(block, want.of(c.choice(("index", "u32", "i64"))), fuel - 1, True)
    return f"I.random.{kind}({seed}, {counter})"


@production("promised element", 4, closed=False)
def promised(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A place that is inside because the author says so, and is."""
    if want.shape is not None and want.rank != 1:
        return None
    view = block.writer.source(want.dtype, (number(8),))
    at = value(block, Type("i32", want.shape), fuel - 1, True)
    return f"{view.name}[I.assume_in_bounds({at} & 7, {view.name})]"
