"""The pretended device library is known to the runtime while these tests run."""

from collections.abc import Iterator

import pytest

from intent_np.runtime.arrays import LIBRARIES
from tests.runtime.fakes import DeviceArray, DeviceLibrary, FakeDriver


@pytest.fixture(autouse=True)
def fake_library() -> Iterator[None]:
    LIBRARIES[DeviceArray] = DeviceLibrary()
    yield
    del LIBRARIES[DeviceArray]


@pytest.fixture(params=[False, True], ids=["one device", "several devices"])
def devices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warm call asks for the current device only where there are several."""
    monkeypatch.setattr(FakeDriver, "several", request.param)
