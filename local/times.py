"""Run the parts of `make test`, and print where their time went.

usage: /usr/bin/python3 -B -m local.times REPORTS PART... -- make OPTION...

Each part is a target of `make`. The first part that fails ends the command with the exit code of its `make`. Then, and at the end, the
command prints the seconds of each part, and the slowest tests. pytest and Vitest write the seconds of each test into the folder REPORTS, as
JUnit's XML. Only Python's own library is used: the first part installs the packages.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from local.progress import INTERRUPTED

SLOWEST = 10  # number of tests that are printed


def tests(reports: Path) -> list[tuple[float, str]]:
    """Return the seconds and the name of each test in the reports of a folder, slowest first."""
    cases = [case for path in reports.glob("*.xml") for case in ElementTree.parse(path).iter("testcase")]
    times = [(float(case.get("time", 0)), f"{case.get('classname')}::{case.get('name')}") for case in cases]
    return sorted(times, reverse=True)


def lines(seconds: dict[str, float], slowest: Iterable[tuple[float, str]]) -> list[str]:
    """Describe the seconds of each part and of these tests."""
    total = sum(seconds.values())
    parts = ", ".join(f"{part} {each:.0f} s" for part, each in seconds.items())
    head = f"The parts took {total / 60:.1f} min: {parts}. The slowest tests, with their fixtures:"
    return [head, *(f"{each:7.1f} s  {name}" for each, name in slowest)]


def main(reports: Path, parts: list[str], make: list[str]) -> int:
    """Run the parts and print their times. Return the exit code."""
    for old in reports.glob("*.xml"):
        old.unlink()
    seconds: dict[str, float] = {}
    code = 0
    for part in parts:
        began = time.monotonic()
        try:
            code = subprocess.run([*make, part], check=False).returncode
        except KeyboardInterrupt:  # the terminal sends Ctrl-C to make itself
            code = INTERRUPTED
        seconds[part] = time.monotonic() - began
        if code:
            break
    print("\n".join(lines(seconds, tests(reports)[:SLOWEST])), flush=True)
    return code


if __name__ == "__main__":
    folder, *arguments = sys.argv[1:]
    middle = arguments.index("--")
    sys.exit(main(Path(folder), arguments[:middle], arguments[middle + 1 :]))
