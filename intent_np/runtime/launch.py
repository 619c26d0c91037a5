"""One call pattern, resolved: a function handle, a grid and a parameter block in which only pointers change.

A launch is reused for every call with the same dtypes, shapes, strides and pointer residues, so that a warm call
(`direct`) costs a key, a lookup, one `struct.pack_into` and the driver's own time.
"""

from __future__ import annotations

import ctypes
import functools
import math
import struct
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple, Protocol

from intent_np.errors import error
from intent_np.runtime.aliases import Relation, Span, relation
from intent_np.runtime.direct import entry
from intent_np.runtime.expressions import expression
from intent_np.runtime.plan import MAX_PROGRAMS, KernelPlan, ScalarPlan, VariantPlan
from intent_np.runtime.workspaces import Workspaces

_SCRATCH: Final = "scratch of the provider"

_RESIDUE: Final = 16  # bytes modulo which a copy lies as what it is of

_SLOT: Final = 8  # every parameter has a slot of its own; the device reads as many bytes of it as its type has
_FORMATS: Final = {
    "bool": "?7x", "i8": "b7x", "i16": "h6x", "i32": "i4x", "i64": "q", "index": "q",
    "u8": "B7x", "u16": "H6x", "u32": "I4x", "u64": "Q", "f16": "e6x", "bf16": "H6x", "f32": "f4x", "f64": "d",
}  # fmt: skip


class Memory(Protocol):
    """Device memory that lives as long as this object."""

    pointer: int


class Driver(Protocol):
    """The device: what a launch needs of CUDA."""

    launch: Callable[..., Any]
    """`launch(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, 0)`; `parameters` is an address."""

    current_device: Callable[[], int]

    several: bool
    """Whether there is another device, which may be the current one."""

    def load(self, cubin: bytes, entry: str, shared_bytes: int, device: int) -> int:
        """A function handle that stays valid; dynamic shared memory up to `shared_bytes` is allowed for it."""

    def on(self, device: int, stream: int | None = None) -> AbstractContextManager[Any]:
        """Make `device`, with its context, and `stream` if given, current for the thread."""

    def zeros(self, size: int, device: int, stream: int) -> Memory:
        """Zeroed memory, ordered on `stream`."""

    def allocate(self, size: int, device: int, stream: int) -> Memory:
        """Memory of any contents, ordered on `stream`."""

    def fill(self, target: int, value: int, size: int, device: int, stream: int) -> None:
        """Set bytes at an address, ordered on `stream`."""

    def copy(self, target: int, source: int, size: int, device: int, stream: int) -> None:
        """Copy bytes between addresses of a device, ordered on `stream`."""

    def duplicate(self, pointer: int, size: int, device: int, stream: int) -> Memory:
        """A copy of `size` bytes at an address with the same residue modulo 16, ordered on `stream`."""

    def capability(self, device: int) -> tuple[int, int]:
        """Compute capability."""

    def upload(self, array: Any, device: int, contents: bool) -> Any:
        """An array of the device, of a library known to `arrays`, with the shape of the NumPy `array`, and with
        its contents if asked."""

    def wait(self, device: int) -> None:
        """Wait until everything that was sent to `device`, on whatever stream, is done."""

    def download(self, source: Any, target: Any) -> None:
        """Copy an array made by `upload` into a NumPy array, and wait for it."""


class Layout:
    """Slots of a kernel's parameters: how the values of a call, in order, are packed."""

    def __init__(self, kernel: KernelPlan) -> None:
        self.slots = {one.name: index for index, one in enumerate(kernel.parameters)}
        formats = [_FORMATS[one.dtype] if isinstance(one, ScalarPlan) else "Q" for one in kernel.parameters]
        self.pack = struct.Struct("<" + "".join(formats)).pack_into


class Block(NamedTuple):
    """Parameter memory: the slots, and the array of their addresses that the driver reads at `address`."""

    memory: Any
    pointers: Any
    address: int


