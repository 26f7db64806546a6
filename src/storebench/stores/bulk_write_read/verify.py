"""Verify outside the timed window that a store holds or returned the dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from storebench.dataset.manifest import Manifest
from storebench.errors import VerificationFailed

if TYPE_CHECKING:
    from storebench.stores.bulk_write_read.base import TableStore


def verify(store: TableStore, rows: int, manifest: Manifest) -> str:
    """Compare the number of rows of the operation, the server's count, and every field of every row with the manifest.

    `rows`: number of rows that the timed operation wrote or saw. Return a readable text: the subject and way of the verification. Raises
    VerificationFailed with the difference.
    """
    if rows != manifest.rows:
        raise VerificationFailed(f"The operation handled {rows:,} rows of {manifest.rows:,}")
    counted = store.count()
    if counted != manifest.rows:
        raise VerificationFailed(f"The server counts {counted:,} rows, the dataset has {manifest.rows:,}")
    try:
        checksum = store.checksum()
    except (KeyError, TypeError, ValueError) as error:
        raise VerificationFailed(f"A row does not have the dataset's fields: {error!r}") from error
    if differences := checksum.diff(manifest):
        shown = "; ".join(differences[:5])
        more = f" and {len(differences) - 5} more" if len(differences) > 5 else ""
        raise VerificationFailed(f"The data differs from the dataset: {shown}{more}")
    how = "a second pass of" if store.operation == "read" else "reading back with"
    return (
        f"{rows:,} rows handled and counted; all {len(checksum.fields)} fields by {how} {store.verified_by()}"
    )
