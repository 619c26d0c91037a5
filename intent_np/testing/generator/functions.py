"""Productions of helpers, and of what stands in control flow: values that statements make."""

from __future__ import annotations

from .values import known_extents, production, shape_text, value
from .writer import Block, Named, Point, Type, indented, number


def condition(block: Block, fuel: int) -> str:
    """A scalar that decides: the same everywhere."""
    return value(block, Type("bool"), min(fuel, 2), True)


@production("helper", 10)
def helper(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A function of values: several returns, defaults, a tuple or a record as its result."""
    if block.writer.count["helper"] > 4:
        return None
    c, w = block.choices, block.writer
    inner = Block(w, closed=True)
    precise = exact or not want.element.is_float
    given: list[str] = []
    names: list[str] = []
    shapes = list(want.shape or ())
    for i in range(c.integer(1, 3)):
        kind = want if i == 0 else Type(c.choice(w.dtypes), c.choice((None, want.shape)))
        name = "abc"[i]
        given.append(value(block, kind, fuel - 1, precise or not kind.element.is_float))
        names.append(name)
        inner.names.append(Named(name, kind, precise or not kind.element.is_float))
    extents = tuple(dict.fromkeys(e.name for e in shapes if e.name))
    inner.known = extents
    parameters = [*names, *extents]
    called = [*given, *extents]
    if c.chance(30) and want.element.is_float:
        parameters.append("factor=0.5")
        if c.chance(50):
            called.append("factor=2.0")
        w.used["default argument"] += 1
        factor = "factor"
    else:
        factor = ""
    grouping = c.weighted((("one", 5), ("tuple", 2), ("record", 2)))
    body: list[str] = []
    if want.shape is None and c.chance(50):
        early = Block(w, inner)
        test = condition(inner, 1)
        result = value(early, want, 1, exact)
        body_early = [f"if {test}:", *indented([*early.lines, returned(grouping, result)])]
        inner.lines += body_early
        w.used["several returns"] += 1
    result = value(inner, want, min(fuel - 1, 2), exact)
    if factor:
        result = f"({result} * {factor})" if not exact else f"I.maximum({result}, {factor})"
    inner.write(returned(grouping, result))
    body = inner.lines
    name = w.fresh("helper")
    w.helpers.append("\n".join(["@intent.fn", f"def {name}({', '.join(parameters)}):", *indented(body)]))
    call = f"{name}({', '.join(called)})"
    if grouping == "tuple":
        w.used["tuple"] += 1
        block.write(f"{(got := w.fresh('t'))}, _ = {call}")
        return got
    if grouping == "record":
        w.used["record"] += 1
        return f"{call}.value"
    return call


def returned(grouping: str, result: str) -> str:
    if grouping == "record":
        return f"return I.record(value={result}, other=1)"
    return f"return {result}, 1" if grouping == "tuple" else f"return {result}"


@production("coordinate from a helper", 4, closed=False)
def moved(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A read at what a helper makes of a coordinate: the proof goes through it."""
    points = block.every_point()
    if want.shape is not None or not points:
        return None
    w, c = block.writer, block.choices
    p = c.choice(points)
    k = c.integer(1, 3)
    name = w.fresh("place")
    if c.chance(50):
        body, extent = f"return i + {k}", p.extent.more(k)
    else:
        body, extent = f"return {k} * i, i", p.extent.multiple(k)
    w.helpers.append("\n".join(["@intent.fn", f"def {name}(i):", f"    {body}"]))
    view = w.source(want.dtype, (extent,))
    if ", i" in body:
        at = w.fresh("i")
        block.write(f"{at}, _ = {name}({p.code})")
        return f"{view.name}[{at}]"
    return f"{view.name}[{name}({p.code})]"


@production("carry", 12, closed=False)
def carry(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """What an ordered loop makes of a value; ways out of it."""
    c, w = block.choices, block.writer
    if w.count["acc"] > 3:
        return None
    precise = exact or not want.element.is_float
    start = value(block, want, fuel - 1, precise)
    name = w.fresh("acc")
    block.write(f"{name} = {start}")
    i = w.fresh("i")
    extent = c.choice((number(3), *known_extents(block)))
    kind = c.weighted((("domain", 4), ("range", 3), ("while", 2), ("step", 1), ("enumerate", 1)))
    w.used[f"ordered loop by {kind}"] += 1
    head = {
        "domain": f"for {i} in I.domain(0, {extent}):", "range": f"for {i} in range({extent}):",
        "step": f"for {i} in range(0, {extent}, 2):",
        "enumerate": f"for o{i}, {i} in enumerate(I.domain(0, {extent})):",
    }.get(kind, "")  # fmt: skip
    inner = Block(w, block)
    inner.names.append(Named(name, want, precise))
    if kind == "while":
        block.write(f"{i} = I.cast(0, I.i32)")
        head = f"while {i} < 3:"
        inner.write(f"{i} += 1")
        inner.names.append(Named(i, Type("i32"), True))
    else:
        inner.points.append(Point(i, extent))
    leaves = c.weighted((("", 4), ("break", 2), ("continue", 2)))
    if leaves:
        test = condition(inner, 1)
        inner.write(f"if {test}:")
        inner.write(f"    {leaves}")
        w.used[leaves] += 1
    result = value(inner, want, min(fuel - 1, 2), precise)
    inner.write(f"{name} = {result}")
    block.write(head)
    block.lines += indented(inner.lines)
    block.names.append(Named(name, want, precise))
    return name


@production("branch", 8)
def branch(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A name that both sides of an `if` give a value."""
    if block.closed:
        return None
    c, w = block.choices, block.writer
    precise = exact or not want.element.is_float
    kind = c.weighted((("run time", 4), ("constexpr", 2), ("enum", 1)))
    if kind == "run time":
        test = condition(block, fuel - 1)
    elif kind == "constexpr":
        name = w.fresh("FLAG")
        w.constexprs[name] = f"I.Constexpr[bool] = {c.choice(('True', 'False'))}"
        test = name
    else:
        name = w.fresh("MODE")
        w.enums.append(name)
        w.constexprs[name] = f"I.Constexpr[Mode] = Mode.{c.choice(('FIRST', 'SECOND'))}"
        test = f"{name} == Mode.FIRST"
    w.used[f"branch at {kind}"] += 1
    name = w.fresh("t")
    for head in (f"if {test}:", "else:"):
        inner = Block(w, block)
        result = value(inner, want, fuel - 1, precise)
        inner.write(f"{name} = {result}")
        block.write(head)
        block.lines += indented(inner.lines)
    block.names.append(Named(name, want, precise))
    return name


@production("constexpr", 3, leaf=True, closed=False)
def constexpr(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A constant of the program, in an expression."""
    w, c = block.writer, block.choices
    if want.shape is not None or want.dtype == "bool" or want.dtype.startswith("f8"):
        return None
    floating = want.element.is_float
    kind = "float" if floating else "int"
    alike = [n for n, text in w.constexprs.items() if f"[{kind}]" in text]
    name = c.choice(alike) if alike and c.chance(60) else w.fresh("C")
    w.constexprs.setdefault(name, f"I.Constexpr[{kind}] = {c.choice(('0.5', '2.0') if floating else ('2', '3', '5'))}")
    return f"I.cast({name}, I.{want.dtype})"


@production("buffer", 5, closed=False)
def buffer(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """Memory of the kernel's own: filled, partly written again, read."""
    if want.shape is None or want.rank == 0 or block.writer.count["buffer"] > 1:
        return None
    c, w = block.choices, block.writer
    precise = exact or not want.element.is_float
    name = w.fresh("buffer")
    first = value(block, want.of(want.dtype), fuel - 1, precise)
    if c.chance(50):
        block.write(f"{name} = I.buffer({shape_text(want.shape)}, I.{want.dtype}, init={first})")
    else:
        block.write(f"{name} = I.buffer({shape_text(want.shape)}, I.{want.dtype})")
        block.write(f"{name}[...] = {first}")
    if c.chance(60):
        again = value(block, want, fuel - 1, precise)
        block.write(f"{name}[{', '.join([':'] * want.rank)}] = {again}")
    return f"{name}[{', '.join([':'] * want.rank)}]"


@production("carried product", 5, closed=False)
def carried(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A tuple or a record that an ordered loop carries, or a loop over a tuple, which is unrolled."""
    c, w = block.choices, block.writer
    if w.count["pair"] > 1:
        return None
    precise = exact or not want.element.is_float
    first, second = (value(block, want, fuel - 1, precise) for _ in range(2))
    name, i = w.fresh("pair"), w.fresh("i")
    kind = c.choice(("tuple", "record", "unrolled"))
    w.used[f"carried {kind}"] += 1
    if kind == "unrolled":
        total = w.fresh("acc")
        block.write(f"{total} = {first}")
        block.write(f"for {i} in ({second}, {total}):")
        block.write(f"    {total} = I.select({total} == {i}, {total}, {i})")
        return total
    if kind == "tuple":
        block.write(f"{name} = ({first}, {second})")
        block.write(f"for {i} in range({c.integer(1, 3)}):")
        block.write(f"    {name} = ({name}[1], {name}[0])")
        return f"{name}[{c.integer(0, 1)}]"
    block.write(f"{name} = I.record(a={first}, b={second})")
    block.write(f"for {i} in range({c.integer(1, 3)}):")
    block.write(f"    {name} = I.record(a={name}.b, b={name}.a)")
    return f"{name}.{c.choice('ab')}"
