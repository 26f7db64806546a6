"""Find the studies: each study is a file in the folder of DAGs. A mistake in one file breaks no other study."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from storebench.errors import SpecError, did_you_mean, unknown
from storebench.stores.base import Pod
from storebench.study.claim import Claim
from storebench.study.dataset import CustomFile, Dataset
from storebench.study.model import Axis, Band, Chart, Metric, Operation, Preset, Study, Table

MARK = "study_dag"  # the function that only a study's file calls
CHECKOUT_DAGS = Path(__file__).resolve().parents[3] / "dags"
PARTS = (
    Study,
    Axis,
    Band,
    Chart,
    Claim,
    Dataset,
    CustomFile,
    Metric,
    Operation,
    Pod,
    Preset,
    Table,
)  # the classes whose values a study's file makes
UNKNOWN_FIELD = re.compile(r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'")


def folder() -> Path:
    """Return Airflow's folder of DAGs if the environment names the folder, else the folder of the checkout."""
    return Path(os.environ.get("AIRFLOW__CORE__DAGS_FOLDER") or CHECKOUT_DAGS)


def names() -> list[str]:
    """Return the studies' names. Files that make no DAG of a study are skipped."""
    return sorted(path.stem for path in folder().glob("*.py") if _is_study(path))


def _is_study(path: Path) -> bool:
    """Return whether a file is a study, or cannot be read: then `find` reports the reason. Skip dangling links such as an editor's lock."""
    try:
        return path.is_file() and MARK in path.read_text(errors="replace")
    except OSError:
        return True


def find(name: str) -> Study:
    """Return the study in <folder>/<name>.py. Loads Airflow, which takes some seconds.

    Raises SpecError with the file's name if the file does not exist or has no usable study."""
    path = _path_of(name)
    if path is None:
        raise unknown("study", name, names())
    if str(folder()) not in sys.path:  # as in Airflow: a store may be a module beside its study
        sys.path.append(str(folder()))
    spec = importlib.util.spec_from_file_location(f"storebench_study_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None
    except (Exception, SystemExit) as error:  # a user's file may raise any exception
        raise SpecError(f"{path} cannot be loaded: {type(error).__name__}: {error}{_meant(error)}") from error
    studies = [value for value in vars(module).values() if isinstance(value, Study) and value.name == name]
    if not studies:
        raise SpecError(f"{path} has no study of the name {name!r}")
    return studies[0]


def _path_of(name: str) -> Path | None:
    """Return the file of a study: in the folder of DAGs, else on Python's path, to which a task of Airflow adds the bundle of its DAG."""
    path = folder() / f"{name}.py"
    if path.exists():
        return path
    others = (Path(place, path.name) for place in sys.path)
    return next((other for other in others if other.is_file() and _is_study(other)), None)


def _meant(error: BaseException) -> str:
    """Return the end of an error message about an unknown field: a similar field's name, or an empty text."""
    if not (isinstance(error, TypeError) and (match := UNKNOWN_FIELD.search(str(error)))):
        return ""
    known = [field.name for part in PARTS if part.__name__ == match[1] for field in dataclasses.fields(part)]
    meant = did_you_mean(match[2], known, most=1)
    return f".{meant}" if meant else ""


def store_names() -> set[str]:
    """Return the names of the stores of all usable studies."""
    return {store for _, study in all_of() if isinstance(study, Study) for store in study.stores}


def all_of() -> Iterator[tuple[str, Study | SpecError]]:
    """Yield each study's name and the study, or the error of a study that cannot be used."""
    for name in names():
        try:
            yield name, find(name)
        except SpecError as error:
            yield name, error
