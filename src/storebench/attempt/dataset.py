"""Make the dataset in S3: `storebench dataset MODULE:FUNCTION`, the main program of the dataset's pod (docs/protocol.md)."""

from __future__ import annotations

import importlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from storebench import protocol
from storebench.attempt.parts.environment import parts_of
from storebench.attempt.termination import leave_message, raise_on_sigterm
from storebench.connection import Connection
from storebench.errors import SpecError, StorebenchError
from storebench.s3 import client_for

VARIABLE = "STOREBENCH_DATASET"


@dataclass(frozen=True)
class DatasetSpec:
    """The specification of a dataset for its pod: rows and seed, and `dataset`, the prefix of its keys in the bucket.

    `axes`: values of the axes that shape the dataset. `file`: the address `s3://bucket/key` of a custom file to make the dataset of; then
    `rows` is the largest allowed number of rows, and the seed identifies the file's version.
    """

    bucket: str
    dataset: str
    rows: int
    seed: int
    axes: Mapping[str, str] = field(default_factory=dict)
    version: int = protocol.VERSION
    file: str | None = None

    def to_json(self) -> str:
        """Return the specification as one line of JSON."""
        specification = asdict(self)
        if self.file is None:
            del specification["file"]
        return json.dumps(specification, separators=(",", ":"))

    @classmethod
    def from_environment(cls) -> DatasetSpec:
        """Parse the specification in the environment. Raises SpecError if it is absent or invalid."""
        text = os.environ.get(VARIABLE)
        if not text:
            raise SpecError(f"{VARIABLE} is not set: `storebench dataset` is started by the DAG, in a pod")
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise SpecError(f"{VARIABLE} is not a valid dataset: {error}") from None


def main(program: str) -> None:
    """Make or find the dataset with the function `program` (`module:function`), and leave the manifest in the termination message.

    The function takes an S3 client, the bucket, the prefix of the dataset's keys, rows, seed, the values of axes by name, `file` for a
    dataset made of a custom file, and `together` (storebench.attempt.parts.parts) if several pods make the dataset. It writes the manifest
    last and returns it; only the leader of several pods does. The operator checks the manifest. Raises a StorebenchError.
    """
    raise_on_sigterm()
    began_s = time.perf_counter()
    spec = DatasetSpec.from_environment()
    module, _, name = program.partition(":")
    try:
        make = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SpecError(f"There is no dataset at {program!r}: {error}") from None
    parts = parts_of()
    try:
        client = client_for(Connection.from_environment("s3"))
        keywords: dict[str, Any] = {**spec.axes, **({"file": spec.file} if spec.file else {})}
        if parts.divided:
            keywords["together"] = parts
        manifest = make(client, spec.bucket, spec.dataset, spec.rows, spec.seed, **keywords)
    except StorebenchError as error:
        parts.close(error)
        raise
    except BaseException as error:
        parts.close(StorebenchError(f"{type(error).__name__}: {error}"))
        raise
    parts.close()
    if not parts.part.leads:
        print(f"Part {parts.part.number} has ended after {time.perf_counter() - began_s:.1f} s", flush=True)
        return
    print(f"{spec.dataset} is there after {time.perf_counter() - began_s:.1f} s", flush=True)
    leave_message(json.dumps(manifest, separators=(",", ":")))
