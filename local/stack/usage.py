"""Report the embedded servers' CPU time to pods, which cannot see it: `python -m local.stack.usage`, a process of the stack.

The process runs during measurements. So it imports little, and only works on requests, before and after an operation.
"""

import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from local.stack import supervisor
from local.stack.settings import Settings
from storebench.attempt.usage import boot_id

PROC = Path("/proc")
KNOWN_S = 600
# Fields of /proc/PID/stat after the command's name: the parent, and CPU ticks of the process and its ended children.
PARENT, TICKS = 1, slice(11, 15)


def cpu_s(roots: set[int], proc: Path = PROC) -> float:
    """Return the CPU seconds so far of processes and all their descendants, including ended processes."""
    parents, ticks = {}, {}
    for path in proc.glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended
            continue
        pid = int(path.parent.name)
        parents[pid], ticks[pid] = int(fields[PARENT]), sum(map(int, fields[TICKS]))
    pids, added = set(), roots & ticks.keys()
    while added:
        pids |= added
        added = {pid for pid, parent in parents.items() if parent in added} - pids
    return sum(ticks[pid] for pid in pids) / os.sysconf("SC_CLK_TCK")


class Parts:
    """The processes of the stack's parts, by the supervisor's names. The supervisor takes 0.4 s for an answer, too long right after an
    operation: so an answer is reused for KNOWN_S as long as the process lives.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: dict[str, tuple[float, set[int]]] = {}

    def usage(self, part: str) -> dict[str, object] | None:
        """Return the CPU seconds of a part since its start, and the id of the machine's boot; None if no process of the part runs."""
        since_s, roots = self._known.get(part, (0.0, set[int]()))
        old = time.monotonic() - since_s > KNOWN_S
        if not roots or old or not all(Path(PROC, str(pid)).exists() for pid in roots):
            states = supervisor.processes(self._settings) or []
            roots = {state["pid"] for state in states if state["namespace"] == part and state["is_running"]}
            if roots:
                self._known[part] = (time.monotonic(), roots)
        return {"cpu_s": cpu_s(roots), "boot_id": boot_id()} if roots else None


def server(settings: Settings) -> ThreadingHTTPServer:
    """Create the HTTP server on the pod network. The path names a part: `/mongodb`."""
    parts = Parts(settings)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            usage_of_parts = parts.usage(self.path.strip("/"))
            body = json.dumps(usage_of_parts).encode()
            self.send_response(200 if usage_of_parts else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ThreadingHTTPServer(settings.address("usage"), Handler)


if __name__ == "__main__":
    server(Settings()).serve_forever()
