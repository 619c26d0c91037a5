"""`intent-np compile`: levels, sources, artifacts, validation, plans."""

import json

from intent_np.cli import FAILED, OK, USAGE

from .command import run


def test_compile_validates_every_pass(capsys, monkeypatch) -> None:
    place = "kernels/pointwise.py:relu"
    assert run(capsys, "compile", place, "--target", "cpu", "--validate")[0] == OK
    assert run(capsys, "compile", place, "--stop-after", "emit", "--validate")[0] == USAGE

    from intent_np.passes import pipeline
    from intent_np.passes.base import Pass
    from intent_np.terms.core import replace, rewrite
    from intent_np.terms.index import Const

    def one_more(program):
        return rewrite((program,), lambda t: replace(t, value=1.0) if isinstance(t, Const) and t.value == 0.0 else t)[0]

    one_more.__name__ = "contract_fma"
    old = pipeline.by_name("contract_fma")
    steps = tuple(Pass(one_more, p.source, p.target) if p is old else p for p in pipeline.PIPELINE)
    monkeypatch.setattr(pipeline, "PIPELINE", steps)
    code, _, err = run(capsys, "compile", place, "--target", "cpu", "--validate")
    assert code == FAILED
    assert "E711 the pass 'contract_fma' changes what 'relu' computes" in err
    assert "kernels/pointwise.py:" in err.splitlines()[0]


def test_compile_prints_what_a_target_executes(capsys, tmp_path) -> None:
    softmax, folder = "kernels/softmax.py:softmax", tmp_path / "softmax"
    code, out, _ = run(capsys, "compile", softmax, "--target", "sm_90", "--out", str(folder), "-e", "N=100", "--json")
    result = json.loads(out)["kernels"][0]
    assert code == OK
    assert "@triton.jit" in result["texts"]["source"]
    assert result["saved"] == str(folder)
    assert list(folder.glob("*/kernel.cubin"))
    code, out, _ = run(
        capsys, "compile", softmax, "--target", "cpu", "--print", "form_groups", "--print", "gpu", "--check"
    )
    assert code == OK
    assert "# softmax.softmax: form_groups\n" in out
    assert "kernel @softmax" in out
    code, _, err = run(capsys, "compile", softmax, "--target", "cpu", "--print", "gup")
    assert code == USAGE
    assert "did you mean 'gpu'" in err
    assert run(capsys, "compile", softmax, "--target", "sm_91")[0] == USAGE


def test_no_extent_is_negative(capsys) -> None:
    for command in (("compile", "--target", "cpu"), ("run",), ("check",), ("bisect",)):
        code, _, err = run(capsys, command[0], "kernels/pointwise.py:relu", *command[1:], "-e", "N=-1")
        assert code == USAGE
        assert "'N=-1': an extent is 0 or more" in err


def test_every_level_of_a_host_program_is_printed(capsys) -> None:
    place = "compile", "kernels/pointwise.py:relu", "--target", "cpu", "--print"
    for level in ("logical", "normal", "grouped", "blocked", "gpu"):
        code, text, _ = run(capsys, *place, level)
        assert code == OK
        assert "@relu" in text
    code, _, err = run(capsys, *place, "triton")
    assert code == USAGE
    assert "expected: logical, normal, grouped, blocked, gpu" in err
    assert "a GPU target, such as sm_90, has those behind gpu as well" in err


def test_compile_prints_plans_with_their_costs(capsys) -> None:
    code, out, _ = run(capsys, "compile", "kernels/norms.py:layer_norm", "--plans", "-e", "M=1024", "-e", "N=65536")
    assert code == OK
    assert "group of y\n*" in out
    assert "columns@1 columns@2 columns@3" in out
    assert "memory" in out


def test_what_plans_are_printed_is_what_was_asked_for(capsys) -> None:
    def plans(*options: str) -> str:
        _, out, err = run(capsys, "compile", "kernels/softmax.py:softmax", "--plans", *options)
        return out + err

    assert "directed plan, it has more than 3 values" in plans("--option", "choose_plan.limits.values=3")
    assert "keeps" not in plans("-e", "N=131072", "--option", "choose_plan.policy=recompute")
    assert "keeps" in plans("-e", "N=131072", "--option", "choose_plan.policy=keep")
    assert "choose_plan has no limit value\n" in plans("--option", "choose_plan.limits.value=3")


def test_no_plan_is_shown_of_what_instances_share(capsys) -> None:
    place = "compile", "kernels/reductions.py:sum_all", "--plans", "-e"
    assert "group of y\n*" in run(capsys, *place, "N=4096")[1]
    assert run(capsys, *place, "N=100000000")[1].strip() == "group of y: directed plan, instances share its reductions"
