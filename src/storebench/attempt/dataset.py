"""Makes the dataset in S3: `storebench dataset MODULE:FUNCTION`, the main program of the dataset's pod (docs/protocol.md)."""

from __future__ import annotations

import importlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from storebench import protocol
from storebench.attempt.termination import leave_message, raise_on_sigterm
from storebench.connection import Connection
from storebench.errors import SpecError
from storebench.s3 import client_for

VARIABLE = "STOREBENCH_DATASET"


@dataclass(frozen=True)
class DatasetSpec:
    """What the pod has to make: the dataset of these rows and this seed, below the key `dataset` in the bucket. `axes` are the values of
    the axes that shape it. `file` is what it is made of, if that is a file of the user's, `s3://bucket/key`: then `rows` are the most that it may
    have, and the seed stands for its version.
    """

    bucket: str
    dataset: str
    rows: int
    seed: int
    axes: Mapping[str, str] = field(default_factory=dict)
    version: int = protocol.VERSION
    file: str | None = None

    def to_json(self) -> str:
        told = asdict(self)
        if self.file is None:
            del told["file"]
        return json.dumps(told, separators=(",", ":"))

    @classmethod
    def from_environment(cls) -> DatasetSpec:
        """Raises SpecError for what is no specification."""
        text = os.environ.get(VARIABLE)
        if not text:
            raise SpecError(f"{VARIABLE} is not set: `storebench dataset` is started by the DAG, in a pod")
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise SpecError(f"{VARIABLE} is not a valid dataset: {error}") from None


def main(program: str) -> None:
    """Make, or find, the dataset by the function `program`, `module:function`; what it returns, the manifest, goes to the termination
    message. Raises a StorebenchError.

    The function gets an S3 client, the bucket, the key below which the dataset has to be, rows, seed, and the values of axes by their
    names; and `file` where it is to be made of one. It writes the manifest last. The operator checks it.
    """
    raise_on_sigterm()
    began_s = time.perf_counter()
    spec = DatasetSpec.from_environment()
    module, _, name = program.partition(":")
    try:
        make = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SpecError(f"There is no dataset at {program!r}: {error}") from None
    client = client_for(Connection.from_environment("s3"))
    more = {**spec.axes, "file": spec.file} if spec.file else spec.axes
    manifest = make(client, spec.bucket, spec.dataset, spec.rows, spec.seed, **more)
    print(f"{spec.dataset} is there after {time.perf_counter() - began_s:.1f} s", flush=True)
    leave_message(json.dumps(manifest, separators=(",", ":")))
