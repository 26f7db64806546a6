"""What a dataset is to Storebench: what the DAG and the form know of it. A pod makes it, in whatever language (docs/protocol.md)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from storebench.declared import MAY_BE_EMPTY
from storebench.fields import Text
from storebench.stores.base import Pod

MANIFEST = "manifest.json"  # in the dataset's folder; written last: where it is, the dataset is complete
# The ids that `Dataset.id` and `File.id` make
ID = re.compile(
    r"(?:[a-z][a-z0-9_-]{0,62}/)?v[0-9]{1,9}(?:/[a-z][a-z0-9_]{0,54}=[^/\x00-\x1f]{1,100})*/(?:rows=[0-9]{1,19}/seed|file)=[0-9]{1,19}"
)
MAX_SEED = 2**53 - 1  # the largest integer that every JSON reader keeps
FILE = "dataset"  # the parameter of a run that names a file of one's own
FILE_FIELD = Text(
    title="Dataset",
    text="A CSV or Parquet file of your own in the S3 of the connection **storebench_s3**, as **s3://BUCKET/KEY.csv**, or a folder of such"
    " files, as **s3://BUCKET/FOLDER/**. Then its rows are the dataset, and **rows** and **seed** count for nothing. Empty: the generated one."
    " docs/dataset.md says what a file can have.",
    default="",
    earlier="",
    examples=("s3://bucket/file.csv", "s3://bucket/file.parquet", "s3://bucket/folder/"),
    pattern=r"|s3://[A-Za-z0-9][A-Za-z0-9._-]*/[^\s?#]+(\.csv|\.csv\.gz|\.parquet|/)",
    hint="s3://BUCKET/KEY that ends with .csv or .parquet, without spaces, or empty; also .csv.gz, or a folder that ends with /",
)


@dataclass(frozen=True)
class Dataset:
    """The data that a study's attempts work on: rows, a seed, and the values of some axes give the same bytes everywhere.

    Its objects are below `folder_of` its id in the bucket. Beside what verification needs, its manifest says its `rows` and `bytes`.
    """

    name: str = field(metadata=MAY_BE_EMPTY)  # "" for the CSV: its ids were given out without one
    version: int  # any changed byte raises it
    text: str  # for the form: "1,000,000 rows are a CSV of 484 MB"
    row_bytes: int  # about: for the check of the disk
    max_rows: int
    pod: Pod  # that makes it
    axes: tuple[str, ...] = ()  # of the study, whose values shape the data, too
    own: File | None = None  # a file can take its place: then the study has FILE among its parameters

    def id(self, rows: int, seed: int, values: Mapping[str, str] | None = None) -> str:
        """What names it in the results and in S3: `v1/rows=20000/seed=42`. `values` are a cell's, by axis."""
        values = values or {}
        parts = [self.name] if self.name else []
        parts += [f"v{self.version}", *(f"{name}={values[name]}" for name in self.axes if name in values)]
        return "/".join([*parts, f"rows={rows}", f"seed={seed}"])


@dataclass(frozen=True)
class File:
    """What a file of one's own becomes. Its manifest says its `file` and `schema`, too: of each column at least `name` and `type`."""

    name: str
    version: int  # any changed byte of what the same file becomes raises it
    max_rows: int
    pod: Pod

    def id(self, seed: int) -> str:
        """What names it: `own/v2/file=90071992`. How many rows it has is not known before it was read."""
        return f"{self.name}/v{self.version}/file={seed}"


def seed_of(file: str, version: str, size: int) -> int:
    """Return the number that takes the place of a seed: another one for each file or folder, and for each version of its content."""
    digest = hashlib.sha256(f"{file}\n{version}\n{size}".encode()).digest()
    return int.from_bytes(digest[:8]) % MAX_SEED


def bucket_and_key(file: str) -> tuple[str, str]:
    """Return the bucket and the key of `s3://bucket/key`."""
    bucket, _, key = file.removeprefix("s3://").partition("/")
    return bucket, key


def is_id(text: object) -> bool:
    """Return whether a text has the form of a dataset's id: no other text may name a folder in S3."""
    return isinstance(text, str) and bool(ID.fullmatch(text))


def folder_of(dataset: str) -> str:
    """The key in the bucket below which the objects of the dataset of this id are."""
    return f"datasets/{dataset}/"
