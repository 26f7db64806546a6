"""Ask over HTTP for the CPU time of a store's processes outside its pod, and for their machine.

The answer is a JSON object with `cpu_s`, the CPU seconds so far, and `boot_id`, the boot id of the machine.
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
# CPU seconds by the machine's boot id. Containers that see the same boot id are on the same node.
CpuSeconds = dict[str, float]
SOMEWHERE = ""  # the key of an unknown machine
# Not urllib3: the image of the service before a database has this module, and lacks urllib3.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def boot_id() -> str:
    """Return the boot id of this machine; SOMEWHERE if the kernel does not report it."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return SOMEWHERE


def ask(url: str) -> dict[str, Any] | None:
    """Return the JSON object at an address; None without an answer or with another answer."""
    try:
        with _OPENER.open(url, timeout=TIMEOUT_S) as answer:
            content = json.load(answer)
    except (OSError, urllib.error.URLError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def sum_of(parts: Iterable[CpuSeconds | None]) -> CpuSeconds | None:
    """Sum CPU seconds per machine; None if a part is not known."""
    together: CpuSeconds = {}
    for part in parts:
        if part is None:
            return None
        for machine, seconds in part.items():
            together[machine] = together.get(machine, 0.0) + seconds
    return together


def cpu_s(url: str) -> CpuSeconds | None:
    """Return the CPU seconds that the address reports; None if it reports none."""
    try:
        report = ask(url) or {}
        return {str(report.get("boot_id", SOMEWHERE)): float(report["cpu_s"])}
    except (KeyError, TypeError, ValueError):
        return None
