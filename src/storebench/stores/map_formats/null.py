"""No format: the bytes pass. No job can be faster than this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from storebench.errors import VerificationFailed
from storebench.stores.map_formats.base import MapStore

if TYPE_CHECKING:
    from storebench.attempt.spec import AttemptSpec


class Null(MapStore):
    """Passes the table in Skiff, in each of the benchmarks: it decodes nothing, so that nothing can be counted or changed."""

    name = "null"
    limit = True
    encoding = "skiff"

    @property
    def _reads(self) -> bool:
        return True

    def verified(
        self, spec: AttemptSpec, table: Sequence[bytes], outputs: Sequence[bytes], wanted: Sequence[str]
    ) -> str:
        for part, (one, other) in enumerate(zip(table, outputs, strict=True)):
            if one != other:
                raise VerificationFailed(f"The output of job {part}: other bytes than its input")
        return f"the bytes of {len(table)} jobs compared with their inputs"
