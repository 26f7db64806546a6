"""The table `stock`: its columns and types, and the rounding error of a sum of doubles."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from storebench.errors import VerificationFailed

TABLE = "stock"
DIGEST_BYTES = 16
ROUNDOFF = 2.0**-53  # the relative error of an addition of doubles
DATETIME = "<M8[s]"


@dataclass(frozen=True)
class Column:
    """A column. `dtype`: NumPy's type in the dataset and the NumPy stores, where NULL is 0 or no bytes."""

    name: str
    dtype: str
    sql: str  # the study's SQL type
    nullable: bool = False

    @property
    def is_text(self) -> bool:
        return self.dtype.startswith("S")

    @property
    def bytes(self) -> int:
        """Return the bytes of a value."""
        return 8 if self.dtype == DATETIME else int(self.dtype.lstrip("<|SMuif"))


def _uid(name: str) -> Column:
    return Column(f"{name}_uid", "<u8", "BIGINT(20) UNSIGNED DEFAULT NULL", nullable=True)


UIDS = (
    "explanation",
    "node",
    "section",
    "payment",
    "function",
    "project",
    "funding",
    "payment_request",
    "mirror_section",
    "mirror_node",
    "resource",
)
_TEXT = "VARCHAR(255) COLLATE utf8_unicode_ci DEFAULT"
COLUMNS = (
    Column("uid", "<u8", "BIGINT(20) UNSIGNED NOT NULL"),
    Column("order_id", "<u8", "BIGINT(20) UNSIGNED NOT NULL"),
    *map(_uid, UIDS),
    Column("quantity", "<f8", "DOUBLE DEFAULT NULL"),
    Column("is_cancellation", "|i1", "TINYINT(1) DEFAULT NULL"),
    Column("is_accountable", "|i1", "TINYINT(1) DEFAULT NULL"),
    Column("date", DATETIME, "DATETIME DEFAULT NULL"),
    Column("mirror_date", DATETIME, "DATETIME DEFAULT NULL"),
    Column("total_price", "<f8", "DOUBLE DEFAULT NULL"),
    Column("portal_type", "S19", f"{_TEXT} NULL"),
    Column("simulation_state", "S9", f"{_TEXT} ''"),
    Column("variation_text", "S9", f"{_TEXT} NULL"),
    Column("sub_variation_text", "S8", f"{_TEXT} NULL", nullable=True),
)
BY_NAME = {column.name: column for column in COLUMNS}
SUMMED = tuple(column.name for column in COLUMNS if column.dtype == "<f8")
ROW_BYTES = sum(column.bytes for column in COLUMNS)  # 183; the study's rows are 250 MiB
RECORD = [(column.name, column.dtype) for column in COLUMNS]  # a packed row as NumPy's dtype


def key_of(prefix: str, column: str) -> str:
    """Return the S3 key of a column's object, which has the column's values in the order of the rows."""
    return f"{prefix}{column}.bin"


def digest(values: Any) -> str:
    """Return the checksum of a column's values, a NumPy array of its dtype."""
    import numpy as np

    return digest_of(np.ascontiguousarray(values).tobytes())


def digest_of(data: bytes) -> str:
    """Return the checksum of a column's bytes."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


def bound(additions: int, sum_of_magnitudes: float, exact: float) -> float:
    """Return the largest error of a sum compared with `exact`, which is rounded once. `additions`: the most additions of a value.

    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 4.2: γ(k)·Σ|x|, γ(k) = k·u / (1 - k·u).
    """
    roundoff = additions * ROUNDOFF
    return roundoff / (1 - roundoff) * sum_of_magnitudes + abs(exact) * ROUNDOFF


def check_sum(total: float, manifest: Mapping[str, Any], column: str, additions: int) -> str:
    """Compare a sum with the manifest, and return a sentence about the difference. Raises VerificationFailed."""
    exact, magnitudes = manifest["sums"][column], manifest["magnitudes"][column]
    limit = bound(additions, magnitudes, exact)
    off = abs(total - exact)
    if not math.isfinite(total) or off > limit:
        raise VerificationFailed(
            f"The sum of {column} is {total!r}, and not {exact!r}: {off:.3g} off, where {additions:,} additions allow {limit:.3g}"
        )
    return f"sum {off:.2g} off, {limit:.2g} allowed"
