"""What an installed package offers: its rules and passes are in force in every compilation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from intent_np import CompileOptions, IntentError, compile
from intent_np.corpus.cases import entries
from intent_np.passes import loading as passes
from intent_np.rules import loading as rules

from .test_extending import FILES, outside

__all__ = ["outside"]

TEXTS = dict(FILES)


def forget() -> None:
    passes._installed.cache_clear()
    rules._installed.cache_clear()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Installs a distribution of one module, as an installer leaves it: the module, and what it offers."""
    site = tmp_path / "site-packages"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    names = []

    def one(name: str, group: str, text: str) -> None:
        names.append(name)
        (site / f"{name}.py").write_text(text)
        facts = site / f"{name}-1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (facts / "entry_points.txt").write_text(f"[{group}]\n{name} = {name}\n")
        forget()

    forget()
    yield one
    forget()
    for name in names:
        sys.modules.pop(name, None)


def test_a_pass_of_an_installed_package_runs_in_every_compilation(outside: Path, install: Callable[..., None]) -> None:
    (entry,) = entries(["lengths.py"])
    plain = compile(entry.kernel, "cpu").ir("gpu")
    install("acme_passes", "intent_np.passes", TEXTS["my_passes.py"])
    more = compile(entry.kernel, "cpu")
    assert "rsqrt" not in plain
    assert "rsqrt" in more.ir("gpu")
    left_out = CompileOptions(disable=("root_by_reciprocal",))
    assert compile(entry.kernel, "cpu", options=left_out).ir("gpu") == plain
    x, y, z = np.float32([3, 5]), np.float32([4, 12]), np.zeros(2, np.float32)
    more(x, y, z)
    np.testing.assert_allclose(z, [5, 13], rtol=1e-6)


def test_a_rule_of_an_installed_package_rewrites(outside: Path, install: Callable[..., None]) -> None:
    (entry,) = entries(["toggle.py"])
    plain = compile(entry.kernel, "cpu").ir("gpu")
    install("acme_rules", "intent_np.rules", TEXTS["my_rules.py"])
    changed = compile(entry.kernel, "cpu").ir("gpu")
    assert changed.count("^") < plain.count("^")


@pytest.mark.parametrize(("group", "code"), [("intent_np.passes", "E806"), ("intent_np.rules", "E803")])
@pytest.mark.parametrize(("text", "told"), [("x = 1", "no "), ("import nowhere_at_all", "ModuleNotFoundError")])
def test_a_broken_package_is_told(
    group: str, code: str, text: str, told: str, outside: Path, install: Callable[..., None]
) -> None:
    (entry,) = entries(["lengths.py"])
    install("acme_broken", group, text)
    with pytest.raises(IntentError) as caught:
        compile(entry.kernel, "cpu")
    assert caught.value.code == code
    assert "acme_broken" in str(caught.value)
    assert told in str(caught.value)


def test_packages_are_asked_in_the_order_of_their_names(outside: Path, install: Callable[..., None]) -> None:
    second = TEXTS["my_passes.py"].replace("root_by_reciprocal", "another_one")
    install("b_passes", "intent_np.passes", TEXTS["my_passes.py"])
    install("a_passes", "intent_np.passes", second)
    assert [p.name for p in passes.passes_of()] == ["another_one", "root_by_reciprocal"]
