"""The warm path of a call: functions written for one kernel and the array types of its arguments.

A loop that asks every parameter what it is takes longer than the driver takes to launch.  So the path is written out
as text and compiled, once for a kernel and the types of its arrays.  For one input and one output of CuPy it is

    def call(arguments):
        if len(arguments) != 2:
            return otherwise(arguments)
        a0, a1 = arguments
        if type(a0) is not T0 or type(a1) is not T1:
            return otherwise(arguments)
        m0 = a0.data
        v0 = m0.ptr
        m1 = a1.data
        v1 = m1.ptr
        key = (a0.dtype, a0.shape, a0._c_contiguous or a0.strides, m0.device_id,
               a1.dtype, a1.shape, a1._c_contiguous or a1.strides, m1.device_id,
               (v0 | v1) & 15 and (v0 & 15, v1 & 15))
        launch = launches.get(key)
        if launch is None:
            return False
        return launch.enter(v0, v1) or launch.related(launches, key, (v0, v1))

and `enter`, a closure over the numbers of a resolved launch,

    def enter(v0, v1):
        if low0 < v1 - v0 < high0 and v1 - v0 != same0:
            return False
        try:
            block = take()
        except IndexError:
            block = new()
        pack(block[0], 0, v0, v1)
        try:
            fire(handle, programs, 1, 1, threads, 1, 1, shared, stream(), block[2], 0)
        except Exception as problem:
            again(problem, block)
        give(block)
        return True
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from intent_np.runtime.arrays import LIBRARIES, library_of
from intent_np.runtime.plan import ScalarPlan, ViewPlan
from intent_np.runtime.scalars import bfloat16_bits, scalar_value

if TYPE_CHECKING:
    from intent_np.runtime.launch import Launch

Parameters = Sequence[ViewPlan | ScalarPlan]
Kinds = tuple[type | None, ...]
"""Types of the arrays of a call; None stands for a scalar."""

_NATURAL: Final = {"bool": "bool", "f16": "float", "f32": "float", "f64": "float"}
"""Python types whose range `struct` checks while it packs; other dtypes that are missing here are `int`."""

_CHAIN: Final = 8  # combinations of array types that a warm call tries; beyond, they start anew


class Patterns:
    """The call patterns of a kernel, each with its launch, and the functions that find them.

    deciding:  scalar parameters whose values are part of a pattern: a shape, a grid or an argument is computed from it

    call:      launches what is known for the arguments; whether it did.  May raise `CallError` E411.
    """

    def __init__(self, parameters: Parameters, deciding: frozenset[str]) -> None:
        self._parameters, self._deciding = parameters, deciding
        self.launches: dict[Any, Launch] = {}
        self.call: Callable[[Sequence[Any]], bool] = _unknown
        self._called: set[Kinds] = set()
        self._gathers: dict[Kinds, Callable[[Sequence[Any]], tuple[Any, tuple[Any, ...]]]] = {}

    def gather(self, arguments: Sequence[Any]) -> tuple[Any, tuple[Any, ...]] | None:
        """A key of all that decides a launch, and the values of the parameters; None for what needs binding."""
        kinds = self._kinds(arguments)
        if kinds is None:
            return None
        found = self._gathers.get(kinds)
        if found is None:
            found = self._gathers[kinds] = self._written("gather", kinds)
        return found(arguments)

    def learn(self, arguments: Sequence[Any]) -> None:
        """Let `call` take arguments of these types."""
        kinds = self._kinds(arguments)
        if kinds is None or kinds in self._called:
            return
        if len(self._called) == _CHAIN:
            self._called.clear()
            self.call = _unknown
        self._called.add(kinds)
        self.call = self._written("call", kinds, launches=self.launches, otherwise=self.call)

    def _kinds(self, arguments: Sequence[Any]) -> Kinds | None:
        if len(arguments) != len(self._parameters):
            return None
        pairs = list(zip(self._parameters, arguments, strict=True))
        if any(isinstance(one, ViewPlan) and library_of(argument) is None for one, argument in pairs):
            return None
        return tuple(type(argument) if isinstance(one, ViewPlan) else None for one, argument in pairs)

    def _written(self, name: str, kinds: Kinds, **known: Any) -> Any:
        lines, key, values = _gathering(self._parameters, self._deciding, kinds)
        if name == "gather":
            text = _function("gather(arguments)", [_unpacked(kinds), *lines, f"return {key}, {values}"])
        else:
            text = _function("call(arguments)", _calling(kinds, lines, key, values))
        known |= {f"T{index}": kind for index, kind in enumerate(kinds)}
        known |= {f"P{index}": one for index, one in enumerate(self._parameters)}
        known |= {"scalar_value": scalar_value, "bfloat16_bits": bfloat16_bits, "struct_error": struct.error}
        exec(_compiled(text), known)
        return known[name]


def _unknown(arguments: Sequence[Any]) -> bool:
    return False


def _gathering(parameters: Parameters, deciding: frozenset[str], kinds: Kinds) -> tuple[list[str], str, str]:
    """Lines that read the arguments, and the expressions of the key and of the tuple of values."""
    lines: list[str] = []
    key: list[str] = []
    pointers: list[str] = []
    for index, (one, kind) in enumerate(zip(parameters, kinds, strict=True)):
        argument, value = f"a{index}", f"v{index}"
        if isinstance(one, ScalarPlan):
            if one.dtype == "bf16":
                lines.append(f"{argument} = scalar_value(P{index}, {argument})")
                lines.append(f"{value} = bfloat16_bits({argument})")
            else:
                natural = _NATURAL.get(one.dtype, "int")
                lines.append(
                    f"{value} = {argument} if type({argument}) is {natural} else scalar_value(P{index}, {argument})"
                )
            if one.name in deciding:
                key.append(value)
            continue
        assert kind is not None
        reading = LIBRARIES[kind].reading
        names = {"a": argument, "m": f"m{index}"}
        lines += [reading.before.format(**names)] if reading.before else []
        lines.append(f"{value} = {reading.pointer.format(**names)}")
        key += [text.format(**names) for text in reading.key]
        pointers.append(value)
    if pointers:
        residues = _tuple([f"{value} & 15" for value in pointers])
        key.append(f"({' | '.join(pointers)}) & 15 and {residues}")
    return lines, _tuple(key), _tuple([f"v{index}" for index in range(len(parameters))])


def _calling(kinds: Kinds, lines: list[str], key: str, values: str) -> list[str]:
    """The body of `call`."""
    wrong = " or ".join(f"type(a{i}) is not T{i}" for i, kind in enumerate(kinds) if kind is not None)
    passed = ", ".join(f"v{index}" for index in range(len(kinds)))
    enter = f"return launch.enter({passed}) or launch.related(launches, key, {values})"
    if None in kinds:  # a scalar out of range: binding finds it and says which
        enter = f"try:\n    {enter}\nexcept (struct_error, OverflowError):\n    return False"
    return [
        f"if len(arguments) != {len(kinds)}:\n    return otherwise(arguments)",
        _unpacked(kinds),
        *([f"if {wrong}:\n    return otherwise(arguments)"] if wrong else []),
        *lines,
        f"key = {key}",
        "launch = launches.get(key)",
        "if launch is None:\n    return False",
        enter,
    ]


def _unpacked(kinds: Kinds) -> str:
    return f"{_tuple([f'a{index}' for index in range(len(kinds))])} = arguments"


def entry(count: int, apart: Sequence[tuple[int, int]], several: bool, own: bool) -> Callable[..., Callable[..., bool]]:
    """What makes `enter` for `count` values, from the numbers of a launch by keyword.

    apart:    for each pair of arrays that has to be looked at, the positions of both
    several:  whether there are other devices, so that the current one may not be that of the launch
    own:      whether the launch has memory of its own, which `reserve` gives a block

    `enter` gives false, and has done nothing, when the arrays share memory in a way that the launch is not made for.
    """
    values = ", ".join(f"v{index}" for index in range(count))
    body = []
    for index, (first, second) in enumerate(apart):
        distance = f"v{second} - v{first}"
        body.append(f"if low{index} < {distance} < high{index} and {distance} != same{index}:\n    return False")
    if several:
        body.append(f"if current_device() != device:\n    elsewhere(({values},))\n    return True")
    body += [
        "try:\n    block = take()\nexcept IndexError:\n    block = new()",
        f"pack(block[0], 0, {values})" if count else "pack(block[0], 0)",
        "try:\n    here = stream()\n"
        + "    held = reserve(here, block)  # until the launch is there\n" * own
        + "    fire(handle, programs, 1, 1, threads, 1, 1, shared, here, block[2], 0)\n"
        "except Exception as problem:\n    again(problem, block)",
        "give(block)",
        "return True",
    ]
    names = [f"{name}{index}" for index in range(len(apart)) for name in ("low", "high", "same")]
    names += ["take", "give", "new", "pack", "fire", "handle", "programs", "threads", "shared", "stream", "again"]
    names += ["device", "current_device", "elsewhere", "reserve"]
    inner = _function(f"enter({values})", body)
    made: dict[str, Any] = {}
    exec(_compiled(_function(f"make(*, {', '.join(names)})", [inner.rstrip(), "return enter"])), made)
    make: Callable[..., Callable[..., bool]] = made["make"]
    return make


def _function(head: str, body: Sequence[str]) -> str:
    lines = [line for one in body for line in one.split("\n")]
    return f"def {head}:\n" + "".join(f"    {line}\n" for line in lines)


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


@functools.lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    """The code of generated text; kernels alike share it."""
    return compile(text, "<warm path of a call>", "exec")
