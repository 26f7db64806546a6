"""Which code this is: the version that version control gives it."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

from storebench import __version__

VARIABLE = "STOREBENCH_REVISION"  # of an image: what `images/build` was told by git
CHECKOUT = Path(__file__).resolve().parents[2]
DESCRIBE = ("describe", "--always", "--dirty", "--abbrev=40", "--exclude", "*")  # as images/build does it
TIMEOUT_S = 10


@cache
def code_version() -> str:
    """`0.1.0+g` and 12 digits of the commit; with `.dirty` where tracked files were changed since; `0.1.0+unknown` where nobody knows.

    An image knows it from its build, a checkout from git, which is asked once in each process.
    """
    return version_of(os.environ.get(VARIABLE) or _described(CHECKOUT))


def version_of(revision: str) -> str:
    """The version of what `git describe` calls so."""
    found = re.fullmatch(r"([0-9a-f]{12})[0-9a-f]*(-dirty)?", revision)
    if not found:
        return f"{__version__}+unknown"
    return f"{__version__}+g{found[1]}{'.dirty' if found[2] else ''}"


def _described(checkout: Path) -> str:
    if not (checkout / ".git").exists():
        return ""
    command = ["git", "-C", str(checkout), "-c", f"safe.directory={checkout}", *DESCRIBE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
