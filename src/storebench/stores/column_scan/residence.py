"""Page cache of files on Linux: measure, evict, and count the bytes that this process read from disk."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from storebench.errors import StoreRefused

IO = Path("/proc/self/io")
_FAILED = ctypes.c_void_p(-1).value


def files_of(folder: Path) -> list[Path]:
    """Return all files below a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def size_of(paths: Iterable[Path]) -> int:
    """Return the bytes of files on disk."""
    return sum(path.stat().st_blocks * 512 for path in paths)


def sync(paths: Iterable[Path]) -> None:
    """Write files and their directory entries to disk."""
    files = list(paths)
    for path in (*files, *{path.parent for path in files}):
        with _opened(path) as descriptor:
            os.fsync(descriptor)


def drop(paths: Iterable[Path]) -> None:
    """Remove files from the page cache. Pages that a process has mapped stay."""
    for path in paths:
        with _opened(path) as descriptor:
            os.fsync(descriptor)  # dirty pages cannot be dropped
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def resident_bytes(paths: Iterable[Path]) -> int:
    """Return the bytes of files in the page cache, in whole pages. The user must own the files: the kernel hides other files' pages."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    pages = 0
    for path in paths:
        if not (size := path.stat().st_size):
            continue
        with _opened(path) as descriptor:
            address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        if address == _FAILED:
            raise OSError(ctypes.get_errno(), "cannot be mapped", str(path))
        flags = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
        failed = libc.mincore(address, size, flags)
        libc.munmap(address, size)
        if failed:
            raise OSError(
                ctypes.get_errno(), "the kernel does not report the pages in the page cache", str(path)
            )
        pages += sum(flag & 1 for flag in flags.raw)
    return pages * mmap.PAGESIZE


def read_bytes(source: Path = IO) -> int:
    """Return the bytes read from disk for this process so far. Raises StoreRefused if the kernel does not report them."""
    try:
        lines = dict(line.split(": ") for line in source.read_text().splitlines())
        return int(lines["read_bytes"])
    except (OSError, KeyError, ValueError) as error:
        raise StoreRefused(
            f"{source} does not report the bytes read from disk, so no read can be proven cold: {error}"
        ) from None


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
