"""A kernel is the text that it was defined by, whatever its file holds by the time that it is compiled."""

import importlib
import sys

import numpy as np
import pytest

import intent_np as intent

MODULE = """
import intent_np as intent
import intent_np.language as I

@intent.kernel
def twice(x: I.InOut[I.f32, ("N",)]):
    x[:] = x[:] * 2.0

@intent.kernel
def thrice(x: I.InOut[I.f32, ("N",)]):
    x[:] = x[:] * 3.0
"""


def outcomes(module) -> list[float]:
    found = []
    for kernel in (module.twice, module.thrice):
        x = np.ones(1, np.float32)
        intent.compile(kernel, target="reference")(x)
        found.append(float(x[0]))
    return found


@pytest.mark.parametrize("edited", [MODULE.replace("2.0", "7.0"), "\n\n\n\n" + MODULE, "X = 1\n", None])
def test_a_file_that_is_edited_after_its_import_changes_no_kernel(edited, tmp_path, monkeypatch):
    file = tmp_path / "kernels_to_edit.py"
    file.write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "kernels_to_edit", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.import_module("kernels_to_edit")
    if edited is None:
        file.unlink()
    else:
        file.write_text(edited)
    assert outcomes(module) == [2.0, 3.0]
    file.write_text(MODULE.replace("2.0", "11.0"))
    importlib.invalidate_caches()
    assert outcomes(importlib.reload(module)) == [11.0, 3.0]
