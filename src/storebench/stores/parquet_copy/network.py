"""Count the bytes through the network interfaces of this pod."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEVICES = Path("/proc/net/dev")


@dataclass(frozen=True)
class Traffic:
    """Bytes received and sent since the pod's start, without the loopback interface."""

    received_bytes: int
    sent_bytes: int

    @classmethod
    def so_far(cls) -> Traffic | None:
        """Return the traffic so far; None if the kernel does not report it."""
        try:
            lines = DEVICES.read_text().splitlines()[2:]
            counts = [line.split(":", 1) for line in lines]
            interfaces = [text.split() for name, text in counts if name.strip() != "lo"]
            return cls(
                sum(int(counters[0]) for counters in interfaces),
                sum(int(counters[8]) for counters in interfaces),
            )
        except (OSError, ValueError, IndexError):
            return None

    def since(self, before: Traffic) -> Traffic:
        """Return the traffic since `before`."""
        return Traffic(self.received_bytes - before.received_bytes, self.sent_bytes - before.sent_bytes)
