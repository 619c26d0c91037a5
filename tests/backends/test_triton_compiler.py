"""Triton source is compiled ahead of time, to the same bytes everywhere, and its failures name a line."""

import dataclasses
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from intent_np import target as targets
from intent_np.backends.triton import ptx
from intent_np.backends.triton.compiler import Compiled, compile_source
from intent_np.backends.triton.cubin import resources
from intent_np.errors import ProviderError, Span

pytest.importorskip("triton")

SOFTMAX = '''"""Softmax of each row."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, N, x_s0, y_s0, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < N
    value = tl.load(x + row * x_s0 + column, mask=inside, other=-float("inf")).to(tl.float32)
    weight = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * y_s0 + column, (weight / tl.sum(weight, axis=0)).to(tl.float16), mask=inside)
'''
SIGNATURE = [("x", "*fp16"), ("y", "*fp16"), ("N", "i32"), ("x_s0", "i32"), ("y_s0", "i32")]
POINTERS_AND_STRIDES = ("x", "y", "N", "x_s0", "y_s0")


def softmax(workdir: Path, target: targets.Target = targets.SM_90, by: int = 16, **options: object) -> Compiled:
    facts = {name: by if name in "xy" else by // 2 for name in POINTERS_AND_STRIDES}
    return compile_source(SOFTMAX, "softmax", SIGNATURE, {"BLOCK": 1024}, facts, target, 4, 2, workdir, **options)


@pytest.mark.parametrize("target", [targets.SM_80, targets.SM_90, targets.SM_100], ids=str)
def test_every_target_compiles_without_a_gpu(target: targets.Target, tmp_path: Path) -> None:
    made = softmax(tmp_path, target)
    assert made.entry == "softmax"
    assert f".target sm_{target.compute_capability}" in made.ptx
    assert made.cubin[:4] == b"\x7fELF"
    assert made.num_warps == 4
    assert 0 < made.registers <= 255
    assert made.stack_bytes == 0
    assert [size for _, size in resources(made.cubin).parameters] == [8, 8, 4, 4, 4, 8, 8]
    assert "loc(" not in made.ttgir


@pytest.mark.parametrize(("by", "width"), [(16, "v4.b32"), (8, "v2.b32"), (4, "b32"), (2, "b16")])
def test_divisibility_below_sixteen_bytes_reaches_the_loads(by: int, width: str, tmp_path: Path) -> None:
    assert f"ld.global.{width} " in softmax(tmp_path, by=by).ptx


def test_the_directory_leaves_no_trace(tmp_path: Path) -> None:
    one, other = softmax(tmp_path / "a"), softmax(tmp_path / "a much longer name" / "below")
    assert one == other
    assert str(tmp_path).encode() not in one.cubin
    assert ".loc" not in one.ptx
    assert ".debug" not in one.ptx


def test_line_information_has_relative_names(tmp_path: Path) -> None:
    one, other = (softmax(tmp_path / name, line_info=True) for name in ("a", "bb"))
    assert one.cubin == other.cubin
    assert '"kernel.py"' in one.ptx
    assert ".loc" in one.ptx
    assert str(tmp_path) not in one.ptx


def test_processes_and_hash_seeds_leave_no_trace(tmp_path: Path) -> None:
    program = (
        "import sys, hashlib; from pathlib import Path; import test_triton_compiler as t\n"
        "print(hashlib.sha256(t.softmax(Path(sys.argv[1])).cubin).hexdigest())"
    )

    def digest(seed: str) -> str:
        root = Path(__file__).parents[2]
        path = os.pathsep.join([str(Path(__file__).parent), str(root)])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        command = [sys.executable, "-c", program, str(tmp_path / seed)]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()

    assert digest("1") == digest("2") == hashlib.sha256(softmax(tmp_path).cubin).hexdigest()


def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    levels = [16, 8, 4, 2] * 6
    alone = {by: softmax(tmp_path / "alone", by=by).cubin for by in set(levels)}
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(lambda pair: softmax(tmp_path / str(pair[0]), by=pair[1]).cubin, enumerate(levels))
        assert list(together) == [alone[by] for by in levels]


def test_a_rewritten_module_is_read_anew(tmp_path: Path) -> None:
    first = softmax(tmp_path)
    source = SOFTMAX.replace("tl.exp", "tl.abs")
    second = compile_source(source, "softmax", SIGNATURE, {"BLOCK": 1024}, {}, targets.SM_90, 4, 2, tmp_path)
    assert "ex2.approx" in first.ptx
    assert "ex2.approx" not in second.ptx


ROWS = """import triton
import triton.language as tl


@triton.jit
def softmax(x, at, y, M, at_s0, x_s0, x_s1, BLOCK: tl.constexpr):
    m = tl.arange(0, 64)
    for i0 in range(0, M, BLOCK):
        i = i0 + tl.arange(0, BLOCK)
        place = tl.load(at + i * 3 * at_s0)
        rest = place % (M + 2)
        inside = rest + tl.where((rest ^ (M + 2)) < 0, M + 2, 0) < M + 2
        row = tl.load(at + i * 3 * at_s0, mask=inside, other=0)
        value = tl.load(x + (row[None, :] + 1) * x_s0 + m[:, None] * x_s1, mask=inside[None, :], other=0)
        tl.store(y + m[:, None] * M + i[None, :], value, mask=m[:, None] < M)
"""
"""Masks of two loads in two layouts, of which Triton takes one for both where there are eight warps."""


def test_a_fault_in_layouts_is_avoided_with_fewer_warps(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    signature = [("x", "*i32"), ("at", "*i64"), ("y", "*i32")]
    signature += [(name, "i64") for name in ("M", "at_s0", "x_s0", "x_s1")]
    made = compile_source(ROWS, "softmax", signature, {"BLOCK": 128}, {}, targets.SM_90, 8, 1, tmp_path)
    assert "Pipeline failed" in capfd.readouterr().err  # where this Triton compiles it, another program is needed here
    assert made.num_warps == made.metadata["options"]["num_warps"] == 4
    assert ".reqntid 128" in made.ptx


def refused(source: str, workdir: Path, **options: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        compile_source(source, "softmax", SIGNATURE, {"BLOCK": 1024}, {}, targets.SM_90, 4, 2, workdir, **options)
    return caught.value


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def test_an_error_in_the_kernel_names_its_line(tmp_path: Path) -> None:
    source = SOFTMAX.replace("column < N", "column < M")
    found = refused(source, tmp_path)
    assert found.code == "E601"
    assert found.span is not None
    assert found.span.line == line_of(source, "column < M")
    assert "M is not defined" in found.detail


def test_an_error_inside_the_library_names_the_call(tmp_path: Path) -> None:
    source = SOFTMAX.replace("tl.sum(weight, axis=0)", "tl.sum(weight, axis=7)")
    found = refused(source, tmp_path)
    assert found.span is not None
    assert found.span.line == line_of(source, "axis=7")


def test_an_error_in_a_helper_names_the_helper(tmp_path: Path) -> None:
    helper = "@triton.jit\ndef helper(v):\n    return v @ 'text'\n\n\n@triton.jit\ndef softmax"
    source = SOFTMAX.replace("@triton.jit\ndef softmax", helper).replace("tl.exp(value", "helper(value")
    found = refused(source, tmp_path)
    assert found.span is not None
    assert found.span.line == line_of(source, "return v")


def test_an_error_names_the_author_where_the_line_is_known(tmp_path: Path) -> None:
    source = SOFTMAX.replace("column < N", "column < M")
    author = Span("author.py", 3, 5, 9, "    mask = columns < N")
    found = refused(source, tmp_path, spans={line_of(source, "column < M"): author})
    assert found.span == author
    [(word, generated)] = found.related
    assert word == "generated line"
    assert generated.file == str(tmp_path / "kernel.py")


def test_a_broken_module_is_an_error_with_its_line(tmp_path: Path) -> None:
    found = refused(SOFTMAX + "\ndef (", tmp_path)
    assert found.span is not None
    assert found.span.line == SOFTMAX.count("\n") + 2


def test_an_error_of_the_assembler_names_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assembly = 'tl.inline_asm_elementwise("nonsense $0, $1;", "=r,r", [column], tl.int32, True, 1)'
    source = SOFTMAX.replace("column < N", f"{assembly} < N")
    found = refused(source, tmp_path)
    assert "ptxas could not compile" in str(found)
    assert found.span is not None
    assert found.span.line == line_of(source, "nonsense")
    assert "Not a name of any known instruction" in found.detail
    assert capsys.readouterr().out == ""


def test_too_much_shared_memory_is_its_own_error(tmp_path: Path) -> None:
    small = dataclasses.replace(targets.SM_90, shared_per_block=8)
    with pytest.raises(ProviderError) as caught:
        softmax(tmp_path, small)
    assert caught.value.code == "E605"
    assert caught.value.expected == "at most 8 bytes"
    assert caught.value.found == "16 bytes"


def test_a_signature_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="the function takes"):
        compile_source(SOFTMAX, "softmax", SIGNATURE[:-1], {"BLOCK": 8}, {}, targets.SM_90, 4, 2, tmp_path)


def test_clean_ptx_knows_where_its_lines_came_from() -> None:
    files = '\t.file\t1 "/tmp/a" "kernel.py"\n\t.file\t2 "/lib" "standard.py"\n'
    text = files + "\t.loc\t1 7 3\n\tadd;\n\t.loc\t2 99 1, function_name $L__info_string0\n\tmul;"
    located = ptx.clean(text, "kernel.py", line_info=False)
    assert located.text.split() == ["add;", "mul;"]
    assert located.lines == (7, 7)
