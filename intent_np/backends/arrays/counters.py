"""What a run did, for tests of work: a narrowed loop must really load less."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """Totals over all program instances.  Only active, valid lanes count."""

    instances: int = 0
    loads: int = 0
    bytes_loaded: int = 0
    stores: int = 0
    bytes_stored: int = 0
    flops: int = 0  # of contractions: a product and a sum for each
    iterations: int = 0  # of loops
