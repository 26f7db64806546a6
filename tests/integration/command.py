"""Run a command of `storebench` in a process of its own, as a pod does.

A server of forks imports the libraries of the stores once: in a new interpreter, these imports take about a second of CPU for each command.
`test_attempt.py` starts the real program, too.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import boto3

from storebench.stores import load
from storebench.study import studies
from tests.forks import FORKS, preload


def _libraries():
    """Return the modules of the stores of two studies, and the modules that they import. The server skips modules that are not installed."""
    studied = [studies.find(name) for name in ("bulk_write_read", "map_formats")]
    classes = [load(study.name, store) for study in studied for store in study.stores]
    return sorted({module for store in classes for module in (store.__module__, *store.modules)})


preload(
    "pytest",
    "smart_open",
    "storebench.cli",
    "storebench.attempt.run",
    "storebench.dataset.custom_file",
    __name__,
    *_libraries(),
)
boto3.client("s3", region_name="us-east-1")  # boto3's default session keeps the description of S3's API


def run_command(arguments, environment, timeout_s=180):
    """Run `storebench` with these arguments and this environment. Return its exit code, and its output as text."""
    with tempfile.NamedTemporaryFile() as output:
        process = FORKS.Process(target=_become, args=(arguments, dict(environment), output.name))
        process.start()
        process.join(timeout_s)
        if process.is_alive():
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(arguments, timeout_s, Path(output.name).read_text())
        text = Path(output.name).read_text()
    print(text)
    return process.exitcode, text


def _become(arguments, environment, output):
    """Become the command in this process."""
    with Path(output).open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = ["storebench", *arguments]
    from storebench.cli import main

    main()
