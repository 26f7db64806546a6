"""Run make without its recipes, apart from the make that runs the tests."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def dry_make(home, *arguments):
    """Run make in the checkout for the home of a stack, and return the ended process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", "--dry-run", *arguments],
        cwd=ROOT,
        env={**kept, "STOREBENCH_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
