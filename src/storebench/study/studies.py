"""Find the studies: each is a file in the folder of DAGs. A file with a mistake breaks no other study."""

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
from storebench.study.dataset import Dataset, File
from storebench.study.model import Axis, Chart, Metric, Operation, Preset, Study

MARK = "study_dag"  # what the file of a study calls, and no other
CHECKOUT_DAGS = Path(__file__).resolve().parents[3] / "dags"
PARTS = (
    Study,
    Axis,
    Chart,
    Claim,
    Dataset,
    File,
    Metric,
    Operation,
    Pod,
    Preset,
)  # what a study's file makes
UNKNOWN_FIELD = re.compile(r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'")


def folder() -> Path:
    """Airflow's folder of DAGs where that is known, or the checkout's."""
    return Path(os.environ.get("AIRFLOW__CORE__DAGS_FOLDER") or CHECKOUT_DAGS)


def names() -> list[str]:
    """Return the studies' names. A file that makes no DAG of a study is a module beside one."""
    return sorted(path.stem for path in folder().glob("*.py") if _is_study(path))


def _is_study(path: Path) -> bool:
    """Return whether a file is a study, or cannot be read: then `find` says why. An editor's lock is a link to nothing."""
    try:
        return path.is_file() and MARK in path.read_text(errors="replace")
    except OSError:
        return True


def find(name: str) -> Study:
    """Return the study in <folder>/<name>.py. Loads Airflow, too: some seconds. Raises SpecError, which names the file, where there is none,
    or none that can be used."""
    path = folder() / f"{name}.py"
    if not path.exists():
        raise unknown("study", name, names())
    if str(folder()) not in sys.path:  # as Airflow has it: a store may be a module beside its study
        sys.path.append(str(folder()))
    spec = importlib.util.spec_from_file_location(f"storebench_study_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None
    except (Exception, SystemExit) as error:  # whatever a user's file does
        raise SpecError(f"{path} cannot be loaded: {type(error).__name__}: {error}{_meant(error)}") from error
    found = [value for value in vars(module).values() if isinstance(value, Study) and value.name == name]
    if not found:
        raise SpecError(f"{path} has no study of the name {name!r}")
    return found[0]


def _meant(error: BaseException) -> str:
    """Return what was perhaps meant by a field that a part of a study does not have."""
    if not (isinstance(error, TypeError) and (found := UNKNOWN_FIELD.search(str(error)))):
        return ""
    known = [one.name for part in PARTS if part.__name__ == found[1] for one in dataclasses.fields(part)]
    meant = did_you_mean(found[2], known, most=1)
    return f".{meant}" if meant else ""


def store_names() -> set[str]:
    """The names of the stores of all studies that can be used."""
    return {store for _, found in all_of() if isinstance(found, Study) for store in found.stores}


def all_of() -> Iterator[tuple[str, Study | SpecError]]:
    """Each study with its name; of one that cannot be used, what is wrong with it."""
    for name in names():
        try:
            yield name, find(name)
        except SpecError as error:
            yield name, error
