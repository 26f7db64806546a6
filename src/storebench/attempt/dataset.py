"""Makes the dataset in S3: `storebench dataset`, the main program of the dataset's pod."""

from __future__ import annotations

import time

from storebench.attempt.termination import leave_message, raise_on_sigterm
from storebench.connection import Connection
from storebench.dataset.upload import ensure_dataset
from storebench.s3 import client_for


def main(rows: int, seed: int, bucket: str) -> None:
    """Generate, or find, the dataset; its manifest goes to the termination message. Raises a StorebenchError."""
    raise_on_sigterm()
    began_s = time.perf_counter()
    client = client_for(Connection.from_environment("s3"))
    manifest, created = ensure_dataset(
        client, bucket, rows, seed, progress=lambda text: print(text, flush=True)
    )
    what = "generated" if created else "found"
    took_s = time.perf_counter() - began_s
    print(f"{what} {manifest.rows:,} rows, {manifest.bytes / 1e6:,.1f} MB in {took_s:.1f} s", flush=True)
    leave_message(manifest.to_json())
