"""The tables in S3: made once, for each format, in as many objects as there are jobs."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from storebench import s3
from storebench.errors import VerificationFailed
from storebench.stores.map_formats.check import digest, digest_of
from storebench.stores.map_formats.formats import ENCODINGS, format_of
from storebench.stores.map_formats.tables import JOBS, POSITIONS, benchmark_of, key_of
from storebench.stores.map_formats.verify import verify
from storebench.study.dataset import MANIFEST


def make(
    client: Any, bucket: str, prefix: str, rows: int, seed: int, benchmark: str, values: str = "random"
) -> Mapping[str, Any]:
    """What the dataset's pod does: the manifest of what is below `prefix` then. The manifest is written last."""
    bench = benchmark_of(benchmark, values)
    with s3.errors(client, bucket, f"{prefix}{MANIFEST}"):
        there = s3.read(client, bucket, f"{prefix}{MANIFEST}")
    if there is not None:
        found: dict[str, Any] = json.loads(there)
        return found
    positions = POSITIONS if benchmark == "extend" else POSITIONS[:1]
    maps = {position: benchmark_of(benchmark, values, position).map for position in positions}
    table_rows = bench.rows(rows)
    sizes = dict.fromkeys(ENCODINGS, 0)
    digests: dict[str, list[str]] = {encoding: [] for encoding in ENCODINGS}
    outputs: dict[str, list[str]] = {position: [] for position in positions}
    for part in range(JOBS):
        plain = list(bench.input(rows, seed, part))
        for position, mapped in maps.items():
            outputs[position].append(digest(mapped(iter(plain))))
        for encoding, name in ENCODINGS.items():
            sink = io.BytesIO()
            format_of(name, bench).encode(bench.table, plain, sink)
            data = sink.getvalue()
            if not part:  # the others are made in the same way
                wrong = verify(name, bench, "input", rows, seed, part, digest(plain), data)
                if wrong:
                    raise VerificationFailed(f"The table in {encoding}: {wrong}")
            key = key_of(prefix, encoding, part)
            with s3.errors(client, bucket, key):
                client.put_object(Bucket=bucket, Key=key, Body=data)
            sizes[encoding] += len(data)
            digests[encoding].append(digest_of(data))
    manifest = {
        "rows": rows,
        "bytes": sum(sizes.values()),
        "table_rows": table_rows,
        "format_bytes": sizes,
        "digests": digests,
        "output_digests": outputs,
    }
    with s3.errors(client, bucket, f"{prefix}{MANIFEST}"):
        body = json.dumps(manifest, separators=(",", ":")).encode()
        client.put_object(Bucket=bucket, Key=f"{prefix}{MANIFEST}", Body=body)
    return manifest
