"""Datasets as the DAG and the form know them. A pod in any language makes the data (docs/protocol.md)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from storebench.declared import MAY_BE_EMPTY
from storebench.fields import Text, integer
from storebench.stores.base import Pod

MANIFEST = "manifest.json"  # in the dataset's folder; written last, so its presence shows that the dataset is complete
# The form of the ids that `Dataset.id` and `CustomFile.id` return
ID = re.compile(
    r"(?:[a-z][a-z0-9_-]{0,62}/)?v[0-9]{1,9}(?:/[a-z][a-z0-9_]{0,54}=[^/\x00-\x1f]{1,100})*/(?:rows=[0-9]{1,19}/seed|file)=[0-9]{1,19}"
)
MAX_SEED = 2**53 - 1  # the largest integer that every JSON reader keeps
FILE = "dataset"  # the parameter of a run that names a custom file: a user's file or folder in S3
FILE_FIELD = Text(
    title="Dataset",
    text="A CSV or Parquet file of your own in the S3 of the connection **storebench_s3**, as **s3://BUCKET/KEY.csv**, or a folder of such"
    " files, as **s3://BUCKET/FOLDER/**. Then its rows are the dataset, and **rows** and **seed** have no effect. Empty: the generated dataset."
    " The documentation says which files are accepted, in **docs/dataset.md**.",
    default="",
    earlier="",
    examples=("s3://bucket/file.csv", "s3://bucket/file.parquet", "s3://bucket/folder/"),
    pattern=r"|s3://[A-Za-z0-9][A-Za-z0-9._-]*/[^\s?#]+(\.csv|\.csv\.gz|\.parquet|/)",
    hint="s3://BUCKET/KEY that ends with .csv or .parquet, without spaces, or empty; also .csv.gz, or a folder that ends with /",
)
PODS = "dataset_pods"  # the parameter of a run with the number of pods that make its dataset together
MAX_PODS = 100
PODS_FIELD = integer(
    1,
    1,
    MAX_PODS,
    "Pods for the dataset",
    "Number of pods that generate the dataset together, if S3 does not have the dataset yet. The bytes are the same as from one pod."
    " Each pod has the CPU of **pod_cpu** and 1 GiB of memory. One pod converts a file of your own. **docs/dataset.md** says when several pods help.",
    (1, 4, 16),
)


@dataclass(frozen=True)
class CustomFileRecord:
    """The dataset made of a custom file, as recorded with a study. Its manifest also has `file` and `schema`: at least `name` and `type`
    of each column."""

    name: str
    version: int  # raised when the same file gives any changed byte
    max_rows: int

    def id(self, seed: int) -> str:
        """Return the name of the dataset: `own/v2/file=90071992`. The number of rows is unknown until the file was read."""
        return f"{self.name}/v{self.version}/file={seed}"


@dataclass(frozen=True)
class CustomFile(CustomFileRecord):
    """The dataset made of a custom file, with the pod that makes the dataset."""

    pod: Pod


@dataclass(frozen=True)
class DatasetRecord:
    """The data that a study's attempts work on, as recorded with the study: rows, a seed, and the values of some axes give the same bytes
    everywhere.

    Its objects are in the bucket below `folder_of(id)`. The manifest has `rows`, `bytes`, and the figures that verification needs.
    """

    name: str = field(metadata=MAY_BE_EMPTY)  # "" for the CSV: its first ids had no name
    version: int  # raised with any changed byte
    text: str  # for the form: "1,000,000 rows are a CSV of 484 MB"
    row_bytes: int  # approximate bytes per row, for the check of disk space
    max_rows: int
    axes: tuple[str, ...] = field(
        default=(), kw_only=True
    )  # names of the study's axes whose values shape the data
    # for a custom file as the dataset: then the study has the parameter FILE
    custom_file: CustomFileRecord | None = field(default=None, kw_only=True)
    # whether several pods can make the dataset together: then its runs have the parameter PODS
    divides: bool = field(default=False, kw_only=True)

    def id(self, rows: int, seed: int, values: Mapping[str, str] | None = None) -> str:
        """Return the name of a dataset in the results and in S3: `v1/rows=20000/seed=42`. `values`: a cell's values by axis."""
        values = values or {}
        parts = [self.name] if self.name else []
        parts += [f"v{self.version}", *(f"{name}={values[name]}" for name in self.axes if name in values)]
        return "/".join([*parts, f"rows={rows}", f"seed={seed}"])


@dataclass(frozen=True)
class Dataset(DatasetRecord):
    """The data that a study's attempts work on, with the pod that makes the data."""

    pod: Pod
    custom_file: CustomFile | None = field(default=None, kw_only=True)


def seed_of(file: str, version: str, size: int) -> int:
    """Return the number that replaces the seed: different for each file or folder, and for each version of its content."""
    digest = hashlib.sha256(f"{file}\n{version}\n{size}".encode()).digest()
    return int.from_bytes(digest[:8]) % MAX_SEED


def bucket_and_key(file: str) -> tuple[str, str]:
    """Return the bucket and the key of `s3://bucket/key`."""
    bucket, _, key = file.removeprefix("s3://").partition("/")
    return bucket, key


def is_id(text: object) -> bool:
    """Return whether a text has the form of a dataset's id. No other text may name a folder in S3."""
    return isinstance(text, str) and bool(ID.fullmatch(text))


def folder_of(dataset: str) -> str:
    """Return the prefix of the keys of a dataset's objects in the bucket. `dataset`: the id."""
    return f"datasets/{dataset}/"
