"""Artifacts that run on a GPU: the fast path of a call, and how it is resolved when it comes first."""

from __future__ import annotations

import functools
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from intent_np.errors import error
from intent_np.runtime.aliases import copied, pairs, pointers, relation, spans
from intent_np.runtime.arrays import CUPY, HOST, LIBRARIES, ArrayInfo, Library, as_numpy
from intent_np.runtime.artifact import Artifact
from intent_np.runtime.binding import Call, adopt_arguments, bind, scalar_value
from intent_np.runtime.expressions import expression
from intent_np.runtime.launch import Driver, Launch, Layout, Workspaces, bfloat16_bits
from intent_np.runtime.plan import KernelPlan, ScalarPlan
from intent_np.runtime.variants import Specialize, Variant, Variants
from intent_np.target import Target

_MEMORY: Final = 4096  # remembered call patterns; beyond, all are forgotten and each is resolved once more

_NATURAL: Final[dict[str, type]] = {"bool": bool, "f16": float, "f32": float, "f64": float}
"""Python types whose range `struct` checks while it packs; other dtypes that are missing here are `int`."""


class _Scalar(NamedTuple):
    """A scalar parameter on the fast path.

    natural:  a value of exactly this type is packed as it is
    decides:  whether the value is part of the key: a shape, a grid or an argument is computed from it
    """

    parameter: ScalarPlan
    natural: type | None
    decides: bool


