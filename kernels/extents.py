"""Adversarial sizes that many kernels share: empty, one, primes, powers of two and one beside them, past any block."""

import numpy as np


def sizes(names, values):
    """`sizes("M N", "1 2, 3 4")`: extents by name for each group of numbers."""
    return tuple(dict(zip(names.split(), map(int, one.split()), strict=True)) for one in values.split(","))


VECTORS = tuple({"N": n} for n in (0, 1, 2, 31, 128, 129, 1000, 4097, 70001))

MATRICES = tuple(
    {"M": m, "N": n}
    for m, n in (
        (0, 5), (5, 0), (1, 1), (1, 17), (37, 1), (3, 7), (16, 64), (33, 129), (65, 127), (257, 130), (5, 1025),
        (1031, 3),
    )
)  # fmt: skip

# Row kernels: the last two rows are longer than what one program keeps in registers.
ROWS = tuple(
    {"M": m, "N": n}
    for m, n in (
        (0, 4), (3, 0), (1, 1), (4, 2), (3, 31), (2, 128), (5, 129), (3, 1000), (67, 33), (2, 4097), (2, 20011),
        (1, 65536),
    )
)  # fmt: skip

PRODUCTS = tuple(
    {"M": m, "N": n, "K": k}
    for m, n, k in (
        (0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1, 1), (1, 7, 130), (17, 13, 19), (64, 64, 64), (65, 33, 127),
        (130, 100, 75), (129, 257, 72), (31, 300, 521),
    )
)  # fmt: skip


# Groups: G of them hold Z rows of D elements together, so that some are empty wherever there are enough of them.
GROUPS = tuple(
    {"G": g, "Z": z, "D": d}
    for g, z, d in ((0, 0, 3), (1, 0, 5), (3, 7, 0), (1, 1, 1), (5, 2, 3), (7, 31, 17), (16, 64, 64), (13, 257, 33),
                    (129, 100, 5), (2, 3001, 2))
)  # fmt: skip


def ragged(extents, rng):
    """Ascending offsets of G groups of Z members; some groups are empty, the first and the last now and then."""
    cuts = np.sort(rng.integers(0, extents["Z"] + 1, max(extents["G"] - 1, 0)))
    if extents["G"] == 0:
        return np.zeros(1, int)
    return np.concatenate([[0], cuts, [extents["Z"]]])
