"""The supervisor (process-compose), spoken to over its socket."""

import contextlib
import os
import subprocess
from typing import Any

import httpx

from local.stack import cgroup
from local.stack.settings import Settings, StackError


def _client(settings: Settings) -> httpx.Client:
    transport = httpx.HTTPTransport(uds=str(settings.supervisor_socket))
    return httpx.Client(transport=transport, base_url="http://supervisor", timeout=10)


def processes(settings: Settings) -> list[dict[str, Any]] | None:
    """The processes' states, or None where no supervisor answers."""
    if not settings.supervisor_socket.exists():
        return None
    try:
        with _client(settings) as client:
            found: list[dict[str, Any]] = client.get("/processes").raise_for_status().json()["data"]
            return found
    except httpx.HTTPError:
        return None


START = """
set -e
echo $$ > "$1"
shift
exec "$@"
"""

MOUNTS = """
for name in results documentdb; do mount --bind "$1/$name" "$2/data/$name"; done
mount -t tmpfs -o mode=1777 tmpfs "$2/dev/shm"
shift 2
exec "$@"
"""


def start(settings: Settings, variables: dict[str, str]) -> None:
    """Starts the supervisor in the stack's cgroup and in mounts of its own, with the stack's environment."""
    procs = cgroup.stack_procs(settings.cgroup)
    command = [
        *("sh", "-c", START, "start", str(procs)),
        *(str(settings.checkout / "local" / "isolated"),),
        *("sh", "-euc", MOUNTS, "mounts", str(settings.data), str(settings.postgres_root)),
        str(settings.home / "bin" / "process-compose"),
        *("up", "--tui=false", "--disable-dotenv", "--ordered-shutdown", "--keep-project"),
        *("--use-uds", "--unix-socket", str(settings.supervisor_socket)),
        *("--config", str(settings.run / "process-compose.yaml")),
        *("--log-file", str(settings.log / "supervisor.log")),
    ]
    path = f"{settings.home / 'venv' / 'bin'}:{os.environ['PATH']}:/usr/local/sbin:/usr/sbin:/sbin"
    environment = {**os.environ, **variables, "PATH": path, "PYTHONUNBUFFERED": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with (settings.log / "supervisor.out").open("w") as output:
        subprocess.Popen(
            command,
            cwd=settings.checkout,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def stop(settings: Settings) -> None:
    """Asks the supervisor to stop everything in reverse order; what does not is left to the cgroup's removal."""
    with contextlib.suppress(httpx.HTTPError), _client(settings) as client:
        client.post("/project/stop", timeout=90)


def failures(settings: Settings, states: list[dict[str, Any]]) -> None:
    """Raises for a process that has given up, with the end of its log."""
    for state in states:
        ended = not state["is_running"] and state["status"] in ("Completed", "Error", "Skipped")
        if ended and (state["exit_code"] != 0 or state["status"] != "Completed"):
            raise StackError(f"{state['name']} ended with exit code {state['exit_code']}.{log_end(settings, state['name'])}")
        if state.get("restarts", 0) >= 3:
            raise StackError(f"{state['name']} keeps ending and was restarted.{log_end(settings, state['name'])}")


def log_end(settings: Settings, name: str, lines: int = 12) -> str:
    path = settings.log / f"{name}.log"
    text = path.read_text(errors="replace").splitlines()[-lines:] if path.exists() else []
    return "\n".join(["", *(f"  | {line[:300]}" for line in text), f"Its log: {path}"])
