"""Verify outside the timed window that a store holds or returned the dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from storebench.dataset.checksum import TableChecksum
from storebench.dataset.manifest import Manifest
from storebench.errors import VerificationFailed

if TYPE_CHECKING:
    from storebench.stores.bulk_write_read.base import TableStore


def verify(
    store: TableStore, rows: int | None, manifest: Manifest, seen: TableChecksum | None = None, pods: int = 1
) -> str:
    """Compare the number of rows of the operation, the server's count, and every field of every row with the manifest.

    `rows`: number of rows that the timed operation wrote or saw in all of its `pods`; None for an operation without rows. `seen`: the checksum
    of the rows of all pods' second passes; None: the rows are read here. Return a readable text: the subject and way of the verification. Raises
    VerificationFailed with the difference.
    """
    if rows is not None and rows != manifest.rows:
        raise VerificationFailed(f"The operation handled {rows:,} rows of {manifest.rows:,}")
    counted = store.count()
    if counted != manifest.rows:
        raise VerificationFailed(f"The server counts {counted:,} rows, the dataset has {manifest.rows:,}")
    checksum = seen or checksum_of(store)
    if differences := checksum.diff(manifest):
        shown = "; ".join(differences[:5])
        more = f" and {len(differences) - 5} more" if len(differences) > 5 else ""
        raise VerificationFailed(f"The data differs from the dataset: {shown}{more}")
    how = "a second pass of" if store.operation == "read" else "reading back with"
    handled = "" if rows is None else "handled and " if pods == 1 else f"handled by {pods} pods and "
    where = " in each pod" if seen else ""
    return f"{counted:,} rows {handled}counted; all {len(checksum.fields)} fields by {how} {store.verified_by()}{where}"


def checksum_of(store: TableStore) -> TableChecksum:
    """Return the checksum of the store's rows, or of its share of them. Raises VerificationFailed for rows of another form."""
    try:
        return store.checksum()
    except (KeyError, TypeError, ValueError) as error:
        raise VerificationFailed(f"A row does not have the dataset's fields: {error!r}") from error