class DeviceArtifact(Artifact):
    """A kernel on a GPU.

    variants:    compiled ahead; a call takes the most specific one that is right for it
    specialize:  compiles another variant while the process has the compiler; None for a loaded artifact
    driver:      the device; CuPy's by default, loaded at the first call
    """

    def __init__(
        self,
        kernel: KernelPlan,
        target: Target,
        variants: Iterable[Variant] = (),
        specialize: Specialize | None = None,
        driver: Driver | None = None,
        **described: Any,
    ) -> None:
        super().__init__(kernel, target, **described)
        self._held = Variants(kernel, variants, specialize, self.remark)
        self._given_driver = driver
        self._pairs = pairs(kernel)
        self._layout = Layout(kernel)
        self._workspaces = Workspaces()
        self._lock = threading.RLock()
        self._handles: dict[tuple[bytes, int], int] = {}
        self._launches: dict[Any, Launch] = {}
        self._allocations: dict[Any, Callable[[], list[Any]]] = {}
        self._fast: list[_Scalar | None] = []
        self._count_on_scalars()

    @property
    def variants(self) -> tuple[Variant, ...]:
        return self._held.all

    @functools.cached_property
    def driver(self) -> Driver:
        """The device; `ProviderError` E603 without CuPy."""
        if self._given_driver is not None:
            return self._given_driver
        from intent_np.backends.cupy_runtime import CupyDriver

        return CupyDriver()

    # ---- the fast path

    def __call__(self, *arguments: Any) -> None:
        quick = self._quick(arguments, self._fast)
        if quick is not None:
            key, values = quick
            launch = self._launches.get(key)
            if launch is not None and not launch.fits(values):
                launch = self._launches.get((key, launch.relation(values)))
            if launch is not None:
                try:
                    launch(values)
                    return
                except (struct.error, OverflowError):
                    pass  # a scalar out of range: binding finds it and says which
        self._slow(arguments)

    @staticmethod
    def _quick(arguments: Sequence[Any], fast: Sequence[_Scalar | None]) -> tuple[Any, list[Any]] | None:
        """A key of all that decides a launch, and the values of the parameters; None for what needs binding."""
        if len(arguments) != len(fast):
            return None
        key: list[Any] = []
        values: list[Any] = []
        known = LIBRARIES
        for argument, scalar in zip(arguments, fast):  # noqa: B905  (as many; checking it again costs 5 %)
            if scalar is None:
                if (kind := type(argument)) not in known:
                    return None
                pointer, part = known[kind].quick(argument)
                values.append(pointer)
                key.append(part)
                continue
            parameter, natural, decides = scalar
            if type(argument) is not natural:
                argument = scalar_value(parameter, argument)
            values.append(bfloat16_bits(argument) if parameter.dtype == "bf16" else argument)
            if decides:
                key.append(argument)
        return tuple(key), values

    # ---- everything that does not happen twice

    def prepare(self, *arguments: Any) -> Callable[[], None]:
        call, adopted = self._bind(arguments)
        if self._on_host(call):
            return functools.partial(self, *arguments)  # the copies belong to every run
        launch, values = self._launch(call, adopted)
        if launch.copies:
            return functools.partial(self, *arguments)
        return PreparedLaunch(launch, values, adopted)

    def _slow(self, arguments: Sequence[Any]) -> None:
        call, adopted = self._bind(arguments)
        if self._on_host(call):
            self._through_device(call, adopted)
            return
        launch, values = self._launch(call, adopted)
        launch(values)

    def _bind(self, arguments: Sequence[Any]) -> tuple[Call, list[Any]]:
        adopted, _ = adopt_arguments(self.kernel.parameters, arguments)
        return bind(self.kernel, adopted), adopted

    def _launch(self, call: Call, adopted: Sequence[Any]) -> tuple[Launch, list[Any]]:
        """The launch of a call without host arrays, found or made, and the values to launch it with."""
        with self._lock:
            quick = self._quick(adopted, self._fast)
            assert quick is not None, "adopted arrays are of known libraries"
            launch = self._launches.get(quick[0])
            if launch is None:
                launch = self._resolve(call)
                quick = self._quick(adopted, self._fast)  # a new variant may have changed what is in a key
                assert quick is not None
                _remember(self._launches, quick[0], launch)
            key, values = quick
            if launch.fits(values):
                return launch, values
            found = launch.relation(values)
            copies = copied(call, self._pairs, found, launch.variant.identical)
            shared = self._launches.get((key, found))
            if shared is None:
                shared = self._resolve(call, copies)
                _remember(self._launches, (key, found), shared)
            return shared, values

    def _resolve(self, call: Call, copies: tuple[str, ...] = ()) -> Launch:
        device = self._device(call)
        known = len(self.variants)
        variant = self._held.choose(call.facts())
        if len(self.variants) != known:
            self._count_on_scalars()
        if copies:
            variant = self._held.copying(variant, copies)
            text = f"{', '.join(copies)}: inputs keep their values while the kernel runs; separate arrays need no copy"
            self.remark("P005", text)
        handle = self._handles.get((variant.cubin, device))
        if handle is None:
            plan = variant.plan
            handle = self.driver.load(variant.cubin, plan.entry, plan.shared_bytes, device)
            self._handles[variant.cubin, device] = handle
        first = next(iter(call.arrays.values()), None)
        return Launch(
            self.driver,
            self.kernel,
            variant.plan,
            handle,
            device,
            call.values(),
            self._layout,
            spans(call, self._layout.slots, self._pairs),
            (CUPY if first is None else first.library).current_stream(device),
            self._workspaces,
        )

    def _device(self, call: Call) -> int:
        device = self.driver.current_device() if call.device == HOST else call.device
        capability = self.driver.capability(device)
        if not self.target.runs_on(capability):
            found = "sm_{}{}".format(*capability)
            raise error("E417", kernel=self.kernel.name, target=self.target.name, device=found, found=found)
        return device

    def _count_on_scalars(self) -> None:
        """Note which scalars decide a launch: those in a shape, a promise, a grid or a computed argument."""
        texts = [text for view in self.kernel.views for text in view.shape]
        texts += [*self.kernel.requires, *self.kernel.indices]
        for variant in self.variants:
            texts += variant.plan.grid
            texts += [one.source for one in variant.plan.arguments if one.source not in self._layout.slots]
        deciding = {name for text in texts for name in expression(text).names}
        self._fast = [
            _Scalar(one, None if one.dtype == "bf16" else _NATURAL.get(one.dtype, int), one.name in deciding)
            if isinstance(one, ScalarPlan)
            else None
            for one in self.kernel.parameters
        ]
        self._launches.clear()
        self._allocations.clear()

    def _allocation(self, arguments: Sequence[Any], extents: Mapping[str, int]) -> Callable[[], list[Any]]:
        fast = [scalar for scalar, one in zip(self._fast, self.kernel.parameters, strict=True) if one.mode != "out"]
        quick = None if extents else self._quick(arguments, fast)
        if quick is None:
            return super()._allocation(arguments, extents)
        found = self._allocations.get(quick[0])
        if found is None:
            found = super()._allocation(arguments, extents)
            _remember(self._allocations, quick[0], found)
        return found

    # ---- copies

    @staticmethod
    def _on_host(call: Call) -> bool:
        return any(info.device == HOST for info in call.arrays.values())

    def _through_device(self, call: Call, adopted: Sequence[Any]) -> None:
        """Run on device copies of the arrays in host memory, and bring back what was written."""
        device = self._device(call)
        self.remark("P002", "pass arrays of the device, of CuPy or torch for example, to keep the data there")
        found = relation(spans(call, self._layout.slots, self._pairs), pointers(call, self._layout.slots))
        copied(call, self._pairs, found, ())  # each array in host memory gets memory of its own on the device
        replaced = list(adopted)
        back = []
        for name, info in call.arrays.items():
            if info.device == HOST:
                view = self.kernel.view(name)
                array = as_numpy(info)
                copy = replaced[self._layout.slots[name]] = self.driver.upload(array, device, view.mode != "out")
                if view.written:
                    back.append((copy, array))
        self(*replaced)
        for copy, array in back:
            self.driver.download(copy, array)

    def _allocator(self, first: ArrayInfo | None) -> tuple[Library, int]:
        if first is None:
            return CUPY, self.driver.current_device()
        return first.library, first.device


def _remember(patterns: dict[Any, Any], key: Any, value: Any) -> None:
    if len(patterns) >= _MEMORY:
        patterns.clear()
    patterns[key] = value


class PreparedLaunch:
    """A call with its arguments bound: runs again on the same arrays, which it holds."""

    __slots__ = ("_arrays", "_block", "_fire", "_launch", "_workspaces")

    def __init__(self, launch: Launch, values: Sequence[Any], arrays: Sequence[Any]) -> None:
        self._launch, self._arrays = launch, tuple(arrays)
        self._block = launch.packed(values)
        self._workspaces = Workspaces()
        self._fire = launch.fire if launch.programs else lambda block, workspaces: None

    def __call__(self) -> None:
        """Launch on the stream that is current for the library of the first array."""
        self._fire(self._block, self._workspaces)

    def __repr__(self) -> str:
        return f"<prepared launch of {self._launch.kernel.name}, {self._launch.programs} programs>"
