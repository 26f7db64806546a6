"""The floor of each benchmark: no job can be faster than this job without a format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from storebench.errors import VerificationFailed
from storebench.stores.base import TypicalTime
from storebench.stores.map_formats.base import MapStore
from storebench.stores.map_formats.tables import JOBS

if TYPE_CHECKING:
    from storebench.attempt.spec import AttemptSpec


class Null(MapStore):
    """The floor. It reads the benchmark's smallest table of all formats, and writes as many bytes as the smallest output of all formats,
    without decoding or encoding."""

    name = "null"
    typical = (
        TypicalTime("map", fixed_s=4, million_s=0.2),
        TypicalTime("map", fixed_s=4, million_s=7, client="python"),
    )
    floor = True

    def encoding_of(self, manifest: Mapping[str, Any]) -> str:
        sizes: Mapping[str, int] = manifest["format_bytes"]
        return min(sizes, key=sizes.__getitem__)

    def written(self, manifest: Mapping[str, Any], rows: int) -> list[range]:
        """Return the numbers of the bytes that each job writes."""
        size = _smallest_output(manifest)
        return [range(size * part // JOBS, size * (part + 1) // JOBS) for part in range(JOBS)]

    def verified(self, spec: AttemptSpec, manifest: Mapping[str, Any], outputs: Sequence[bytes]) -> str:
        for part, (wanted, output) in enumerate(zip(self.written(manifest, spec.rows), outputs, strict=True)):
            if len(wanted) != len(output):
                raise VerificationFailed(
                    f"The output of job {part}: {len(output):,} bytes, and not {len(wanted):,}"
                )
        return f"the outputs of {len(outputs)} jobs have as many bytes as the smallest output of all formats"


def _smallest_output(manifest: Mapping[str, Any]) -> int:
    sizes: Mapping[str, Mapping[str, int]] = manifest["output_bytes"]
    return min(size for of_position in sizes.values() for size in of_position.values())
