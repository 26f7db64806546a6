"""Start a second API server of the stack's Airflow, whose results page reads another database."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from psycopg.conninfo import conninfo_to_dict

from storebench.results.database.migrate import grant

START_S = 120


def reader_of(uri: str) -> str:
    """Let the page's role read the database at `uri`. Return the URI for that role."""
    server, _, _ = os.environ["AIRFLOW_CONN_STOREBENCH_READER"].rpartition("/")
    grant(uri, str(conninfo_to_dict(server)["user"]))
    return f"{server}/{uri.rpartition('/')[2]}"


@contextmanager
def api_server(results: str) -> Iterator[str]:
    """Run an API server on a free port until the block ends; yield the server's URL. The page reads the database at `results`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "AIRFLOW_CONN_STOREBENCH_READER": results,
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__PORT": str(port),
    }
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [Path(sys.prefix, "bin", "airflow"), "api-server", "--host", "127.0.0.1", "--port", str(port)],
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            deadline_s = time.monotonic() + START_S
            while not _answers(url):
                if process.poll() is not None or time.monotonic() > deadline_s:
                    log.seek(0)
                    raise RuntimeError(f"The API server does not start: {log.read()[-2000:].decode()}")
                time.sleep(0.5)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v2/version").is_success
    except httpx.HTTPError:
        return False


def login(url: str) -> str:
    """Return a token of the stack's user."""
    user, password = (os.environ[f"STOREBENCH_AIRFLOW_{name}"] for name in ("USER", "PASSWORD"))
    answer = httpx.post(f"{url}/auth/token", json={"username": user, "password": password})
    answer.raise_for_status()
    return str(answer.json()["access_token"])
