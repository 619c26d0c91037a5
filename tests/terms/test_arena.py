"""Arenas nest, may be entered again, and hold one term for all threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from intent_np.terms.core import Arena, arena
from intent_np.terms.index import Extent, add, const


def test_an_arena_may_be_entered_again() -> None:
    before, one, two = arena(), Arena(), Arena()
    with one, two, one:
        assert arena() is one
        with two:
            assert arena() is two
        assert arena() is one
    assert arena() is before


def test_threads_that_share_an_arena_share_its_terms() -> None:
    space, start = Arena(), Barrier(4)

    def build(_: int) -> list[object]:
        with space:
            start.wait()
            return [add(Extent(f"N{i}"), const(i)) for i in range(2000)]

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(build, range(4))
    for other in others:
        assert all(a is b for a, b in zip(first, other, strict=True))
