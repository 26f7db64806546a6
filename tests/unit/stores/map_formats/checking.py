"""Verifies many outputs in one process: another implementation of Protobuf is another process."""

import os
import pickle
import subprocess
import sys

from storebench.stores.map_formats.check import PROTOBUF

CHECKS = """
import pickle, sys
from storebench.stores.map_formats.check import check
from storebench.stores.map_formats.tables import benchmark_of

def said(name, bench, *rest):
    try:
        return check(name, benchmark_of(*bench), *rest)
    except Exception as error:
        return f"cannot be decoded: {error!r}"

cases = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps([said(*case) for case in cases]))
"""


def checked(cases):
    """Return the result of `check` for each case, whose benchmark is a tuple of name, values and position."""
    done = subprocess.run(
        [sys.executable, "-c", CHECKS],
        input=pickle.dumps(cases),
        stdout=subprocess.PIPE,
        check=True,
        timeout=300,
        env={**os.environ, PROTOBUF: "python"},
    )
    return pickle.loads(done.stdout)
