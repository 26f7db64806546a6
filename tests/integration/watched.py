"""The real agent around a small server, as they are in a container."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from storebench.servers.agent import Agent, AgentUnreachable
from tests.ports import free_port

HOME = Path(os.environ.get("STOREBENCH_HOME") or Path.home() / ".cache/storebench")
BINARY = Path(os.environ.get("STOREBENCH_AGENT_BINARY") or HOME / "bin/storebench-agent")
SERVER = Path(__file__).with_name("small_server.py")
NOBODY = 65534
TOKEN = "a token of this test"
MIB = 2**20
V1 = {
    "memory/memory.usage_in_bytes": f"{200 * MIB}\n",
    "memory/memory.stat": f"cache 1\ninactive_file 7\ntotal_inactive_file {50 * MIB}\n",
    "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
    "cpuacct/cpuacct.usage": "2500000000\n",
    "cpu/cpu.cfs_quota_us": "50000\n",
    "cpu/cpu.cfs_period_us": "100000\n",
    "cpu/cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n",
    "blkio/blkio.throttle.io_service_bytes": "8:0 Read 4096\n8:0 Write 9\n8:16 Read 10\n8:16 Write 1\nTotal 4116\n",
}
V2 = {
    "cgroup.controllers": "cpu memory\n",
    "memory.current": f"{200 * MIB}\n",
    "memory.stat": f"anon 1\ninactive_file {50 * MIB}\n",
    "memory.events": "low 0\noom 3\noom_kill 3\n",
    "cpu.max": "50000 100000\n",
    "cpu.stat": "usage_usec 2500000\nnr_throttled 4\nthrottled_usec 1500000\n",
    "io.stat": "8:0 rbytes=4096 wbytes=9 rios=1 wios=1\n8:16 rbytes=10 wbytes=1 rios=1 wios=1\n",
}


@pytest.fixture
def agent_built():
    if not BINARY.exists():
        pytest.fail(f"{BINARY} is not built: run these tests with `make integration`")


def listens(server, port, seconds=60):
    """Wait until a process accepts connections at a port of this machine. Return False if the process ends or the time is over."""
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.1)
    return False


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


class Container:
    """A server's container as in a pod: the agent, the server, and a folder of data."""

    def __init__(self, folder, variables, **wishes):
        self.data = folder / "data"
        self.data.mkdir(exist_ok=True)
        self.message = folder / "termination-log"
        self.message.touch()
        self.port = free_port()
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("STOREBENCH_AGENT_")},
            "STOREBENCH_AGENT_TOKEN": TOKEN,
            "STOREBENCH_AGENT_PORT": str(self.port),
            "STOREBENCH_AGENT_DATA": str(self.data),
            "STOREBENCH_AGENT_READY": f"http://127.0.0.1:{wishes.get('port', 1)}/",
            "STOREBENCH_AGENT_MESSAGE": str(self.message),
            **variables,
        }
        self.process = subprocess.Popen(
            [BINARY, "--", sys.executable, "-ISu", str(SERVER), json.dumps(wishes)],
            env={name: text for name, text in self.environment.items() if text},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.agent = Agent("server-0", "127.0.0.1", TOKEN, self.port)

    def wait_for(self, done, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if done():
                    return
            except (AgentUnreachable, OSError, http.client.HTTPException):
                pass
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)
        raise AssertionError(f"not within {seconds} s")

    def end(self, code, seconds=20):
        """Wait until the agent ends itself with this exit code. Return its output."""
        output = self.process.communicate(timeout=seconds)
        assert self.process.returncode == code, output
        return output


@pytest.fixture
def container(agent_built, tmp_path):
    made = []

    def make(variables=(), folder=tmp_path, **wishes):
        made.append(Container(folder, dict(variables), **wishes))
        one = made[-1]
        one.wait_for(one.agent.version)
        port = wishes.get("port")
        if port and not wishes.get("after_s"):
            one.wait_for(lambda: ask(port, "GET", "/")[0] == 200)
        return one

    yield make
    for one in made:
        if one.process.poll() is None:
            pid = one.agent.figures().server_pid
            one.process.kill()
            if pid:
                os.kill(pid, signal.SIGKILL)
            one.process.communicate()


def ask(port, method, path, headers=(), body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, headers=dict(headers), body=body)
        response = connection.getresponse()
        return response.status, response.getheader("Content-Type"), response.read().decode()
    finally:
        connection.close()


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def exists(pid):
    return Path(f"/proc/{pid}").exists()
