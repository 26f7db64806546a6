"""Find ports on which a server of a test can listen."""

import itertools
import os
import socket

# The kernel gives ports from 32768 on to connections, and to servers that ask for any port. Below, no other process takes a port
# between the search and the start of the server.
FIRST, PORTS, WORKERS = 20000, 1000, 10
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
_offsets = itertools.count(os.getpid())


def free_port():
    """Return a free port of this machine. Each worker of the tests has its own PORTS ports, and uses them in turn."""
    for offset in itertools.islice(_offsets, PORTS):
        port = FIRST + _worker * PORTS + offset % PORTS
        try:
            socket.create_server(("", port)).close()
        except OSError:
            continue
        return port
    raise RuntimeError(f"all ports of worker {_worker} are in use")
