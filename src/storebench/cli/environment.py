"""Where the command line finds Airflow and the results, and what it prints tables on."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from storebench.errors import SpecError


def airflow_login() -> tuple[str, str, str]:
    """Its address, a user, and the password."""
    return (
        _environment("STOREBENCH_AIRFLOW_URL"),
        _environment("STOREBENCH_AIRFLOW_USER"),
        _environment("STOREBENCH_AIRFLOW_PASSWORD"),
    )


def console(most: int = 280) -> Any:
    """What tables are printed on: as wide as the terminal, `most` characters at most; that wide where there is no terminal."""
    from rich.console import Console

    found = Console()
    return Console(width=min(found.width, most) if found.is_terminal else most)


def command() -> str:
    """What to type to call this command line again."""
    return "storebench" if shutil.which("storebench") else sys.argv[0]


def page_of(run_id: str) -> str | None:
    """The address of a run's charts on the results page; None where it is not known where Airflow is."""
    url = os.environ.get("STOREBENCH_AIRFLOW_URL")
    return f"{url.rstrip('/')}/plugin/storebench?view=charts&run={quote(run_id, safe='')}" if url else None


def results_dsn() -> str:
    """The results database, as a postgresql:// URI."""
    return _environment("AIRFLOW_CONN_STOREBENCH_RESULTS")


def _environment(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise SpecError(
            f"{name} is not set. For the embedded stack: `. {env_file()}`; for your own, see README.md"
        )
    return value


def env_file() -> Path:
    """What sets the variables of the embedded stack."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("STOREBENCH_HOME") or cache / "storebench") / "run" / "env"
