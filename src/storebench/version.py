"""Determine the version of this code from version control."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from functools import cache
from pathlib import Path

from storebench import __version__

VARIABLE = "STOREBENCH_REVISION"  # set in images: the revision that git reported to `images/build`
CHECKOUT = Path(__file__).resolve().parents[2]
# As in images/build, except that images/build only looks for untracked files in the files that it copies.
DESCRIBE = ("describe", "--always", "--dirty", "--abbrev=40", "--exclude", "*")
DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", "HEAD")
UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard", "--", "src", "dags", "plugins", "sql")
HASH_DIGITS = 8
TIMEOUT_S = 10


@cache
def code_version() -> str:
    """Return the version: `1.0.0+g` and 12 digits of the commit; `1.0.0+unknown` for an unknown commit.

    `.dirty` follows if tracked files were changed since the commit, and `.untracked` if the code has untracked files. Then a hash of these
    changes follows, so that different edits have different versions.

    Images have the revision from their build. A checkout asks git, once in each process.
    """
    return version_of(os.environ.get(VARIABLE) or _described(CHECKOUT))


def version_of(revision: str) -> str:
    """Return the version of a revision: the output of `git describe`, followed by `-untracked` and the hash of the changes."""
    match = re.fullmatch(r"([0-9a-f]{12})[0-9a-f]*((?:-dirty)?(?:-untracked)?(?:-[0-9a-f]{8})?)", revision)
    if not match:
        return f"{__version__}+unknown"
    return f"{__version__}+g{match[1]}{match[2].replace('-', '.')}"


def _described(checkout: Path) -> str:
    if not (checkout / ".git").exists():
        return ""
    git = ["git", "-C", str(checkout), "-c", f"safe.directory={checkout}"]

    def said(arguments: tuple[str, ...]) -> bytes:
        process = subprocess.run([*git, *arguments], capture_output=True, timeout=TIMEOUT_S, check=True)
        return process.stdout

    try:
        revision, untracked = said(DESCRIBE).decode().strip(), said(UNTRACKED)
        if untracked:
            revision += "-untracked"
        if "-" not in revision:
            return revision
        changes = hashlib.sha256(said(DIFF))
        for name in untracked.split(b"\0")[:-1]:
            if (path := checkout / os.fsdecode(name)).is_file():
                changes.update(path.read_bytes())
        return f"{revision}-{changes.hexdigest()[:HASH_DIGITS]}"
    except (OSError, subprocess.SubprocessError):
        return ""
