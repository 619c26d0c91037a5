"""The corpus with parts of its kernels moved into helpers: what comes out of `inline_calls` is the kernel as it was."""

import ast
import builtins

import pytest

import intent_np as intent
import intent_np.language as I
import kernels
from intent_np.passes.inline_calls import inline_calls
from intent_np.terms.core import Arena, find
from intent_np.terms.logical import LOGICAL, Call, Perform
from tests.sources import executed

from .test_calls import coordinates

HELPER = "\n@intent.fn\ndef {name}({parameters}):\n"


def whole_body(tree, own):
    """The body of a kernel as one helper."""
    names = [a.arg for a in (*tree.args.args, *tree.args.kwonlyargs)]
    helper = HELPER.format(name="extracted", parameters=", ".join(names)) + _block(tree.body)
    tree.body = ast.parse(f"extracted({', '.join(names)})").body
    return helper


def each_value(tree, own):
    """Every expression that is assigned as a helper of the names in it."""
    helpers = []
    for s in ast.walk(tree):
        if isinstance(s, ast.Assign | ast.AugAssign) and isinstance(s.value, ast.BinOp | ast.Call | ast.Subscript):
            used = dict.fromkeys(n.id for n in ast.walk(s.value) if isinstance(n, ast.Name) and n.id in own)
            name = f"extracted{len(helpers)}"
            parameters = ", ".join(used)
            helpers.append(HELPER.format(name=name, parameters=parameters) + f"    return {ast.unparse(s.value)}\n")
            s.value = ast.parse(f"{name}({parameters})", mode="eval").body
    return "".join(helpers)


def each_loop(tree, own):
    """The body of each innermost parallel loop as a helper, of the names in it."""
    helpers = []
    for s in ast.walk(tree):
        inner = isinstance(s, ast.For) and not any(isinstance(n, ast.For) for b in s.body for n in ast.walk(b))
        leaves = inner and any(
            isinstance(n, ast.Continue | ast.Break | ast.Return) for b in s.body for n in ast.walk(b)
        )
        if inner and not leaves and "parallel" in ast.unparse(s.iter):
            names = [n.id for b in s.body for n in ast.walk(b) if isinstance(n, ast.Name) and n.id in own]
            stored = {n.id for b in s.body for n in ast.walk(b) if isinstance(n, ast.Name) and _stores(n)}
            parameters = ", ".join(n for n in dict.fromkeys(names) if n not in stored)
            name = f"extracted{len(helpers)}"
            helpers.append(HELPER.format(name=name, parameters=parameters) + _block(s.body))
            s.body = ast.parse(f"{name}({parameters})").body
    return "".join(helpers)


def _stores(n):
    return isinstance(n.ctx, ast.Store)


def _block(body):
    return "".join(f"    {line}\n" for s in body for line in ast.unparse(s).splitlines())


def extracted(k, way):
    """A kernel that says the same with helpers, or None where its names are those of a function around it."""
    if k.function.__code__.co_freevars:
        return None
    tree = ast.parse(k.source.text).body[0]
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _stores(n)} | {
        a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)
    }
    helpers = way(tree, own - set(dir(builtins)))
    tree.decorator_list = []
    space = {**k.function.__globals__, "intent": intent, "I": I}
    return executed(f"{helpers}\n@intent.kernel\n{ast.unparse(tree)}\n", space=space)[tree.name] if helpers else None


@pytest.mark.parametrize("case", kernels.cases(), ids=lambda case: case.name)
def test_a_kernel_of_helpers_is_the_kernel(case):
    for k, constexprs in case.launches:
        with Arena():
            plain = k.capture(constexprs)
            body, places = inline_calls(plain).body, coordinates(plain)
            for way in (whole_body, each_value, each_loop):
                if (other := extracted(k, way)) is not None:
                    called = other.capture(constexprs)
                    assert list(find(called, (Call, Perform)))
                    assert inline_calls(called).body == body
                    assert coordinates(called) == places
                    assert LOGICAL.check(called) == []
