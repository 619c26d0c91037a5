"""An artifact is a folder of readable files that is all there or not there, and loads without the compiler."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from intent_np.errors import CallError, LanguageUseError, Remark
from intent_np.runtime.classes import classify
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.host import HostArtifact, Machine
from intent_np.runtime.plan import (
    KernelPlan,
    ScalarPlan,
    ViewPlan,
    generic_class,
    kernel_from_json,
    to_json,
    variant_from_json,
)
from intent_np.runtime.storage import files, load
from intent_np.target import CPU, SM_90
from tests.runtime.fakes import AXPBY, AXPBY_TYPES, DeviceArray, FakeDriver, axpby_variant, run_axpby
from tests.runtime.test_classes import SOFTMAX, softmax_call


def example() -> DeviceArtifact:
    variants = [axpby_variant(generic_class(AXPBY))]
    return DeviceArtifact(
        AXPBY,
        SM_90,
        variants,
        texts={"logical": "logical text\n", "normal": "x ∈ ℝ\n"},
        remarks=[Remark("P004", "never")],
        facts={"intent_np": "0.1.0"},
    )


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    one = example()
    one.save(tmp_path / "axpby")
    other = load(tmp_path / "axpby")
    assert isinstance(other, DeviceArtifact)
    assert (other.kernel, other.target, other.variants) == (one.kernel, one.target, one.variants)
    assert (other.texts, other.remarks, other.facts) == (one.texts, one.remarks, one.facts)
    assert files(other) == files(one)
    other.driver = FakeDriver(AXPBY_TYPES, run_axpby)  # type: ignore[misc]
    x, y, z = (DeviceArray(np.float32([value])) for value in (1, 2, 0))
    other(x, 1.0, y, 1.0, z)
    assert z.array.tolist() == [3]


def test_the_files_are_readable(tmp_path: Path) -> None:
    example().save(tmp_path / "axpby")
    found = sorted(str(path.relative_to(tmp_path / "axpby")) for path in tmp_path.rglob("*") if path.is_file())
    inside = ["gpu.txt", "kernel.cubin", "kernel.ptx", "kernel.py", "metadata.json"]
    assert found == sorted(["logical.txt", "metadata.json", "normal.txt", *(f"generic/{name}" for name in inside)])
    assert [path.name for path in tmp_path.iterdir()] == ["axpby"]
    assert (tmp_path / "axpby" / "normal.txt").read_text() == "x ∈ ℝ\n"


@pytest.mark.parametrize("name", ["logical.txt", "generic/kernel.cubin", "generic/metadata.json"])
@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_damage_is_found(name: str, damage: str, tmp_path: Path) -> None:
    place = tmp_path / "axpby"
    example().save(place)
    if damage == "changed":
        (place / name).write_bytes((place / name).read_bytes() + b" ")
    else:
        (place / name).unlink()
    with pytest.raises(CallError) as caught:
        load(place)
    assert caught.value.code == "E705"
    assert Path(name).name in caught.value.found


def test_the_same_compilation_gives_the_same_files_wherever_it_runs(tmp_path: Path) -> None:
    import intent_np as intent
    from intent_np.compiler import CompileOptions
    from kernels.softmax import softmax

    passes = {"block_axes": {"sizes": {"row": 4}}}
    program = (
        "import sys, intent_np as intent; from kernels.softmax import softmax\n"
        f"options = intent.CompileOptions(passes={passes!r})\n"
        "intent.compile(softmax, 'sm_90', options=options).save(sys.argv[1])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd()), "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "one")], check=True, cwd=tmp_path, env=environment)
    made = intent.compile(softmax, "sm_90", options=CompileOptions(passes=passes))
    assert files(load(tmp_path / "one")) == files(made)
    assert made.facts["options"]["passes"] == passes
    facts = made.variants[0].plan.facts
    assert facts["triton"]
    assert facts["ptxas"]
    assert made.made_by in made.explain()


def test_an_artifact_of_another_format_names_both_versions(tmp_path: Path) -> None:
    place = tmp_path / "axpby"
    example().save(place)
    head = json.loads((place / "metadata.json").read_text())
    (place / "metadata.json").write_text(json.dumps(head | {"format": 1, "facts": {"intent_np": "0.0.9"}}))
    with pytest.raises(CallError) as caught:
        load(place)
    assert caught.value.code == "E705"
    assert caught.value.found == "format 1, of intent_np 0.0.9"
    assert caught.value.expected == "format 3, of intent_np 0.1.0"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "files": {}}'])
def test_what_is_no_artifact_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text(text)
    with pytest.raises(CallError, match="no artifact"):
        load(tmp_path)


def test_saving_again_replaces_an_artifact_and_nothing_else(tmp_path: Path) -> None:
    one = example()
    one.save(tmp_path / "a")
    one.texts["logical"] = "another\n"
    one.save(tmp_path / "a")
    assert load(tmp_path / "a").ir("logical") == "another\n"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years")
    with pytest.raises(CallError):
        one.save(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "mine"]


def test_an_artifact_of_the_program_machine_is_revived_by_the_compiler(tmp_path: Path) -> None:
    kernel = KernelPlan("clear", (ViewPlan("y", "f32", "out", ("N",)),))
    HostArtifact(kernel, CPU, Machine(lambda values: None), texts={"normal": "fill 0"}).save(tmp_path / "clear")
    with pytest.raises(CallError, match="needs the compiler"):
        load(tmp_path / "clear")
    one = load(
        tmp_path / "clear", revive=lambda kernel, target, texts: Machine(lambda values: values["y"].fill(len(texts)))
    )
    assert one.run(extents={"N": 2}).tolist() == [1, 1]


def test_loading_needs_numpy_alone(tmp_path: Path) -> None:
    example().save(tmp_path / "axpby")
    program = (
        "import sys, intent_np.runtime.storage as storage\n"
        "one = storage.load(sys.argv[1])\n"
        "print(one.source, one.explain())\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'triton', 'cupy', 'torch', 'ml_dtypes', 'rich', 'egglog'}, loaded\n"
        "assert 'intent_np.terms' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "axpby")], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_an_artifact_for_numpy_runs_again_without_the_compiler(tmp_path: Path, target: str) -> None:
    import intent_np as intent
    from kernels.softmax import softmax

    intent.compile(softmax, target=target).save(tmp_path / "softmax")
    program = (
        "import sys, numpy as np, intent_np as intent\n"
        "one = intent.load(sys.argv[1])\n"
        "x = np.arange(12, dtype=np.float16).reshape(3, 4)\n"
        "assert np.allclose(one.run(x).astype('f4').sum(1), 1, atol=1e-3)\n"
        "assert not {'intent_np.compiler', 'intent_np.passes', 'intent_np.language'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "softmax")], check=True)


def test_an_artifact_whose_text_is_of_another_version_is_refused(tmp_path: Path) -> None:
    import intent_np as intent

    kernel = KernelPlan("clear", (ViewPlan("y", "f32", "out", ("N",)),))
    HostArtifact(kernel, CPU, Machine(lambda values: None), texts={"gpu": "kernel of old"}).save(tmp_path / "clear")
    with pytest.raises(CallError, match="E705"):
        intent.load(tmp_path / "clear")


def test_plans_survive_json() -> None:
    kernel = KernelPlan(
        "k",
        (ViewPlan("x", "f16", "inout", ("N", "2 * N"), (None, "1"), "g", summed=(0,)), ScalarPlan("s", "bf16")),
        constexprs={"mode": "fast", "D": 4, "exact": True},
        resident=("N",),
    )
    assert kernel_from_json(json.loads(json.dumps(to_json(kernel)))) == kernel
    for holds in (generic_class(SOFTMAX), classify(SOFTMAX, softmax_call(3, 1000))):
        plan = axpby_variant(holds).plan
        assert variant_from_json(json.loads(json.dumps(to_json(plan)))) == plan


def test_levels_and_texts() -> None:
    one = example()
    assert one.levels == ("logical", "normal", "gpu", "source", "ptx")
    assert one.ir("gpu") == "gpu for generic"
    assert one.ir("source") == one.source == "# generic\n"
    with pytest.raises(LanguageUseError, match="did you mean 'normal'"):
        one.ir("norml")


def test_an_artifact_describes_itself() -> None:
    one = example()
    assert repr(one).startswith("<artifact axpby(x: in f32[N], a: f32,")
    assert repr(one).endswith("for sm_90, 1 variant>")
    text = one.explain()
    assert "variant generic: grid cdiv(N, 1024), 4 warps" in text
    assert "registers 20" in text
    assert "P004" in text
    assert set(one._repr_mimebundle_()) == {"text/plain", "text/markdown"}
