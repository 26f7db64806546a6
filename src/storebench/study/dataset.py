"""What a dataset is to Storebench: what the DAG and the form know of it. A pod makes it, in whatever language (docs/protocol.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from storebench.stores.base import Pod

MANIFEST = "manifest.json"  # in the dataset's folder; written last: where it is, the dataset is complete
MAX_SEED = 2**53 - 1  # the largest integer that every JSON reader keeps


@dataclass(frozen=True)
class Dataset:
    """The data that a study's attempts work on: rows, a seed, and the values of some axes give the same bytes everywhere.

    Its objects are below `folder_of` its id in the bucket. Beside what verification needs, its manifest says its `rows` and `bytes`.
    """

    name: str  # "" for the CSV: its ids were given out without one
    version: int  # any changed byte raises it
    text: str  # for the form: "1,000,000 rows are a CSV of 484 MB"
    row_bytes: int  # about: for the check of the disk
    max_rows: int
    pod: Pod  # that makes it
    axes: tuple[str, ...] = ()  # of the study, whose values shape the data, too

    def id(self, rows: int, seed: int, values: Mapping[str, str] | None = None) -> str:
        """What names it in the results and in S3: `v1/rows=20000/seed=42`. `values` are a cell's, by axis."""
        values = values or {}
        parts = [self.name] if self.name else []
        parts += [f"v{self.version}", *(f"{name}={values[name]}" for name in self.axes if name in values)]
        return "/".join([*parts, f"rows={rows}", f"seed={seed}"])


def folder_of(dataset: str) -> str:
    """The key in the bucket below which the objects of the dataset of this id are."""
    return f"datasets/{dataset}/"
