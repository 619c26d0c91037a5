"""Static counts of gpu programs against what the author of a case says that it costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from intent_np.corpus.ablation import Size, ablated, size
from intent_np.corpus.cases import Entry, entries
from intent_np.rules.tables import BUILTIN

KERNELS = Path(__file__).parents[2] / "kernels"


def counted(place: str) -> tuple[Entry, Size]:
    (entry,) = entries([str(KERNELS / place)])
    found = size(entry, BUILTIN)
    assert found is not None
    return entry, found


@pytest.mark.parametrize("place", ["matmul.py:matmul_f16", "matmul.py:matmul_f32", "matmul.py:split_k"])
def test_a_product_of_whole_blocks_has_the_flops_of_its_case(place: str) -> None:
    entry, found = counted(place)
    assert found.flops == entry.case.flops(entry.sizes[0])
    assert found.bytes >= entry.case.bytes(entry.sizes[0])


def test_launches_of_a_host_program_are_counted_at_their_arguments() -> None:
    found = ablated(entries([str(KERNELS / "decode.py") + ":decode_split"]), BUILTIN, "mod-small")
    assert len(found) > 1
    assert all(a.before is not None and a.before.bytes > 0 for a in found)


def test_rows_that_are_read_once_have_the_bytes_of_their_case() -> None:
    entry, found = counted("softmax.py:softmax")
    assert found.bytes == entry.case.bytes(entry.sizes[0])


def test_instances_differ_under_a_causal_mask() -> None:
    """Half of the keys are looked at; between the whole and the first instance is nothing alike."""
    _, causal = counted("attention.py:attention_causal_relaxed")
    _, whole = counted("attention.py:attention_relaxed")
    assert 0.4 * whole.flops < causal.flops < 0.65 * whole.flops


def test_more_rows_a_thread_take_more_registers() -> None:
    _, product = counted("matmul.py:matmul_f16")
    _, rows = counted("softmax.py:softmax")
    assert 16 <= rows.registers < product.registers < 512
