"""The volume of a cell: the common folder of its pods, for stores whose data is files (`Pod.volume`)."""

from __future__ import annotations

from storebench.fields import MEMORY, Field, Text

SIZE, STORAGE_CLASS = "volume_size", "volume_storage_class"
# Options of stores whose pods have a volume.
OPTIONS: dict[str, Field] = {
    SIZE: Text(
        title="Size of a volume",
        text="For stores whose data is files: size of the volume that a cell's pods share. Kubernetes quantity, such as **4Gi**.",
        default="4Gi",
        examples=("1Gi", "4Gi", "20Gi"),
        pattern=MEMORY,
        hint="an amount of storage, such as 500Mi or 8Gi",
    ),
    STORAGE_CLASS: Text(
        title="Storage class of volumes",
        text="For stores whose data is files: the StorageClass of their volumes. Empty: the cluster's default.",
        examples=("standard",),
        pattern=r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?",
        hint="the name of a StorageClass",
    ),
}


def claim_of(target: str) -> str:
    """Return the name of the volume claim of a cell's data `target`."""
    return target.replace("_", "-")
