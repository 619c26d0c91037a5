"""The page on testing is executed: its tests pass, those that are shown to fail fail, and its commands run."""

# ruff: noqa: UP037
from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.errors import IntentError
from intent_np.passes import pipeline
from intent_np.testing.properties import check_pass, check_rules, placed

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "specs" / "testing.md").read_text()
FILES = re.findall(r"```python file=(\S+)(?: fails=\"(.*?)\")?\n(.*?)```", PAGE, re.DOTALL)
CONSOLES = re.findall(r"```console\n\$ (.*?)\n(.*?)```", PAGE, re.DOTALL)


def executed(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = [sys.executable, "-m", *command]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment)


def test_the_page(tmp_path: Path) -> None:
    for name, _, text in FILES:
        (tmp_path / name).write_text(text)
    options = ("-p", "intent_np.pytest_plugin", "-p", "no:cacheprovider", "--intent-kernels", "8")
    done = executed(tmp_path, "pytest", "-rA", "-q", *options)
    for name, fails, text in FILES:
        for test in re.findall(r"^def (test_\w+)", text, re.M):
            assert f"{'FAILED' if fails else 'PASSED'} {name}::{test}" in done.stdout, done.stdout[-4000:]
        assert not fails or fails in done.stdout
    assert len(FILES) >= 6


@pytest.mark.parametrize(("command", "shown"), CONSOLES)
def test_the_commands_of_the_page(command: str, shown: str, tmp_path: Path) -> None:
    done = executed(tmp_path, "intent_np.cli", *shlex.split(command)[1:])
    assert all(line in done.stdout for line in shown.splitlines()), done.stdout + done.stderr


@intent.kernel
def doubled(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = x[:] * 2


@intent.kernel
def shifted(a: I.In[I.i32, ("K",)], b: I.Out[I.i32, ("K",)]):
    b[:] = a[:] << 1


@intent.kernel
def saturated(a: I.In[I.i32, ("K",)], b: I.Out[I.i32, ("K",)]):
    b[:] = I.clamp(a[:], -1073741824, 1073741823) * 2


@intent.equivalent(doubled, shifted)
def test_names_of_parameters_and_extents_do_not_matter(): ...


def test_a_difference_is_told_with_its_arguments() -> None:
    with pytest.raises(AssertionError, match=r"doubled and saturated differ in y[\s\S]*call: N=\d+ contiguous") as told:
        intent.equivalent(doubled, saturated, cases=60)(lambda: None)()
    assert "x = [" in str(told.value)


def test_callables_return_or_write() -> None:
    def wrong(x, y):
        y[...] = x + x
        if x.size > 2:
            y[2] += 1

    def right(x, y):
        y[...] = x + x

    intent.equivalent(doubled, right)(lambda: None)()
    intent.equivalent(doubled, lambda x, y: x + x)(lambda: None)()
    with pytest.raises(AssertionError, match="doubled and wrong differ in y"):
        intent.equivalent(doubled, wrong)(lambda: None)()


def test_what_is_no_kernel_or_is_called_otherwise_is_refused() -> None:
    with pytest.raises(IntentError, match="E005"):
        intent.equivalent(len, doubled)

    @intent.kernel
    def alone(y: I.Out[I.i32, ("N",)]):
        y[:] = 0

    with pytest.raises(IntentError, match="alone has 1 parameters, and doubled has 2"):
        intent.equivalent(doubled, alone, cases=1)(lambda: None)()


def test_a_pass_takes_the_place_that_is_asked_for() -> None:
    before = [p.name for p in pipeline.PIPELINE]
    steps = {p.name: p for p in pipeline.PIPELINE}
    with placed(lambda program: program, after="block_axes"):
        assert [p.name for p in pipeline.PIPELINE].index("<lambda>") == before.index("block_axes") + 1
    with placed(lambda program: program, instead_of="narrow_ranges") as name:
        assert name == "narrow_ranges"
        assert pipeline.by_name(name) is not steps[name]
        assert [p.name for p in pipeline.PIPELINE] == before
    with placed(steps["contract_fma"]):
        names = [p.name for p in pipeline.PIPELINE]
        assert names.index("contract_fma") == before.index("emit") + 1
    assert [p.name for p in pipeline.PIPELINE] == before
    with pytest.raises(IntentError, match="no machine executes triton programs"):
        check_pass(lambda program: program, after="rebind_carries")


def test_a_wrong_rule_is_told() -> None:
    pytest.importorskip("z3")
    from intent_np.rules.pattern import floats, rule

    f = floats("f")
    with pytest.raises(AssertionError, match="the rule minus-itself is wrong"):
        check_rules(rule("minus-itself", f - f, 0.0, why="x - x = 0"))


def test_the_plugin_loads_nothing_heavy() -> None:
    program = "import intent_np.pytest_plugin, sys; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert {"numpy", "triton", "hypothesis", "z3", "ml_dtypes"}.isdisjoint(done.stdout.split())
