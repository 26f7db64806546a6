"""What works for a store outside its pod: how much CPU that has used, and on which machine, as it is told over HTTP.

The answer is a JSON object: `cpu_s`, CPU seconds so far, and `boot_id`, the machine's.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
TIMEOUT_S = 2.0
# By the machine's boot id. Two containers that see the same one are on the same node.
CpuSeconds = dict[str, float]
SOMEWHERE = ""  # where the machine is not told
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def boot_id() -> str:
    """Of this machine; SOMEWHERE where the kernel does not tell it."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return SOMEWHERE


def ask(url: str) -> dict[str, Any] | None:
    """The object that this address answers with; None where it answers with none."""
    try:
        with _OPENER.open(url, timeout=TIMEOUT_S) as answer:
            found = json.load(answer)
    except (OSError, urllib.error.URLError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def sum_of(parts: Iterable[CpuSeconds | None]) -> CpuSeconds | None:
    """Of all together, by machine; None where one of them is not known."""
    together: CpuSeconds = {}
    for part in parts:
        if part is None:
            return None
        for machine, seconds in part.items():
            together[machine] = together.get(machine, 0.0) + seconds
    return together


def cpu_s(url: str) -> CpuSeconds | None:
    """The CPU seconds that are told there; None where they are not."""
    try:
        found = ask(url) or {}
        return {str(found.get("boot_id", SOMEWHERE)): float(found["cpu_s"])}
    except (KeyError, TypeError, ValueError):
        return None
