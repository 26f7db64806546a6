"""Control the supervisor (process-compose) over its socket."""

import http.client
import json
import os
import socket
import subprocess
import time
from typing import Any

from local.stack import cgroup
from local.stack.settings import Settings, StackError

JOB_S = 120  # jobs give up waiting earlier than this


class _Connection(http.client.HTTPConnection):
    """A connection to a Unix socket, which urllib3 cannot open. The process `usage` runs during measurements, and so imports little."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("supervisor", timeout=timeout)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def _ask(settings: Settings, method: str, path: str, timeout: float = 10) -> bytes | None:
    """Return the supervisor's answer; None without an answer."""
    connection = _Connection(str(settings.supervisor_socket), timeout)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.read() if response.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def processes(settings: Settings) -> list[dict[str, Any]] | None:
    """Return the states of all processes; None if no supervisor answers."""
    answer = _ask(settings, "GET", "/processes")
    if answer is None:
        return None
    listed: list[dict[str, Any]] = json.loads(answer)["data"]
    return listed


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
    """Start the supervisor in the stack's cgroup and its own mount namespace, with the stack's environment."""
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
    temporary = settings.run / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, **variables, "PATH": path, "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"}
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
    """Ask the supervisor to stop all processes in reverse order. The removal of the cgroup ends the remainder."""
    _ask(settings, "POST", "/project/stop", timeout=90)


def stop_process(settings: Settings, name: str) -> None:
    """Stop a process until it is started again."""
    _must(settings, "PATCH", f"/process/stop/{name}")


def start_process(settings: Settings, name: str) -> None:
    """Start a stopped process."""
    _must(settings, "POST", f"/process/start/{name}")


def run_job(settings: Settings, name: str) -> None:
    """Start a job, and wait for its end.

    Dependent processes would not wait for a repeated job: the supervisor takes the end of the earlier job for its end.
    """
    earlier = _state(settings, name)["pid"]
    start_process(settings, name)
    deadline_s = time.monotonic() + JOB_S
    while True:
        state = _state(settings, name)
        if state["pid"] != earlier and not state["is_running"]:
            failures(settings, [state])
            return
        if time.monotonic() > deadline_s:
            raise StackError(f"{name} did not end within {JOB_S} s.{log_end(settings, name)}")
        time.sleep(0.2)


def _state(settings: Settings, name: str) -> dict[str, Any]:
    for state in processes(settings) or []:
        if state["name"] == name:
            return state
    raise StackError(f"The supervisor does not answer. Its log: {settings.log / 'supervisor.log'}")


def _must(settings: Settings, method: str, path: str) -> None:
    if _ask(settings, method, path, timeout=40) is None:
        raise StackError(f"The supervisor has refused {path}. Its log: {settings.log / 'supervisor.log'}")


def failures(settings: Settings, states: list[dict[str, Any]]) -> None:
    """Raise StackError for a process that has given up, with the end of its log. Processes that only wait for it come last."""
    for state in sorted(states, key=lambda state: state["status"] == "Skipped"):
        ended = not state["is_running"] and state["status"] in ("Completed", "Error", "Skipped")
        if ended and (state["exit_code"] != 0 or state["status"] != "Completed"):
            raise StackError(
                f"{state['name']} ended with exit code {state['exit_code']}.{log_end(settings, state['name'])}"
            )
        if state.get("restarts", 0) >= 3:
            raise StackError(
                f"{state['name']} keeps ending and was restarted.{log_end(settings, state['name'])}"
            )


def log_end(settings: Settings, name: str, lines: int = 12) -> str:
    path = settings.log / f"{name}.log"
    text = path.read_text(errors="replace").splitlines()[-lines:] if path.exists() else []
    return "\n".join(["", *(f"  | {line[:300]}" for line in text), f"Its log: {path}"])
