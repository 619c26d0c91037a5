"""The same programs come out in every process, whatever the hash seed, the memory layout and the directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import hashlib, kernels, random
from intent_np.corpus.lowering import reference_only
from intent_np.errors import IntentError
from intent_np.passes.pipeline import Trace, run
from intent_np.terms.core import Arena, walk
from intent_np.terms.text import show

ballast = [object() for _ in range(random.SystemRandom().randrange(100_000))]  # other addresses, other orders of sets
launched = [(case, *one) for case in kernels.cases() for one in case.launches]
for case, kernel, constexprs in launched:
    with Arena():
        numerics = case.options.get("numerics")
        program = kernel.capture(constexprs, permissions=(numerics,) if numerics else ())
        trace = Trace()
        try:
            run(program, trace=trace)
        except IntentError as problem:
            if not reference_only(problem):
                raise
        for name, stage in {"capture": program, **trace.programs}.items():
            text = show(stage) + " ".join(str(t.digest) for t in walk(stage))
            print(case.name, kernel.name, name, hashlib.sha256(text.encode()).hexdigest())
"""


def hashes(seed: str, folder: Path) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_every_level_of_every_kernel_is_the_same_everywhere(tmp_path: Path) -> None:
    first = hashes("0", ROOT)
    assert len(first) > 400
    for seed, folder in (("1", tmp_path), ("random", Path("/"))):
        assert [line for line in hashes(seed, folder) if line not in first] == []
