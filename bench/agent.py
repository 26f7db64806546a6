"""Measure the CPU and memory of the agent in a server's container: `make bench-agent`.

The real agent watches a simple server outside of pods. As during an attempt, the agent samples, and answers a few requests. CPU seconds are
the agent's own, without the server's. Memory is the peak since the agent's start.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import psutil
from rich.console import Console
from rich.table import Table

from storebench.servers.agent import Agent, AgentUnreachable

BINARY = Path(os.environ["STOREBENCH_HOME"]) / "bin" / "storebench-agent"
MAX_CPU_SHARE, MAX_RSS_BYTES = 0.01, 20 * 2**20
FILES, FILE_BYTES = 500, 200_000
ASK_INTERVAL_S = 5.0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def watched_server(data: Path, port: int) -> Iterator[tuple[Agent, psutil.Process]]:
    """Start a web server of the folder `data` with an agent. Yield the agent's client and process."""
    agent = Agent("bench", "127.0.0.1", secrets.token_urlsafe(), free_port())
    environment = os.environ | {
        "STOREBENCH_AGENT_TOKEN": agent.token,
        "STOREBENCH_AGENT_PORT": str(agent.port),
        "STOREBENCH_AGENT_DATA": str(data),
        "STOREBENCH_AGENT_READY": f"http://127.0.0.1:{port}/",
    }
    server = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(data)]
    with subprocess.Popen(
        [BINARY, "--", *server], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            for _ in range(100):
                with suppress(AgentUnreachable):
                    agent.version()
                    break
                time.sleep(0.1)
            agent.cold()  # waits until the server answers
            yield agent, psutil.Process(process.pid)
        finally:
            process.terminate()


def cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def highest_rss_bytes(process: psutil.Process) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--seconds", type=click.IntRange(1), default=60, show_default=True, help="How long CPU is counted."
)
def main(seconds: int) -> None:
    """Measure the CPU and memory of the agent of a simple server."""
    table = Table(title=f"The agent around a server with {FILES} files, {FILES * FILE_BYTES / 1e6:.0f} MB")
    for heading in ("while it", "seconds", "CPU, ms", "CPU, % of a core"):
        table.add_column(heading, justify="left" if heading == "while it" else "right")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            (Path(folder) / f"{number}.bin").write_bytes(os.urandom(FILE_BYTES))
        port = free_port()
        with watched_server(Path(folder), port) as (agent, process):

            def row(title: str, began: float, used_s: float) -> float:
                took_s, cpu = time.monotonic() - began, cpu_s(process) - used_s
                table.add_row(title, f"{took_s:.1f}", f"{1000 * cpu:.0f}", f"{100 * cpu / took_s:.2f}")
                return cpu / took_s

            began, used_s = time.monotonic(), cpu_s(process)
            agent.begin()
            while time.monotonic() - began < seconds:
                number = int(time.monotonic() * 10) % FILES
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{number}.bin", timeout=10) as answer:
                    answer.read()
                time.sleep(0.05)
                if (time.monotonic() - began) % ASK_INTERVAL_S < 0.05:
                    agent.figures()
            agent.end()
            share = row(f"measures, and is asked every {ASK_INTERVAL_S:.0f} s", began, used_s)
            began, used_s = time.monotonic(), cpu_s(process)
            agent.cold()
            row("makes the server cold", began, used_s)
            rss = highest_rss_bytes(process)
    Console(width=100).print(table)
    print(f"agent_cpu_share={share:.4f} agent_rss_bytes={rss}")
    if share > MAX_CPU_SHARE or rss > MAX_RSS_BYTES:
        raise click.ClickException(f"It may take {MAX_CPU_SHARE:.0%} of a core and {MAX_RSS_BYTES} bytes")


if __name__ == "__main__":
    main()
