"""Adversarial sizes that many kernels share: empty, one, primes, powers of two and one beside them, past any block."""


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
