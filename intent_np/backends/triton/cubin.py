"""What a cubin says about itself: registers, stack and parameters, read without a GPU and without tools.

A cubin is an ELF file.  The `.nv.info` sections hold records of `format, attribute, payload`; the few that are
read here have kept their numbers through every CUDA release with 64-bit cubins.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_FRAME_SIZE: Final = 0x11  # payload: symbol, bytes of stack a thread
_REGISTERS: Final = 0x2F  # payload: symbol, registers a thread
_PARAMETER: Final = 0x17  # payload: index, ordinal, offset, flags with the size in the upper 14 bits
_SIZED: Final = 0x04  # the record format whose payload has a length of its own


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of the one kernel in a cubin.

    registers:   32-bit registers a thread
    stack_bytes: local memory a thread; spilled registers are in it
    parameters:  `(offset, size)` in bytes of each kernel parameter, in order
    """

    registers: int
    stack_bytes: int
    parameters: tuple[tuple[int, int], ...]


def resources(cubin: bytes) -> Resources:
    """The resources of a cubin with one kernel; `ValueError` if it is no 64-bit ELF file."""
    registers = stack = 0
    parameters: list[tuple[int, int, int]] = []
    for name, content in _sections(cubin):
        if not name.startswith(".nv.info"):
            continue
        for attribute, payload in _records(content):
            if attribute == _FRAME_SIZE:
                stack = max(stack, struct.unpack("<II", payload)[1])
            elif attribute == _REGISTERS:
                registers = max(registers, struct.unpack("<II", payload)[1])
            elif attribute == _PARAMETER:
                _, ordinal, offset, flags = struct.unpack("<IHHI", payload)
                parameters.append((ordinal, offset, flags >> 18))
    return Resources(registers, stack, tuple((offset, size) for _, offset, size in sorted(parameters)))


def _sections(elf: bytes) -> Iterator[tuple[str, bytes]]:
    if elf[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", elf, 40)
    entry_size, count, names_index = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * entry_size) for i in range(count)]
    names_at = headers[names_index][4]
    for name_offset, kind, _, _, offset, size in headers:
        start = names_at + name_offset
        name = elf[start : elf.index(b"\0", start)].decode()
        if kind != 8:  # a section without bits in the file
            yield name, elf[offset : offset + size]


def _records(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(content):
        form, attribute, length = struct.unpack_from("<BBH", content, at)
        size = length if form == _SIZED else 0
        yield attribute, content[at + 4 : at + 4 + size]
        at += 4 + size
