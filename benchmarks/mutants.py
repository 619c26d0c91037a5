"""How many mutants of the compiler are noticed: `python -m benchmarks.mutants [--out FOLDER] [--jobs N] [--search]`.

The folder has a journal, by which the same command goes on where it ended, and `result.json` and `result.md`.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/mutants"))
    parser.add_argument("--count", type=int, default=2000, help="random kernels")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--some", type=int, help="so many mutants, spread over all")
    parser.add_argument("--search", action="store_true", help="look for witnesses of candidates, and keep them")
    given = parser.parse_args()

    from intent_np.testing.mutants.campaign import Campaign
    from intent_np.testing.mutants.rates import as_json, told

    def progress(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    campaign = Campaign(given.out, given.jobs, given.minutes, progress)
    made = campaign.search() if given.search else campaign.measure(given.count, given.some)
    name = "search" if given.search else "result"
    (given.out / f"{name}.json").write_text(as_json(made) + "\n")
    (given.out / f"{name}.md").write_text(told(made) + "\n")
    print(told(made))


if __name__ == "__main__":
    main()
