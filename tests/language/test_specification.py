"""The page on the language is executed: its kernels are captured and run, and what it says is an error is one."""

import ast
import re
from pathlib import Path

import pytest

import intent_np.language as I
from intent_np.errors import IntentError
from intent_np.language import OPERATIONS, Kernel
from intent_np.terms.dtypes import DType
from tests.sources import executed

PAGE = Path(__file__).parents[2] / "specs" / "language.md"
BLOCK = re.compile(r"^```python(?: error=(\w+))?\n(.*?)^```$", re.M | re.S)


def test_every_block_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text()
    space: dict[str, object] = {}
    captured = 0
    for block in BLOCK.finditer(text):
        line = text[: block.start(2)].count("\n")
        source = "\n" * line + block[2]
        name = f"{PAGE.name}@{line}"
        before = dict(space)
        executed(source, name, space)
        for kernel in (v for n, v in space.items() if v is not before.get(n) and isinstance(v, Kernel)):
            if block[1]:
                with pytest.raises(IntentError) as found:
                    kernel.capture()
                assert found.value.code == block[1]
            else:
                assert re.search(rf"\b{kernel.name}(\.run)?\(", block[2]), f"{kernel.name} is never called"
                kernel.capture()
            captured += 1
    assert captured >= 25
    assert capsys.readouterr().out == "seed 7, 1000 numbers\nx[0] is 9.0\nx[2] is 16.0\n"


def test_the_examples_give_the_same_once_they_are_compiled() -> None:
    space: dict[str, object] = {}
    for block in BLOCK.finditer(PAGE.read_text()):
        if not block[1]:
            executed(block[2].replace('target="reference"', 'target="cpu"'), "", space)


def test_every_operation_is_on_the_page() -> None:
    text = PAGE.read_text()
    assert [n for n in OPERATIONS if f"* `I.{n}(" not in text] == []


def test_every_operation_but_the_pointwise_ones_has_an_example() -> None:
    code = "".join(block[2] for block in BLOCK.finditer(PAGE.read_text()) if not block[1])
    namespaces = {n.split(".")[0] for n in OPERATIONS if "." in n}
    pointwise = {n for n, o in OPERATIONS.items() if o.meaning.__module__.endswith(".pointwise")}
    wanted = [n for n in OPERATIONS if n not in pointwise and n not in namespaces - {"reduce"}]
    assert [n for n in wanted if f"I.{n}(" not in code] == []


def test_every_construct_has_an_example() -> None:
    code = "".join(block[2] for block in BLOCK.finditer(PAGE.read_text()) if not block[1])
    functions = [f for f in ast.parse(code).body if isinstance(f, ast.FunctionDef)]
    nodes = [n for f in functions for n in ast.walk(f)]
    statements = "For While If Break Continue Return Assert Assign AnnAssign AugAssign Expr".split()
    expressions = "IfExp BoolOp Compare BinOp UnaryOp Slice Tuple Attribute Call keyword".split()
    operators = "Add Sub Mult Div FloorDiv Mod Pow BitAnd BitOr BitXor LShift RShift USub Not Invert And Or".split()
    comparisons = "Lt LtE Gt GtE Eq NotEq".split()
    seen = {type(n).__name__ for n in nodes}
    wanted = [*statements, *expressions, *operators, *comparisons]
    assert [name for name in wanted if name not in seen] == []
    constants = [n.value for n in nodes if isinstance(n, ast.Constant)]
    assert None in constants
    assert ... in constants
    called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert {"range", "enumerate"} <= called


def test_every_dtype_is_on_the_page() -> None:
    (listed,) = re.findall(r"^Dtypes: `([^`]*)`", PAGE.read_text(), re.M)
    dtypes = {v.name for v in vars(I).values() if isinstance(v, DType)}
    assert sorted(listed.split()) == sorted(dtypes)