class Piece(NamedTuple):
    """Memory of a launch's own: its name, the slot of its address, and bytes, of zeros or of anything."""

    name: str
    slot: int
    size: int
    zeroed: bool = False


def programs(variant: VariantPlan, values: Mapping[str, int]) -> int:
    """How many programs a launch of the variant has, for the extents and scalars of a call."""
    return math.prod(expression(text)(values) for text in variant.grid)


class Launch:
    """A resolved call pattern; call it with the values of the parameters, pointers and scalars in order."""

    def __init__(
        self,
        driver: Driver,
        kernel: KernelPlan,
        variant: VariantPlan,
        handle: int,
        device: int,
        values: Mapping[str, int],
        layout: Layout,
        spans: tuple[Span, ...],
        current_stream: Callable[[], int],
        workspaces: Workspaces,
        reaches: Mapping[str, tuple[int, int]],
    ) -> None:
        """values: what expressions may name, of the call that is resolved; spans: its pairs of arrays; reaches: where
        each of its arrays begins and ends, in bytes from its pointer."""
        self.kernel, self.variant, self.device = kernel, variant, device
        self._plan_aliases(spans)
        self.handle = handle
        self.threads = 32 * variant.num_warps
        self.programs = programs(variant, values)
        if self.programs > MAX_PROGRAMS:
            raise error("E416", kernel=kernel.name, found=f"{self.programs} programs")
        self.current_stream = current_stream
        self._driver, self._pack, self._fire = driver, layout.pack, driver.launch
        self._current_device = driver.current_device
        self._plan_slots(layout, values, reaches)
        # Concurrent calls each take a block; a call that finds none makes one.
        self._free = [self._new_block()]
        self._workspaces = workspaces
        self._known: tuple[Any, int, list[tuple[int, int]]] | None = None
        plain = self.programs and not (self._copies or self._originals)
        self.enter = self._entry(layout) if plain else self._entered

    def _entry(self, layout: Layout) -> Callable[..., bool]:
        """`enter` where nothing has to be done but to launch."""
        numbers: dict[str, int] = {}
        for index, (_, before, _, behind, identical) in enumerate(self._apart):
            numbers |= {f"low{index}": before, f"high{index}": behind, f"same{index}": 0 if identical else behind}
        pairs = [(one[0], one[2]) for one in self._apart]
        make = entry(len(layout.slots), pairs, self._driver.several, bool(self._sizes))
        return make(
            **numbers, take=self._free.pop, give=self._free.append, new=self._new_block, pack=self._pack,
            fire=self._fire, handle=self.handle, programs=self.programs, threads=self.threads,
            shared=self.variant.shared_bytes, stream=self.current_stream, again=self._again,
            device=self.device, current_device=self._current_device, elsewhere=self,
            reserve=functools.partial(self._reserve, self._workspaces),
        )  # fmt: skip

    def _entered(self, *values: Any) -> bool:
        """Launch with these values, unless their arrays share memory in a way that the device code is not made for;
        whether it did."""
        if not self.fits(values):
            return False
        self(values)
        return True

    def related(self, launches: Mapping[Any, Launch], key: Any, values: Sequence[Any]) -> bool:
        """Launch what is known for calls of this pattern whose arrays share memory as these do; whether it did."""
        found = launches.get((key, self.relation(values)))
        if found is None:
            return False
        found(values)
        return True

    def _plan_aliases(self, spans: tuple[Span, ...]) -> None:
        """Note which pairs must be disjoint, and which may also be one array; and what is copied at a launch."""
        names = [one.name for one in self.kernel.parameters]
        self._spans = spans
        held = [one for one in spans if one.begin != one.end and one.second_begin != one.second_end]
        safe = frozenset(self.variant.identical)
        self._apart = [
            (first, begin - other_end, second, end - other_begin, alike and (names[first], names[second]) in safe)
            for first, begin, end, second, other_begin, other_end, alike in held
        ]
        copied = self.variant.holds.copied
        self._copies = {one.first: (one.begin, one.end - one.begin) for one in spans if names[one.first] in copied}

    def _plan_slots(self, layout: Layout, values: Mapping[str, int], reaches: Mapping[str, tuple[int, int]]) -> None:
        """Decide which slot each argument of the device function reads, and the constant slots."""
        self._constants: list[int] = []
        self._sizes: list[Piece] = []
        self._originals: dict[int, tuple[int, int, int]] = {}  # of those that are copies: slot, begin and bytes
        self._order: list[int] = []
        first = len(layout.slots)

        def constant(value: int) -> int:
            self._constants.append(value)
            return first + len(self._constants) - 1

        for argument in self.variant.arguments:
            if argument.kind in ("workspace", "counter"):
                slot = constant(0)
                size = max(0, expression(argument.source)(values))
                self._sizes.append(Piece(argument.name, slot, size, argument.kind == "counter"))
            elif argument.kind == "copy":
                slot = constant(0)
                begin, end = reaches[argument.source]
                self._originals[slot] = layout.slots[argument.source], begin, end - begin
                self._sizes.append(Piece(argument.name, slot, end - begin + _RESIDUE))
            elif argument.source in layout.slots:
                slot = layout.slots[argument.source]
            else:
                slot = constant(expression(argument.source)(values))
            self._order.append(slot)
        scratch = constant(0)
        if self.variant.scratch_bytes:
            self._sizes.append(Piece(_SCRATCH, scratch, self.variant.scratch_bytes * self.programs))
        self._order += [scratch, constant(0)]
        self._first = first

    def _new_block(self) -> Block:
        memory = (ctypes.c_uint64 * (self._first + len(self._constants)))()
        for index, value in enumerate(self._constants):
            memory[self._first + index] = value & 0xFFFF_FFFF_FFFF_FFFF
        base = ctypes.addressof(memory)
        pointers = (ctypes.c_void_p * len(self._order))(*(base + _SLOT * slot for slot in self._order))
        return Block(memory, pointers, ctypes.addressof(pointers))

    def fits(self, values: Sequence[Any]) -> bool:
        """Whether the arrays of this call share memory in no way that the device code is not made for."""
        for first, before, second, behind, identical in self._apart:
            distance = values[second] - values[first]
            if before < distance < behind and not (identical and distance == 0):
                return False
        return True

    def relation(self, values: Sequence[Any]) -> Relation:
        """What the arrays of this call are to each other."""
        return relation(self._spans, values)

    def __call__(self, values: Sequence[Any]) -> None:
        """Launch on the current stream.  `struct.error` or `OverflowError` if a scalar does not fit."""
        if not self.programs:
            return
        copies: list[Memory] = []  # freed in stream order, after the launch
        if self._copies:
            values = self._copied(values, copies)
        try:
            block = self._free.pop()
        except IndexError:
            block = self._new_block()
        try:
            self._pack(block.memory, 0, *values)
            self.fire(block, self._workspaces)
        finally:
            self._free.append(block)
            copies.clear()

    def _copied(self, values: Sequence[Any], kept: list[Memory]) -> list[Any]:
        """The values with copies, held by `kept`, in the place of the inputs that share memory with outputs."""
        changed = list(values)
        stream = self.current_stream()
        for slot, (begin, size) in self._copies.items():
            memory = self._driver.duplicate(changed[slot] + begin, size, self.device, stream)
            changed[slot] = memory.pointer - begin
            kept.append(memory)
        return changed

    @property
    def copies(self) -> bool:
        """Whether each launch copies inputs first."""
        return bool(self._copies)

    def packed(self, values: Sequence[Any]) -> Block:
        """A block of its own with these values, for a prepared launch."""
        block = self._new_block()
        self._pack(block.memory, 0, *values)
        return block

    def fire(self, block: Block, workspaces: Workspaces) -> None:
        """Launch with a packed block."""
        stream = self.current_stream()
        try:
            if self._current_device() == self.device:
                self._fire_on(stream, block, workspaces)
            else:
                with self._driver.on(self.device):
                    self._fire_on(stream, block, workspaces)
        except Exception as problem:
            self._again(problem, block, workspaces)

    def _fire_on(self, stream: int, block: Block, workspaces: Workspaces) -> None:
        held = self._reserve(workspaces, stream, block) if self._sizes else None
        for slot, (source, begin, size) in self._originals.items():
            first = block.memory[source] + begin
            block.memory[slot] += (first - block.memory[slot]) % _RESIDUE
            if size:
                self._driver.copy(block.memory[slot], first, size, self.device, stream)
            block.memory[slot] -= begin
        self._fire(
            self.handle, self.programs, 1, 1, self.threads, 1, 1,
            self.variant.shared_bytes, stream, block.address, 0,
        )  # fmt: skip
        del held  # not before: in another thread, a call that needs more memory may have replaced it

    def _reserve(self, workspaces: Workspaces, stream: int, block: Block) -> Any:
        """Give a block the workspaces of a launch: what has to be held until it is there."""
        pieces, known = workspaces.pieces, self._known
        if known is not None and known[0]() is pieces and known[1] == stream:
            memory = block.memory
            for slot, pointer in known[2]:
                memory[slot] = pointer
            return pieces
        held = []
        for name, slot, size, zeroed in self._sizes:
            piece = workspaces.memory(self._driver, name, self.device, stream, size, zeroed)
            block.memory[slot] = piece.pointer
            held.append(piece)
        if workspaces.keeps(held):
            slots = [(one.slot, piece.pointer) for one, piece in zip(self._sizes, held, strict=True)]
            self._known = weakref.ref(workspaces.pieces), stream, slots
        return held

    def repeated(self, block: Block, workspaces: Workspaces) -> Callable[[], None]:
        """What launches with a packed block."""
        if not self.programs:
            return lambda: None
        if self._sizes:  # before a graph may be recorded
            try:
                self._reserve(workspaces, self.current_stream(), block)
            except Exception as problem:
                raise self._failed(problem) from problem
        if self._sizes or self._driver.several:
            return functools.partial(self.fire, block, workspaces)
        fire, handle, programs, threads = self._fire, self.handle, self.programs, self.threads
        shared, stream, address, again = self.variant.shared_bytes, self.current_stream, block.address, self._again

        def launch() -> None:
            try:
                fire(handle, programs, 1, 1, threads, 1, 1, shared, stream(), address, 0)
            except Exception as problem:
                again(problem, block)

        return launch

    def _again(self, problem: Exception, block: Block, workspaces: Workspaces | None = None) -> None:
        """Launch once more where only the thread was not ready; `ProviderError` E604 for any other problem."""
        workspaces = workspaces or self._workspaces
        if "INVALID_CONTEXT" in str(problem):  # the thread never used the device
            try:
                stream = self.current_stream()
                with self._driver.on(self.device):
                    self._fire_on(stream, block, workspaces)
                return
            except Exception as other:
                problem = other
        workspaces.clear()
        raise self._failed(problem) from problem

    def _failed(self, problem: Exception) -> Exception:
        text = str(problem)
        causes = {
            "OUT_OF_RESOURCES": "a block needs more registers or shared memory than a multiprocessor has",
            "INVALID_VALUE": "more shared memory or threads than the device allows",
            "ILLEGAL_ADDRESS": "an earlier launch accessed memory outside its arrays",
            "INVALID_HANDLE": "the stream or the module belongs to another device",
            "Out of memory": "each point of the call has buffers of its own, and there are too many for the device",
        }
        likely = next((cause for word, cause in causes.items() if word in text), "")
        own = sum(piece.size for piece in self._sizes)
        found = f"grid {self.programs}, block {self.threads}, {self.variant.shared_bytes} bytes of shared memory"
        return error(
            "E604",
            kernel=self.kernel.name,
            found=found + (f", {own} bytes of workspace" if own else ""),
            detail=text,
            fix=f"likely {likely}" if likely else "",
        )
