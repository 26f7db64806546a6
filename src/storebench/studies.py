"""Finds a study by its name: each is one file in the folder of DAGs."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from storebench.errors import SpecError, unknown
from storebench.grid import Study

CHECKOUT_DAGS = Path(__file__).resolve().parents[2] / "dags"


def folder() -> Path:
    """Airflow's folder of DAGs where that is known, or the checkout's."""
    return Path(os.environ.get("AIRFLOW__CORE__DAGS_FOLDER") or CHECKOUT_DAGS)


def find(name: str) -> Study:
    """The study in <folder>/<name>.py. Loads Airflow, too: some seconds. Raises SpecError where there is none."""
    path = folder() / f"{name}.py"
    if not path.exists():
        raise unknown("study", name, sorted(other.stem for other in folder().glob("*.py")))
    spec = importlib.util.spec_from_file_location(f"storebench_study_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [value for value in vars(module).values() if isinstance(value, Study) and value.name == name]
    if not found:
        raise SpecError(f"{path} has no study of the name {name!r}")
    return found[0]
