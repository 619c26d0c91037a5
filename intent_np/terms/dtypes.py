"""Element types: the closed set that terms, machines and providers share.

A `DType` is an immutable singleton; `f32 is dtype("f32")`.  `index` is a signed 64-bit integer everywhere in
meaning; a provider may hold it in 32 bits where a launch class proves that every intermediate fits.
"""

from __future__ import annotations

from typing import Final


class DType:
    """One element type: its name, its kind (`bool`, `index`, `int`, `uint`, `float`) and its width in bits."""

    __slots__ = ("name", "kind", "bits")
    name: str
    kind: str
    bits: int

    def __init__(self, name: str, kind: str, bits: int) -> None:
        self.name, self.kind, self.bits = name, kind, bits

    @property
    def bytes(self) -> int:
        """Storage size of one element in bytes."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """Whether its values are floating-point numbers."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """True for signed, unsigned and `index`; false for `bool`."""
        return self.kind in ("int", "uint", "index")

    @property
    def is_signed(self) -> bool:
        """Whether it has negative numbers."""
        return self.kind in ("int", "index", "float")

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        if self.kind == "uint":
            return 0, 2**self.bits - 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return dtype, (self.name,)


_ALL: Final = (
    ("bool", "bool", 8), ("index", "index", 64),
    ("i8", "int", 8), ("i16", "int", 16), ("i32", "int", 32), ("i64", "int", 64),
    ("u8", "uint", 8), ("u16", "uint", 16), ("u32", "uint", 32), ("u64", "uint", 64),
    ("f16", "float", 16), ("bf16", "float", 16), ("f32", "float", 32), ("f64", "float", 64),
    ("f8e4m3fn", "float", 8), ("f8e5m2", "float", 8),
)  # fmt: skip
DTYPES: Final[dict[str, DType]] = {row[0]: DType(*row) for row in _ALL}


def dtype(name: str) -> DType:
    """The element type called `name`; `KeyError` when there is none."""
    return DTYPES[name]


bool_ = DTYPES["bool"]
index = DTYPES["index"]
i8, i16, i32, i64 = (DTYPES[n] for n in ("i8", "i16", "i32", "i64"))
u8, u16, u32, u64 = (DTYPES[n] for n in ("u8", "u16", "u32", "u64"))
f16, bf16, f32, f64 = (DTYPES[n] for n in ("f16", "bf16", "f32", "f64"))
f8e4m3fn, f8e5m2 = DTYPES["f8e4m3fn"], DTYPES["f8e5m2"]
