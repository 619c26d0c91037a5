"""Why some place has no mutant, and why some mutant survives: a promise that somebody has looked."""

from __future__ import annotations

from typing import Final

_BY_ZERO: Final = "of nothing divided by 0 is nothing said"
_WRAPS: Final = "with a negative divisor the sides differ only where the right one wraps, which a proof alone shows"
_SAME: Final = "where both constants are one, select-same comes first"
_TYPE: Final = "without it the right side has no type"
_POSITIVE: Final = "an index times a constant below 0 is written as a difference: no pattern meets one"
_PERMITTED: Final = "it needs a permission, which no random kernel asks for; the corpus does"
_UNREACHED: Final = "no random kernel reaches it; the corpus and written kernels do"

NO_MUTANT: Final[dict[str, str]] = {
    "choose_launch": "warps and stages: whatever they are, results are the same",
    "compose_shapes": "it applies rules, which have mutants; forgotten or ended early, it leaves values as they are",
    "form_groups": "`groups`, which has mutants, decides; the rest is remarks, and notes of arrays in two groups",
    "keep_prefixes": "kept too few are refused, too many are the same; `put_aside`, which has mutants, keeps them",
    "lay_out_buffers": "an order of dimensions: whatever it is, results are the same",
    "order_fragments": "an order of axes: whatever it is, results are the same",
    "keep_sums": "a product in either order: only Triton's compiler sees a difference",
    "start_apart": "a copy of a value: only Triton's compiler sees a difference",
    "order_programs": "a numbering of instances: whatever it is, results are the same",
    "verify_memory": "it changes nothing that is known: every access of the corpus is proved",
    "rule floordiv-of-sum guard 1": _WRAPS,
    "rule ceil-div-of-sum guard 1": _WRAPS,
    "rule floordiv-nest guard 1": _BY_ZERO,
    "rule ceil-div-nest guard 1": _BY_ZERO,
    "rule mod-nest guard 1": _BY_ZERO,
    "rule lt-scaled guard 1": _POSITIVE,
    "rule le-scaled guard 1": _POSITIVE,
    "rule equal-to-two guard 1": "equal constants make one comparison, which is no two parts",
    "rule select-is-first guard 1": _SAME,
    "rule select-is-second guard 1": _SAME,
    "rule select-is-not-first guard 1": _SAME,
    "rule select-is-not-second guard 1": _SAME,
    "rule falsehood-of-cast guard 1": _TYPE,
    "rule not-one-of-cast guard 1": _TYPE,
    "rule lt-of-casts guard 1": _TYPE,
    "rule le-of-casts guard 1": _TYPE,
    "rule eq-of-casts guard 1": _TYPE,
    "rule ne-of-casts guard 1": _TYPE,
    "rule reduce-identities guard 1": "a fold of several components is a tuple, and the first of them is none",
    "rule transpose-pointwise guard 1": "no permutation of all dimensions is one of fewer",
    "rule take-filled guard 1": "what is left of one scalar everywhere is that scalar",
    "rule take-index guard 1": "what is no position has no member",
    "rule pointwise-of-filled guard 1": "no operator on scalars takes a tensor",
}
"""By pass, or by rule and guard: nothing that is wrong there gives a program with another result."""

UNWITNESSED: Final[frozenset[str]] = frozenset()
"""Passes and guards whose candidates have crashed, or were refused, or changed nothing that was tried: `--search` looks
on, and who finds a witness leaves out the line."""

SURVIVORS: Final[dict[str, str]] = {
    "online.": _PERMITTED,
    "step_algebra._power_of_two": _PERMITTED,
    "spread_members._spread": _UNREACHED,
    "inline_calls._Inliner.writers": _UNREACHED,
}
"""By the beginning of a mutant's name: why random kernels do not notice it."""


def reason(name: str) -> str:
    """Why a mutant of this name survives; empty where nobody says so."""
    return next((why for begin, why in SURVIVORS.items() if name.startswith(begin)), "")
