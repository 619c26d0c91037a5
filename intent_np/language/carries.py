"""What a loop carries: the types of its states, which those of literals have to be found for."""

from __future__ import annotations

from itertools import product
from typing import Any

from intent_np.errors import IntentError
from intent_np.terms.core import named
from intent_np.terms.dtypes import DType, bf16, bool_, f16, f32, f64, i32, i64, index
from intent_np.terms.index import Value, const
from intent_np.terms.logical import Filled, State, TensorType, element, shape_of

from . import exits
from .context import capture
from .elaborate import is_literal, is_open, value
from .frames import Poisoned
from .products import alike, leaves, refilled

KINDS = {"int": (i64, index, i32), "float": (f64, f32, f16, bf16)}  # the first is what a literal is by itself


def carried_dtypes(head: Any, name: str, inits: dict[str, Any], collect: bool) -> dict[str, list[DType]]:
    """The dtypes of the carries.  Those that start as literals take what one iteration makes of them; where it leaves
    them literals, the first dtype that fits the body."""
    dtypes = {n: [element(value(x).type) for x in leaves(v)] for n, v in inits.items()}
    starts = [(n, i, x) for n, v in inits.items() for i, x in enumerate(leaves(v)) if is_open(x)]
    if not starts:
        return dtypes
    after, _ = rehearsed(head, inits, collect)
    undecided: dict[tuple[str, int], str] = {}
    for n, i, x in starts:
        y = list(leaves(after[n]))[i] if n in after and alike(inits[n], after[n]) else x
        if isinstance(y, Value) and not is_open(y):
            dtypes[n][i] = element(y.type)
        else:
            if is_literal(y) and element(value(y).type) is f64:
                dtypes[n][i] = f64
            kind = next((k for k, ds in KINDS.items() if ds[0] is dtypes[n][i]), "")
            undecided |= {(n, i): kind} if kind else {}
    kinds = tuple(dict.fromkeys(undecided.values()))
    for choice in product(*(KINDS[k] for k in kinds)):
        trial = {n: list(ds) for n, ds in dtypes.items()}
        for (n, i), kind in undecided.items():
            trial[n][i] = choice[kinds.index(kind)]
        if rehearsed(head, states_of(name, inits, trial), collect)[1]:
            return trial
    return dtypes


def rehearsed(head: Any, names: dict[str, Any], collect: bool) -> tuple[dict[str, Any], bool]:
    """What an iteration over these names leaves them, and whether its types fit; without a trace."""
    from . import statements

    state, f, before = capture(), head.f, head.f.names
    with state.rehearsal(), state.block(members=head.members):
        f.names, sound = exits.iteration({**before, **names}), False
        try:
            head.ask()
            head.bind()
            statements.execute(f, head.s.body, collect=True)
            sound = not any(_of_types(e) for e in state.errors)
        except IntentError as problem:
            sound = not any(map(_of_types, problem.errors))  # the attempt that counts will report it
        except Poisoned:
            pass
        after, f.names = f.names, before
    return after, sound


def _of_types(problem: IntentError) -> bool:
    return problem.code.startswith("E2")


def states_of(name: str, inits: dict[str, Any], dtypes: dict[str, list[DType]]) -> dict[str, Any]:
    """The carries as they are in an iteration."""
    position, states = 0, {}
    for n, v in inits.items():
        parts = []
        for x, d in zip(leaves(v), dtypes[n], strict=True):
            parts.append(state_of(name, position, d, x, n))
            position += 1
        states[n] = refilled(v, parts)
    return states


def state_of(loop: str, position: int, d: DType, like: Any, called: str) -> State:
    """The state at `position` of a loop, of dtype `d` and of the shape of `like`, named as the author calls it."""
    shape = like.type.shape if isinstance(like, Value) and isinstance(like.type, TensorType) else None
    return named(State(loop, position, d, shape or (), shape is None), called)  # type: ignore[no-any-return]


def blank(like: Value) -> Value:
    """A value of the type of `like` that nothing asks for."""
    d = element(like.type)
    zero = const(False if d is bool_ else 0.0 if d.is_float else 0, d)
    return Filled(zero, shape_of(like)) if isinstance(like.type, TensorType) else zero
