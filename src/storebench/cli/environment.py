"""The environment of the command line: Airflow's address, the results database, and the terminal."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from storebench.errors import SpecError, StoreUnreachable

AIRFLOW_URL, AIRFLOW_USER, AIRFLOW_PASSWORD = (
    f"STOREBENCH_AIRFLOW_{part}" for part in ("URL", "USER", "PASSWORD")
)
RESULTS, STUDY = "AIRFLOW_CONN_STOREBENCH_RESULTS", "STOREBENCH_STUDY"
# The variables that users may set, with their meaning: docs/reference/environment.md has them.
VARIABLES = {
    AIRFLOW_URL: "The address of Airflow, such as http://127.0.0.1:18080.",
    AIRFLOW_USER: "The user at Airflow.",
    AIRFLOW_PASSWORD: "The password of this user.",
    RESULTS: "The results database, as postgresql://USER:PASSWORD@HOST:PORT/DATABASE.",
    STUDY: "The study of commands without --study. Default: the first study by name.",
    "AIRFLOW__CORE__DAGS_FOLDER": "The folder with the files of the studies. Default: dags/ of the checkout.",
}


def airflow_login() -> tuple[str, str, str]:
    """Return Airflow's address, the user and the password. Raises SpecError if a variable is not set."""
    return (
        _environment(AIRFLOW_URL),
        _environment(AIRFLOW_USER),
        _environment(AIRFLOW_PASSWORD),
    )


def console(most: int = 280) -> Any:
    """Return the console for tables: as wide as the terminal, up to `most` characters; `most` characters without a terminal."""
    from rich.console import Console

    terminal = Console()
    return Console(width=min(terminal.width, most) if terminal.is_terminal else most)


def command() -> str:
    """Return the command to type to call this command line again: as short as the PATH and the home folder allow."""
    if shutil.which("storebench"):
        return "storebench"
    program = Path(sys.argv[0])
    if program.name == "__main__.py":
        return "python -m storebench.cli"
    return str(
        Path("~") / program.relative_to(Path.home()) if program.is_relative_to(Path.home()) else program
    )


def page_of(run_id: str) -> str | None:
    """Return the address of a run's charts on the results page; None if Airflow's address is not known."""
    url = os.environ.get(AIRFLOW_URL)
    return f"{url.rstrip('/')}/plugin/storebench?view=charts&run={quote(run_id, safe='')}" if url else None


def results_dsn() -> str:
    """Return the postgresql:// URI of the results database. Raises SpecError if the variable is not set, and SchemaDiffers for a database
    of another version of Storebench.
    """
    from storebench.results.database.connection import Database

    dsn = any_results_dsn()
    with suppress(
        StoreUnreachable
    ):  # the command may wait for the database, or reports that it does not answer
        Database(dsn).check_schema()
    return dsn


def any_results_dsn() -> str:
    """Return the postgresql:// URI of the results database of any version. Raises SpecError if the variable is not set."""
    return _environment(RESULTS)


def _environment(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise SpecError(
            f"{name} is not set: {VARIABLES[name]} On the embedded stack, type `. {env_file()}`. docs/reference/environment.md has all variables"
        )
    return value


def env_file() -> Path:
    """Return the path of the file that sets the embedded stack's variables."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("STOREBENCH_HOME") or cache / "storebench") / "run" / "env"
