"""Statements in which summaries go together as wholes, states move, conditions take a loop, rows are as long as memory
says, and what accesses found is asked for elsewhere.

They come behind everything else of a kernel, so that seeds stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .writer import Block, Extent, indented, number

N, M = Extent("N"), Extent("M")


def _functions(block: Block, *heads: tuple[str, str]) -> list[str]:
    """Helpers of these parameters and bodies; their names."""
    names = []
    for parameters, body in heads:
        names.append(block.writer.fresh("whole"))
        block.writer.helpers.append(
            "\n".join([f"@intent.fn\ndef {names[-1]}({parameters}):", *indented(body.split("\n"))])
        )
    return names


def _small(block: Block, *shape: Extent) -> str:
    """A tensor of a few small numbers."""
    source = block.writer.source("i32", shape)
    return f"({source.name}[{', '.join(':' for _ in shape)}] & 15)"


def _output(block: Block, *shape: Extent, dtype: str = "i32") -> str:
    view = block.writer.view(block.output, dtype, shape)
    block.writer.busy.add(view.name)
    return view.name


def product(block: Block) -> None:
    """Matrices whose product a region makes."""
    x = _small(block, N)
    summarize, combine = _functions(
        block,
        (
            "x",
            "i = I.indices(I.domain(0, 2))\nunit = I.cast(i[:, None] == i[None, :], I.i32)\n"
            "return I.select(i[:, None] < i[None, :], I.reduce.sum(x, axis=0), unit)",
        ),
        ("a, b", "return I.matmul(a, b, acc_dtype=I.i32)"),
    )
    i, y = block.writer.fresh("t"), _output(block, number(2), number(2))
    block.write(f"{i} = I.indices(I.domain(0, 2))")
    block.write(f"{y}[:, :] = I.region_fold({x}, 0, summarize={summarize}, combine={combine}, "
                f"identity=I.cast({i}[:, None] == {i}[None, :], I.i32))")  # fmt: skip


def permutation(block: Block) -> None:
    """Permutations, one after the other: a gather of summaries, which a loop asks for at places of its own."""
    x = _small(block, N)
    summarize, combine = _functions(
        block,
        ("x", "return (I.indices(I.domain(0, 5)) + I.cast(I.reduce.sum(x, axis=0), I.index)) % 5"),
        ("a, b", "return I.gather(b, (I.assume_in_bounds(a, b, axis=0),))"),
    )
    fold = f"I.region_fold({x}, 0, summarize={summarize}, combine={combine}, identity=I.indices(I.domain(0, 5)))"
    y, t = _output(block, number(5), dtype="index"), block.writer.fresh("t")
    block.write(f"{t} = {fold}")
    block.write(f"{y}[:] = {block.choices.choice((t, f'I.flip({t}, 0) * {t}'))}")


def scores(block: Block) -> None:
    """Scores of which the best is zero: a reduction of summaries."""
    x = _small(block, N, M)
    summarize, combine = _functions(
        block,
        ("x", "sums = I.reduce.sum(x, axis=0)\nreturn sums - I.reduce.max(sums, axis=0)"),
        ("a, b", "return (a + b) - I.reduce.max(a + b, axis=0)"),
    )
    y = _output(block, M)
    block.write(f"{y}[:] = I.region_fold({x}, 0, summarize={summarize}, combine={combine}, "
                f"identity=I.zeros((M,), I.i32))")  # fmt: skip


SWEEP: Final = (
    ("x", "return I.reduce.sum(x, axis=0)"),
    ("a, b", "return a + b"),
    ("x, state", "return I.cumsum(x, axis=0) + state"),
)


def _sweep(block: Block, x: str, state: str) -> str:
    total, plus, running = _functions(block, *SWEEP)
    return (
        f"I.region_scan({x}, 0, summarize={total}, combine={plus}, identity=0, initial_state={state}, apply={plus}, "
        f"emit={running})"
    )


def condition(block: Block) -> None:
    """A region scan that decides whether a loop goes on."""
    w = block.writer
    x, n = _small(block, N), w.fresh("i")
    found = _sweep(block, x, n)
    y = _output(block)
    block.write(f"{n} = I.cast(0, I.i32)")
    block.write(f"while I.reduce.max({found}[0], axis=0) < {block.choices.integer(3, 60)} and {n} < 9:")
    block.write(f"    {n} += 1")
    block.write(f"{y}[()] = {n}")


def rows(block: Block) -> None:
    """Rows between offsets that an earlier statement wrote: carried, moved, in order, in a buffer, in place."""
    w, c = block.writer, block.choices
    offsets, x = w.view(block.output, "i32", (Extent("N", 1, 1),)), w.source("i32", (M,))
    out = w.view("InOut", "i32", (M,))
    w.busy |= {offsets.name, out.name}
    r, p, t, b = (w.fresh(s) for s in ("rows", "p", "t", "b"))
    block.write(f"{offsets.name}[:] = I.cast(I.minimum(I.indices(I.domain(0, N + 1)) * {c.integer(1, 3)}, M), I.i32)")
    block.write(f"{r} = I.ragged(I.domain(0, N), I.domain(0, M), {offsets.name})")
    block.write(f"for {p} in I.parallel(I.domain(0, N)):")
    inner: list[str] = [f"{t} = {x.name}[{r}[{p}]]"]
    for kind in [c.integer(0, 4) for _ in range(c.integer(1, 2))]:
        if kind == 0:
            inner += [f"for _ in range({c.integer(1, 3)}):", f"    {t} = {t} - I.reduce.max({t}, axis=0) // 2"]
        elif kind == 1:
            inner += ["for _ in range(2):", f"    {t} = {t} + I.flip({t}, 0)"]
        elif kind == 2:
            inner.append(f"{t} = I.sort({t}, axis=0) + I.flip({t}, 0)")
        elif kind == 3:
            inner += [f"{b} = I.buffer({t}.shape, I.i32)", f"{b}[:] = {t}", f"{t} = I.flip({b}[:], 0)"]
        else:
            inner.append(f"{t}, _ = {_sweep(block, t, f'I.cast({p}, I.i32)')}")
    inner.append(f"{out.name}[{r}[{p}]] = {t}")
    block.lines += indented(inner)


def found(block: Block) -> None:
    """What accesses that change nothing found, at places of its own, elsewhere, and combined."""
    w = block.writer
    x, z = _small(block, N), w.view("InOut", "i32", (number(7),))
    w.busy.add(z.name)
    t, y = w.fresh("t"), _output(block, N)
    block.write(f"{t} = I.atomic.add({z.name}, index=(I.cast({x}, I.index) % 7,), value=0)")
    asked = block.choices.choice((t, f"I.flip({t}, 0)", f"I.cumsum({t}, axis=0)", f"{t} - I.reduce.max({t}, axis=0)"))
    block.write(f"{y}[:] = {asked}")


WHOLES: Final[dict[str, Callable[[Block], None]]] = {
    "product of summaries": product,
    "gather of summaries": permutation,
    "reduction of summaries": scores,
    "region scan in a condition": condition,
    "rows of memory": rows,
    "found elsewhere": found,
}


def wholes(block: Block) -> None:
    """One of them."""
    name = block.choices.choice(list(WHOLES))
    block.writer.used[name] += 1
    WHOLES[name](block)
