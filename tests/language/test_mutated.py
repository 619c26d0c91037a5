"""Kernels of the corpus with a mistake in them: each compiles, or is told what is wrong in the author's words.

A mistake is a strange expression in the place of another, an argument that is missing or moved, another name, operator,
attribute or annotation, or a statement that is gone, twice or too early.
"""

import ast
import random
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import intent_np as intent
from intent_np.errors import IntentError
from intent_np.language import Kernel
from tests.sources import executed

FILES = [f for f in sorted((Path(__file__).parents[2] / "kernels").glob("*.py")) if "\n@intent" in f.read_text()]
STRANGE = """0 -1 2.5 'text' None True 2**70 (1,2) [] {} I I.f16 I.exp lambda:1 float('nan') I.domain(0,4) 1e300 ...
    I.record(a=1) (0for(_)in()) f'{1}' slice(None) range(3) I.parallel(I.domain(0,1)) enumerate(I.domain(0,2))
    """.split()
AROUND = """I.exp({}) ({})[:] ({})[0] ({}).shape -({}) (not({})) ({},1) I.cast({},I.i32) I.reduce.sum({}) I.parallel({})
    range({}) I.indices({}) float({}) ({})[None]""".split()
OPERATORS = (ast.Add, ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.LShift, ast.MatMult)
COMPARISONS = (ast.Lt, ast.Eq, ast.NotEq, ast.Is, ast.In)
INTERNAL = re.compile(
    r"<class|object at 0x|<operation|<function|<kernel|<helper|\bextent\d|Points\(|Annotation\(|\b(neg|floordiv)\("
    r"|NoneType|LoopVar|TensorType|\ba (Slice|Ragged|Missing|State|Formal)\b|= extent"
)


class Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def mistaken(f: ast.FunctionDef, r: random.Random) -> None:
    """Put one mistake into the body or the signature."""
    inside = [n for s in f.body for n in ast.walk(s)]
    read = [n for n in inside if isinstance(n, ast.expr) and isinstance(getattr(n, "ctx", ast.Load()), ast.Load)]
    read = [n for n in read if not isinstance(n, ast.Slice | ast.Starred)]
    calls, names = [n for n in inside if isinstance(n, ast.Call)], [n for n in read if isinstance(n, ast.Name)]
    one = r.choice(read)
    match r.randrange(9):
        case 0:
            Replaced(one, expression(r.choice(STRANGE))).visit(f)
        case 1:
            Replaced(one, expression(r.choice(AROUND).format(ast.unparse(one)))).visit(f)
        case 2:
            r.choice(names).id = r.choice(names).id
        case 3 if calls:
            call = r.choice(calls)
            given = call.args if call.args and r.random() < 0.5 else call.keywords
            del given[: r.randrange(2)]
            r.shuffle(call.args)
        case 4:
            for n in r.sample(inside, len(inside)):
                if isinstance(n, ast.BinOp):
                    n.op = r.choice(OPERATORS)()
                elif isinstance(n, ast.Compare):
                    n.ops[0] = r.choice(COMPARISONS)()
                else:
                    continue
                break
        case 5 if found := [n for n in inside if isinstance(n, ast.Attribute)]:
            r.choice(found).attr = r.choice(["shape", "T", "sum", "f32", "reduce", "expp"])
        case 6:
            body = r.choice(
                [n.body for n in (f, *inside) if isinstance(n, ast.FunctionDef | ast.For | ast.While | ast.If)]
            )
            i = r.randrange(len(body))
            body[i : i + 1] = r.choice([[ast.Pass()], [body[i], body[i]], [*body[i + 1 :], body[i]]])
        case 7 if found := [n for n in inside if isinstance(n, ast.Subscript)]:
            r.choice(found).slice = expression(r.choice([*STRANGE, "slice(None), slice(None)"]))
        case 8:
            argument = r.choice(f.args.args)
            parts = [n for n in ast.walk(argument.annotation or argument) if isinstance(n, ast.expr)]
            new = expression(r.choice([*STRANGE, "'M'", "'N +'", "I.In", "int"]))
            if parts:
                argument.annotation = Replaced(r.choice(parts), new).visit(argument.annotation)


def decorated(n: ast.AST) -> bool:
    return isinstance(n, ast.FunctionDef) and any("intent." in ast.unparse(d) for d in n.decorator_list)


def kept(n: ast.AST) -> bool:
    """What of a file its kernels are made of."""
    if isinstance(n, ast.Assign):
        return "CASES" not in ast.unparse(n) and "_of" not in ast.unparse(n)
    return isinstance(n, ast.Import | ast.ImportFrom | ast.ClassDef) or decorated(n)


def kernels_of(seed: int) -> list[Kernel]:
    """The kernels of a file that a mistake was put into."""
    r = random.Random(seed)
    tree = ast.parse(r.choice(FILES).read_text())
    changed = r.choice([n for n in tree.body if isinstance(n, ast.FunctionDef) and decorated(n)])
    mistaken(changed, r)
    text = ast.unparse(ast.fix_missing_locations(ast.Module([n for n in tree.body if kept(n)], [])))
    try:
        space = executed(text + "\n", space={"__name__": "kernels.mistaken", "__package__": "kernels"})
    except IntentError:
        raise
    except Exception:
        return []  # it is no Python, or Python itself finds the mistake when it defines the kernel
    kernels = [k for k in space.values() if isinstance(k, Kernel)]
    return [k for k in kernels if changed.name in (k.name, *k.function.__code__.co_names)]


@pytest.mark.parametrize("first", range(0, 240, 40))
@pytest.mark.filterwarnings("ignore")
def test_a_mistake_is_told_in_the_words_of_the_author(first: int) -> None:
    for seed in range(first, first + 40):
        try:
            with warnings.catch_warnings():
                for kernel in kernels_of(seed):
                    chosen = {p.name: 2 for p in kernel.constexprs if p.default is p.REQUIRED and p.type is int}
                    intent.compile(kernel, target="reference", constexprs=chosen)
        except IntentError as problem:
            for told in problem.errors:
                assert told.code != "E901", (seed, str(told))
                assert told.span or told.code in ("E110", "E111"), (seed, str(told))
                assert told.why, (seed, str(told))
                assert told.fix, (seed, str(told))
                assert not INTERNAL.search(told.render()), (seed, str(told))
