"""Artifacts that run on a GPU: how a call is resolved when it comes first; `direct` is the way of those after it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from intent_np.errors import error
from intent_np.runtime.aliases import copied, extent, pairs, pointers, relation, spans
from intent_np.runtime.arrays import CUPY, HOST, ArrayInfo, Library, as_numpy
from intent_np.runtime.artifact import Artifact
from intent_np.runtime.binding import Call, adopt_arguments, bind, mismatch
from intent_np.runtime.direct import Patterns
from intent_np.runtime.expressions import expression
from intent_np.runtime.launch import Driver, Launch, Layout, programs
from intent_np.runtime.plan import MAX_PROGRAMS, KernelPlan
from intent_np.runtime.variants import Specialize, Variant, Variants
from intent_np.runtime.workspaces import Workspaces
from intent_np.target import Target

_MEMORY: Final = 4096  # remembered call patterns; beyond, all are forgotten and each is resolved once more


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

    # ---- calls

    def __call__(self, *arguments: Any, **named: Any) -> None:
        if named or not self._patterns.call(arguments):
            self._slow(arguments, named)

    def prepare(self, *arguments: Any, **named: Any) -> Callable[[], None]:
        if named:
            raise mismatch(self.kernel, arguments, named)
        call, adopted = self._bind(arguments)
        if self._on_host(call):
            return functools.partial(self, *arguments)  # the copies belong to every run
        launch, values = self._launch(call, adopted)
        if launch.copies:
            return functools.partial(self, *arguments)
        return PreparedLaunch(launch, values, adopted)

    def _slow(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        if named:
            raise mismatch(self.kernel, arguments, named)
        call, adopted = self._bind(arguments)
        if self._on_host(call):
            self._through_device(call, adopted)
            return
        launch, values = self._launch(call, adopted)
        launch(values)

    def _bind(self, arguments: Sequence[Any]) -> tuple[Call, list[Any]]:
        adopted, _ = adopt_arguments(self.kernel.parameters, arguments)
        return bind(self.kernel, adopted), adopted

    def _launch(self, call: Call, adopted: Sequence[Any]) -> tuple[Launch, tuple[Any, ...]]:
        """The launch of a call without host arrays, found or made, and the values to launch it with."""
        with self._lock:
            key, values = self._gathered(adopted)
            launch = self._patterns.launches.get(key)
            if launch is None:
                launch = self._resolve(call)
                key, values = self._gathered(adopted)  # a new variant may have changed what is in a key
                _remember(self._patterns.launches, key, launch)
            self._patterns.learn(adopted)
            if launch.fits(values):
                return launch, values
            found = launch.relation(values)
            copies = copied(call, self._pairs, found, launch.variant.identical)
            shared = self._patterns.launches.get((key, found))
            if shared is None:
                shared = self._resolve(call, copies)
                _remember(self._patterns.launches, (key, found), shared)
            return shared, values

    def _gathered(self, adopted: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        found = self._patterns.gather(adopted)
        assert found is not None, "adopted arrays are of known libraries"
        return found

    def _resolve(self, call: Call, copies: tuple[str, ...] = ()) -> Launch:
        device = self._device(call)
        known = len(self.variants)
        variant = self._held.choose(call.facts())
        if len(self.variants) != known:
            self._count_on_scalars()
        values = call.values()
        if programs(variant.plan, values) > MAX_PROGRAMS:
            variant = self._held.strided(variant)
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
            values,
            self._layout,
            spans(call, self._layout.slots, self._pairs),
            (CUPY if first is None else first.library).current_stream(device),
            self._workspaces,
            {name: extent(info, self.kernel.view(name).itemsize) for name, info in call.arrays.items()},
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
        texts += [*self.kernel.indices, *(text for shape in self.kernel.workspaces for text in shape)]
        for variant in self.variants:
            texts += variant.plan.grid
            texts += [one.source for one in variant.plan.arguments if one.source not in self._layout.slots]
        deciding = frozenset(name for text in texts for name in expression(text).names)
        # Made anew rather than changed: a call in another thread goes on with what it began with.
        self._patterns = Patterns(self.kernel.parameters, deciding)
        self._inputs = Patterns(self.kernel.inputs, deciding)
        self._allocations: dict[Any, Callable[[], list[Any]]] = {}

    def _allocation(self, arguments: Sequence[Any], extents: Mapping[str, int]) -> Callable[[], list[Any]]:
        gathered = None if extents else self._inputs.gather(arguments)
        if gathered is None:
            return super()._allocation(arguments, extents)
        key = gathered[0]
        found = self._allocations.get(key)
        if found is None:
            found = super()._allocation(arguments, extents)
            _remember(self._allocations, key, found)
        return found

    # ---- copies

    @staticmethod
    def _on_host(call: Call) -> bool:
        return any(info.device == HOST for info in call.arrays.values())

    def _through_device(self, call: Call, adopted: Sequence[Any]) -> None:
        """Run on device copies of the arrays in host memory, and bring back what was written."""
        device = self._device(call)
        reported = self.kernel.parameters[-2:] if "debug" in self.facts else ()  # nobody passes them
        if any(info.device == HOST for name, info in call.arrays.items() if name not in {v.name for v in reported}):
            self.remark("P002", "pass arrays of the device, of CuPy or torch for example, to keep the data there")
        found = relation(spans(call, self._layout.slots, self._pairs), pointers(call, self._layout.slots))
        # each array in host memory gets memory of its own on the device, outputs that are one array get the same
        groups = [pair for pair in self._pairs if pair.group]
        copied(call, self._pairs, found, [pair[:2] for pair in groups])
        replaced = list(adopted)
        back: dict[tuple[str, Any], tuple[Any, Any]] = {}
        for name, info in call.arrays.items():
            if info.device == HOST:
                view = self.kernel.view(name)
                array = as_numpy(info)
                key = (view.alias, info.pointer) if array.size and view.alias and view.written else (name, None)
                if key not in back:
                    copy = self.driver.upload(array, device, view.mode != "out" or bool(view.alias))
                    back[key] = copy, array if view.written else None
                replaced[self._layout.slots[name]] = back[key][0]
        self.driver.wait(device)  # the launch goes to the stream of another library, perhaps
        self(*replaced)
        self.driver.wait(device)
        for copy, array in back.values():
            if array is not None:
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

    __slots__ = ("_arrays", "_fire", "_launch")

    def __init__(self, launch: Launch, values: Sequence[Any], arrays: Sequence[Any]) -> None:
        self._launch, self._arrays = launch, tuple(arrays)
        self._fire = launch.repeated(launch.packed(values), Workspaces(prepared=True))

    def __call__(self) -> None:
        """Launch on the stream that is current for the library of the first array."""
        self._fire()

    def __repr__(self) -> str:
        return f"<prepared launch of {self._launch.kernel.name}, {self._launch.programs} programs>"
