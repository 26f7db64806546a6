"""Draw the entities to read, and the reads among a mix's requests."""

from __future__ import annotations

from collections.abc import Iterator

DISTRIBUTIONS = ("uniform", "zipf")
ZIPF_EXPONENT = 0.99  # as in YCSB
BLOCK = 65_536  # numbers to draw at a time, at a hundredth of the cost of single draws
_PRIME = 2_147_483_647  # larger than any table: it scatters the most requested entities over the table


def drawn(distribution: str, rows: int, seed: int, stream: int) -> Iterator[int]:
    """Yield numbers of entities below `rows` without end. The same seed and stream give the same numbers; other streams differ."""
    import numpy as np

    random = np.random.default_rng([seed & 0xFFFF_FFFF_FFFF_FFFF, stream])
    if distribution == "uniform":
        while True:
            yield from random.integers(rows, size=BLOCK).tolist()
    shares = np.cumsum(np.arange(1, rows + 1, dtype=np.float64) ** -ZIPF_EXPONENT)
    while True:
        ranks = np.searchsorted(shares, random.random(BLOCK) * shares[-1], side="right")
        yield from ((np.minimum(ranks, rows - 1) + 1) * _PRIME % rows).tolist()


def kinds(read_share: float, seed: int, stream: int) -> Iterator[bool]:
    """Yield without end whether each request of a mix is a read. The same seed and stream give the same sequence."""
    import numpy as np

    random = np.random.default_rng([seed & 0xFFFF_FFFF_FFFF_FFFF, stream, 1])
    while True:
        yield from (random.random(BLOCK) < read_share).tolist()
