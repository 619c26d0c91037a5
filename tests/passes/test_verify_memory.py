"""Every lane of every access is a member: proved of what the passes make, masked where it is not."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation, CompileOptions
from intent_np.corpus.cases import entries
from intent_np.errors import IntentError
from intent_np.passes.verify_memory import unproved, verify_memory
from intent_np.plans import class_options
from intent_np.runtime.examples import class_of
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from intent_np.terms.blocked import Loop
from intent_np.terms.core import find, inherit, replace, walk
from intent_np.terms.normal import Load, Store
from intent_np.terms.text import brief
from intent_np.testing import validation as v
from intent_np.testing.generator import random_kernel

FAMILIES = ("softmax", "matmul", "attention", "attention_training", "scans", "decode", "recurrent", "stencil", "ragged")
BEFORE = "fold_exponentials"


def blocked(compilation: Compilation, holds: Any) -> Any:
    options = class_options(compilation.plan, holds)
    return compilation.lowered(compilation.normal, options=options, stop_after=BEFORE, after="find_in_place")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_access_of_the_corpus_is_proved(family: str) -> None:
    for entry in (one for found in entries([f"kernels/{family}.py"]) for one in found.launches):
        made = Compilation(entry.kernel, SM_90, dict(entry.constexprs), CompileOptions(**entry.options))
        for holds in dict.fromkeys([generic_class(made.plan), *(class_of(made.plan, s) for s in entry.sizes)]):
            with made.arena:
                program = blocked(made, holds)
                found = [(brief(t), brief(a)) for g in program.groups for t, a in unproved(g.effects)]
                assert not found, f"{entry.title} {holds.name}"
                assert verify_memory(program) is program


def test_nearly_every_access_of_random_kernels_is_proved() -> None:
    count = open_lanes = 0
    for seed in range(700, 740):
        try:
            made = Compilation(random_kernel(seed).kernel, SM_90, {}, CompileOptions())
        except IntentError:
            continue
        with made.arena:
            program = blocked(made, generic_class(made.plan))
            count += sum(1 for _ in find(program, (Load, Store)))
            open_lanes += sum(1 for g in program.groups for _ in unproved(g.effects))
    assert count > 100
    assert open_lanes <= count // 100


@intent.kernel
def shifted(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        y[row, :] = I.flip(x[row, :] * 2.0, 0)
        z[row] = I.reduce.max(x[row, :])


def unmasked(program: Any, which: int) -> Any:
    """The program without the validity of one of its accesses, as a wrong pass might leave it."""
    accesses = [t for t in find(program, (Load, Store)) if t.valid is not None]
    done: dict[Any, Any] = {}
    for t in walk(program):
        new = t.rebuild(done)
        done[t] = inherit(t, replace(new, valid=None) if t is accesses[which % len(accesses)] else new)
    return done[program]


@pytest.mark.parametrize("which", range(4))
def test_a_mask_that_was_lost_is_found_and_put_back(which: int) -> None:
    made = Compilation(shifted, SM_90, {}, CompileOptions())
    with made.arena:
        broken = unmasked(blocked(made, generic_class(made.plan)), which)
        assert any(True for g in broken.groups for _ in unproved(g.effects))
        mended = verify_memory(broken)
        assert not any(True for g in mended.groups for _ in unproved(g.effects))
    rng = np.random.default_rng(0)
    x = rng.integers(-9, 9, (5, 300)).astype(np.float32)
    y, z = np.zeros_like(x), np.zeros(5, np.float32)
    stages = v.Stages(shifted, made.arena, {"mended": mended})
    stages.launch("mended", strict=True)(x, y, z)
    np.testing.assert_array_equal(y, 2 * x[:, ::-1])


def test_blocks_that_are_no_whole_ones_are_told() -> None:
    made = Compilation(shifted, SM_90, {}, CompileOptions())
    with made.arena:
        program = blocked(made, generic_class(made.plan))
        loop = next(t for t in find(program, Loop) if len(t.segments) > 1)
        first, *rest = loop.segments
        longer = changed_loop(program, loop, (replace(first, hi=loop.slice.axis.hi), *rest))
        assert any(True for g in longer.groups for _ in unproved(g.effects))


def changed_loop(program: Any, loop: Any, segments: tuple[Any, ...]) -> Any:
    done: dict[Any, Any] = {}
    for t in walk(program):
        new = t.rebuild(done)
        done[t] = replace(new, segments=segments) if t is loop else new
    return done[program]
