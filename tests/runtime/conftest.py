"""The pretended device library is known to the runtime while these tests run."""

from collections.abc import Iterator

import pytest

from intent_np.runtime.arrays import LIBRARIES
from tests.runtime.fakes import DeviceArray, DeviceLibrary


@pytest.fixture(autouse=True)
def fake_library() -> Iterator[None]:
    LIBRARIES[DeviceArray] = DeviceLibrary()
    yield
    del LIBRARIES[DeviceArray]
