"""Why some place has no mutant, and why some mutant survives: a promise that somebody has looked."""

from __future__ import annotations

from typing import Final

_BY_ZERO: Final = "of nothing divided by 0 is nothing said"
_WRAPS: Final = "with a negative divisor the sides differ only where the right one wraps, which a proof alone shows"
_SAME: Final = "where both constants are one, select-same comes first"
_TYPE: Final = "without it the right side has no type"

NO_MUTANT: Final[dict[str, str]] = {
    "choose_launch": "warps and stages: whatever they are, results are the same",
    "keep_sums": "a product in either order: only Triton's compiler sees a difference",
    "order_programs": "a numbering of instances: whatever it is, results are the same",
    "verify_memory": "it changes nothing that is known: every access of the corpus is proved",
    "rule floordiv-of-sum guard 1": _WRAPS,
    "rule ceil-div-of-sum guard 1": _WRAPS,
    "rule floordiv-nest guard 1": _BY_ZERO,
    "rule ceil-div-nest guard 1": _BY_ZERO,
    "rule mod-nest guard 1": _BY_ZERO,
    "rule equal-to-two guard 1": "equal constants make one comparison, which is no two parts",
    "rule select-is-first guard 1": _SAME,
    "rule select-is-second guard 1": _SAME,
    "rule select-is-not-first guard 1": _SAME,
    "rule select-is-not-second guard 1": _SAME,
    "rule lt-of-casts guard 1": _TYPE,
    "rule le-of-casts guard 1": _TYPE,
    "rule eq-of-casts guard 1": _TYPE,
    "rule ne-of-casts guard 1": _TYPE,
    "rule pointwise-with-filled guard 1": "without it rewriting has no end",
}
"""By pass, or by rule and guard: nothing that is wrong there gives a program with another result."""

UNWITNESSED: Final = frozenset(
    {
        "inline_calls",
        "report_debug",
        "compose_shapes",
        "copy_first",
        "find_in_place",
        "bind_class",
        "step_members",
        "keep_prefixes",
        "stage_stores",
        "form_groups",
        "split_reductions",
        "lay_out_buffers",
        "choose_fills",
        "share_traversals",
        "apply_combines",
        "legalize_updates",
        "order_fragments",
        "rebind_carries",
        "make_abi",
        "rule lt-scaled guard 1",
        "rule le-scaled guard 1",
        "rule div-by-power guard 1",
        "rule cast-same guard 1",
        "rule bitcast-same guard 1",
        "rule truth-of-cast guard 1",
        "rule falsehood-of-cast guard 1",
        "rule one-of-cast guard 1",
        "rule not-one-of-cast guard 1",
        "rule lt-of-casts guard 2",
        "rule le-of-casts guard 2",
        "rule eq-of-casts guard 2",
        "rule ne-of-casts guard 2",
        "rule reduce-identities guard 1",
        "rule transpose-pointwise guard 1",
        "rule reshape-same guard 1",
        "rule reshape-of-kept guard 1",
        "rule convert-same guard 1",
        "rule take-take guard 1",
        "rule take-filled guard 1",
        "rule take-indices guard 1",
        "rule take-index guard 1",
        "rule take-pointwise guard 1",
        "rule take-of-kept guard 1",
        "rule pointwise-of-filled guard 1",
    }
)
"""Passes and guards whose candidates have crashed, or were refused, or changed nothing that was tried: `--search` looks
on, and who finds a witness leaves out the line."""

SURVIVORS: Final[dict[str, str]] = {}
"""By the beginning of a mutant's name."""


def reason(name: str) -> str:
    """Why a mutant of this name survives; empty where nobody says so."""
    return next((why for begin, why in SURVIVORS.items() if name.startswith(begin)), "")
