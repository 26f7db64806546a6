"""Deal the files of a Delta table to the parts of a read."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow.dataset as ds
    from deltalake import DeltaTable


def sizes_of(table: DeltaTable) -> dict[str, int]:
    """Return the bytes of each data file of the table's version, by the file's path in the table."""
    import pyarrow as pa

    files = pa.table(table.get_add_actions(flatten=True)).select(["path", "size_bytes"]).to_pylist()
    return {file["path"]: file["size_bytes"] for file in files}


def deal(sizes: Mapping[str, int], parts: int) -> list[list[str]]:
    """Deal files to parts by their bytes: the largest file goes first, and each file goes to the part with the fewest bytes so far.

    All pods deal the same files in the same way. A part gets nothing if there are fewer files than parts.
    """
    dealt: list[list[str]] = [[] for _ in range(parts)]
    held = [(0, number) for number in range(parts)]
    for size, path in sorted(
        ((size, path) for path, size in sizes.items()), key=lambda file: (-file[0], file[1])
    ):
        bytes_before, number = heapq.heappop(held)
        dealt[number].append(path)
        heapq.heappush(held, (bytes_before + size, number))
    return dealt


def only(table: DeltaTable, paths: Collection[str]) -> ds.FileSystemDataset:
    """Return the dataset of pyarrow for these files of the table."""
    from pyarrow.dataset import FileSystemDataset

    whole, chosen = table.to_pyarrow_dataset(), set(paths)
    fragments = [fragment for fragment in whole.get_fragments() if fragment.path in chosen]
    return FileSystemDataset(fragments, whole.schema, whole.format, whole.filesystem)
