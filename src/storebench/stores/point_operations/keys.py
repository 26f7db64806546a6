"""Draw the entities that reads request, and the reads among a mix's requests."""

from __future__ import annotations

from collections.abc import Iterator

DISTRIBUTIONS = ("uniform", "zipf")
ZIPF_EXPONENT = 0.99  # as in YCSB
BLOCK = 65_536  # numbers that are drawn together, which costs a hundredth of one by one
_PRIME = 2_147_483_647  # larger than any table: what is asked for most is scattered over the table


def drawn(distribution: str, rows: int, seed: int, stream: int) -> Iterator[int]:
    """Numbers of entities below `rows`, without end. Each `stream` of a seed has its own, and the same ones each time."""
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
