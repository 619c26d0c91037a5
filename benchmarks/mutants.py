"""How many mutants of the compiler are noticed: `python -m benchmarks.mutants [CORPUS…] [--count N] [--search]`."""

from __future__ import annotations

import argparse
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", nargs="*", default=["kernels"], help="kernels with oracles")
    parser.add_argument("--count", type=int, default=100, help="random kernels")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--some", type=int, help="so many mutants, spread over all")
    parser.add_argument("--search", action="store_true", help="look for witnesses of candidates, and write them down")
    parser.add_argument("--of-each", type=int, default=8, help="candidates of each module, for --search")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()

    from intent_np.testing.mutants.campaign import as_json, measure, search, told

    def progress(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    if given.search:
        made = search(given.corpus, given.count, given.jobs, given.of_each, progress)
    else:
        made = measure(given.corpus, given.count, given.jobs, given.some, progress)
    print(as_json(made) if given.json else told(made))


if __name__ == "__main__":
    main()
