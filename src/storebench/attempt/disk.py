"""Measure how fast a disk reads data that no process has read since the machine's start.

Cold reads that are faster than this rate may come from a cache below the kernel. The data must be older than the machine's start: a
hypervisor may still hold newer data in its memory.
"""

from __future__ import annotations

import math
import mmap
import os
import random
import stat
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from storebench.errors import SpecError, StoreRefused

VARIABLE = "STOREBENCH_UNCACHED_MB_PER_S"  # in a pod's environment: the highest measured rate of the disk with its data, in MB per second
AIRFLOW_VARIABLE = VARIABLE.lower()  # the source of the pods' variable
# Large stretches and several readers, so that no scan of a table is faster unless a cache answers it.
STRETCH_BYTES, BLOCK_BYTES, READERS = 4 << 20, 1 << 20, 4
FILES, FEWEST_FILES = 16, 8  # one stretch is read of each file
SEARCH_S, READ_S = 3.0, 5.0
SEARCHED_FILES = 64  # stop the search after this number of files
DAY_S = 86_400  # a kernel may update the time of a file's last read only once a day (relatime)
NO_TIMES = 1024  # ST_NOATIME of statvfs: Python names it only on some systems
STAT = Path("/proc/stat")


@dataclass(frozen=True)
class Uncached:
    """A measured rate: `bytes_read` of `files` files in `seconds`."""

    bytes_read: int
    files: int
    seconds: float

    @property
    def mb_per_s(self) -> float:
        return self.bytes_read / self.seconds / 1e6


def measure(folder: Path) -> Uncached:
    """Read random stretches of files that lie on the disk of `folder`, past the page cache (O_DIRECT).

    Each file was last read, written and created more than a day before the machine's start. One stretch is read of each file, which
    excludes the file from later measurements. Raises StoreRefused if too few such files exist, or if the file system cannot do this.
    """
    if os.statvfs(folder).f_flag & NO_TIMES:
        raise StoreRefused(f"The file system of {folder} does not note when a file was read (noatime)")
    candidates: list[Path] = []
    for path in _never_read(folder, _started_at() - DAY_S):
        candidates.append(path)
        if len(candidates) == SEARCHED_FILES:
            break
    if len(candidates) < FEWEST_FILES:
        raise StoreRefused(
            f"Only {len(candidates)} files of {STRETCH_BYTES >> 20} MiB or more that nobody has read since the machine's start were found on the disk"
            f" of {folder} within {SEARCH_S:.0f} s, and at least {FEWEST_FILES} are needed"
        )
    return _read(random.sample(candidates, min(FILES, len(candidates))))


def uncached_mb_per_s() -> float | None:
    """Return the rate of this pod's disk in MB per second from the environment; None if the rate is not known."""
    text = os.environ.get(VARIABLE)
    return rate_of(text) if text else None


def rate_of(text: str) -> float:
    """Parse a rate in MB per second. Raises SpecError for a text that is no number above 0."""
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < math.inf:
        raise SpecError(
            f"The Airflow Variable {AIRFLOW_VARIABLE} is not a number of MB per second above 0: {text!r}."
            " Set it to what `storebench disk` has measured on the node, or remove it"
        )
    return rate


def _started_at() -> float:
    """Return the time of the machine's start in seconds since 1970. Raises StoreRefused if the kernel does not report the time."""
    try:
        lines = dict(line.split(maxsplit=1) for line in STAT.read_text().splitlines() if " " in line)
        return float(lines["btime"])
    except (OSError, KeyError, ValueError) as error:
        raise StoreRefused(f"{STAT} does not report the start of the machine: {error}") from None


def _never_read(folder: Path, before_s: float) -> Iterator[Path]:
    """Yield large files of the folder's file system whose times are all before `before_s`. Search at random, for at most SEARCH_S."""
    top = folder.resolve()
    device = top.stat().st_dev
    while top.parent != top and top.parent.stat().st_dev == device:
        top = top.parent
    until_s = time.monotonic() + SEARCH_S
    folders = [str(top)]
    while folders and time.monotonic() < until_s:
        current = folders.pop(random.randrange(len(folders)))
        try:
            entries = list(os.scandir(current))
        except OSError:
            continue
        for entry in entries:
            try:
                info = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if info.st_dev != device:
                continue
            if stat.S_ISDIR(info.st_mode):
                folders.append(entry.path)
            elif stat.S_ISREG(info.st_mode) and _is_old(info, before_s) and os.access(entry.path, os.R_OK):
                yield Path(entry.path)


def _is_old(info: os.stat_result, before_s: float) -> bool:
    """Return whether a file is large, has no holes, and has no time after `before_s`."""
    has_all_blocks = info.st_size >= STRETCH_BYTES and info.st_blocks * 512 >= info.st_size
    return has_all_blocks and max(info.st_atime, info.st_mtime, info.st_ctime) < before_s


def _read(paths: Sequence[Path]) -> Uncached:
    """Read a stretch of each file with READERS threads. Files that are not reached within READ_S are not counted."""
    until_s = time.monotonic() + READ_S

    def read(path: Path) -> int:
        return _stretch(path) if time.monotonic() < until_s else 0

    began = time.perf_counter()
    try:
        with ThreadPoolExecutor(READERS) as readers:
            sizes = list(readers.map(read, paths))
    except OSError as error:
        raise StoreRefused(f"The disk cannot be read past the page cache (O_DIRECT): {error}") from None
    return Uncached(sum(sizes), sum(map(bool, sizes)), time.perf_counter() - began)


def _stretch(path: Path) -> int:
    """Read STRETCH_BYTES of a file from a random offset. Return the number of bytes read."""
    size = path.stat().st_size
    start = random.randrange((size - STRETCH_BYTES) // mmap.PAGESIZE + 1) * mmap.PAGESIZE
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, BLOCK_BYTES) as block:  # aligned, as O_DIRECT asks for
            return sum(
                os.preadv(descriptor, [block], start + offset)
                for offset in range(0, STRETCH_BYTES, BLOCK_BYTES)
            )
    finally:
        os.close(descriptor)
