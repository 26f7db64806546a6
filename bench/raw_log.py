"""Run a load generator that also logs the start and the end of each request: a process of bench.load.

It reads the clock before and after the sender's call, and writes both seconds to the file that RAW_LOG names.
"""

from __future__ import annotations

import os
import time
from array import array
from pathlib import Path

import numpy as np

from storebench.stores.point_operations import load
from storebench.stores.point_operations.entities import Entity
from storebench.stores.point_operations.rest import Rest

RAW_LOG = "RAW_LOG"


def main() -> None:
    began_s, ended_s, insert = array("d"), array("d"), Rest.insert

    def noted(self: Rest, new: Entity) -> None:
        began_s.append(began := time.monotonic())
        place = len(began_s) - 1
        ended_s.append(began)
        insert(self, new)
        ended_s[place] = time.monotonic()

    Rest.insert = noted  # type: ignore[method-assign]
    load.main()
    np.save(Path(os.environ[RAW_LOG]), np.array([began_s, ended_s]))
