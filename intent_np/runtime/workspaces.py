"""Memory of a kernel's own, which a call does not see: its buffers, and what the provider spills."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from intent_np.runtime.launch import Driver, Memory

KEPT: Final = 32 << 20
"""Bytes of the largest piece that an artifact keeps between calls."""


class Pieces(dict[tuple[str, bool, int, int], "tuple[int, Memory]"]):
    """The pieces that are held, by name, whether they are zeroed, device and stream; never changed, but replaced."""


class Workspaces:
    """Device memory, one piece for each name, device and stream, that grows when a call needs more.

    Launches of one stream run in order, so that the calls of an artifact share a piece.  A large one goes back to the
    pool behind its launch instead.  A prepared launch has pieces of its own, for whatever stream it is sent to, and
    keeps all of them: a graph keeps the addresses.
    """

    filled: ClassVar[int | None] = None
    """For tests: what every byte of memory of any contents is before each launch; None leaves it as it is."""

    def __init__(self, *, prepared: bool = False) -> None:
        self._prepared = prepared
        self.pieces = Pieces()

    def memory(self, driver: Driver, name: str, device: int, stream: int, size: int, zeroed: bool = False) -> Memory:
        """At least `size` bytes, for one launch on `stream`: hold them until it is there.  They were zeroed when they
        were allocated, unless there are more than `KEPT`; `zeroed` ones, which launches leave so, always were."""
        memory = self._piece(driver, name, device, stream, size, zeroed)
        if self.filled is not None and size and not zeroed:
            driver.fill(memory.pointer, self.filled, size, device, stream)
        return memory

    def _piece(self, driver: Driver, name: str, device: int, stream: int, size: int, zeroed: bool) -> Memory:
        key = name, zeroed, device, -1 if self._prepared else stream
        held, memory = self.pieces.get(key, (-1, None))
        if memory is None or held < size:
            if size > KEPT and not (self._prepared or zeroed):
                return driver.allocate(size, device, stream)
            memory = driver.zeros(max(size, 1), device, stream)
            self.pieces = Pieces(self.pieces | {key: (size, memory)})
        return memory

    def keeps(self, memory: list[Memory]) -> bool:
        """Whether these pieces are held as they are, so that a launch may take them again without asking, as long as
        `pieces` are the same."""
        return self.filled is None and all(any(m is one for _, one in self.pieces.values()) for m in memory)

    def clear(self) -> None:
        """Forget all memory: after an error its contents are unknown, and zeros may be none any more."""
        self.pieces = Pieces()
