"""The seam between Storebench and what Airflow and its Kubernetes provider do not promise."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.cncf.kubernetes.utils.pod_manager import PodManager

from storebench.airflow import compat
from storebench.airflow.compat.priority import CellByCell
from storebench.airflow.compat.timetable import GridTimetable

ROOT = Path(__file__).parents[3]
AIRFLOW = ROOT / "src" / "storebench" / "airflow"
SEAM = AIRFLOW / "compat"
PUBLIC = {"airflow.sdk", "airflow.sdk.exceptions", "airflow.plugins_manager"}
PIN = re.compile(r"^(apache-airflow[a-z-]*)==([^\s;]+)", re.MULTILINE)
ROWS = [(module, *row) for module, packages in compat.LOOKED_AT.items() for row in packages.items()]


def pins(package):
    """Return the versions of a package in requirements/, by file."""
    files = (ROOT / "requirements").glob("*.txt")
    pinned = {path.name: dict(PIN.findall(path.read_text())) for path in files}
    return {name: versions[package] for name, versions in pinned.items() if package in versions}


def test_the_table_has_each_module_of_the_seam():
    modules = {path.stem for path in SEAM.glob("*.py")} - {"__init__"}
    assert modules == set(compat.LOOKED_AT) and len(modules) > 5


@pytest.mark.parametrize(("module", "package", "version"), ROWS)
def test_each_module_was_looked_at_in_the_pinned_version(module, package, version):
    pinned = pins(package)
    assert "host.txt" in pinned
    assert set(pinned.values()) == {version}, (
        f"compat/{module}.py was last compared with {package} {version}. Read the module and the package's changes. Then change the"
        " row in compat/__init__.py"
    )


@pytest.mark.parametrize(("module", "package", "version"), ROWS)
def test_each_module_says_for_which_version_it_was_written_and_when_it_can_go(module, package, version):
    text = importlib.import_module(f"storebench.airflow.compat.{module}").__doc__
    written, remove = text.split("\n\n")[1], text.split("\n\n", 2)[2]
    assert written.startswith("Written for ") and re.search(rf"{package} \d+\.\d+\.\d+", written)
    assert remove.startswith("Remove ") and (" when " in remove or " for " in remove)


def imports_of_airflow(path):
    """Return the modules of Airflow that a file imports; without `airflow` itself where only its version is imported."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = {alias.name for alias in node.names}
            found |= set() if (node.module, names) == ("airflow", {"__version__"}) else {node.module}
    return {name for name in found if name.split(".")[0] == "airflow"}


def test_only_the_seam_imports_more_of_airflow_than_its_task_sdk():
    files = [path for folder in ("src", "plugins", "dags") for path in (ROOT / folder).rglob("*.py")]
    imports = {
        path: imports_of_airflow(path)
        for path in files
        if "import airflow" in (text := path.read_text()) or "from airflow" in text
    }
    outside = {path: modules for path, modules in imports.items() if SEAM not in path.parents}
    assert len(outside) > 10 and len(imports) - len(outside) >= len(compat.LOOKED_AT)
    more = {str(path.relative_to(ROOT)): modules - PUBLIC for path, modules in outside.items()}
    assert {name: modules for name, modules in more.items() if modules} == {}


def test_only_the_seam_uses_private_attributes_of_the_pod_operator():
    source = inspect.getsource(KubernetesPodOperator) + inspect.getsource(PodManager)
    private = set(re.findall(r"\b(?:self\.|def )(_[a-z]\w+)", source))
    assert {"_killed", "_get_ti_pod_labels", "_log_message"} <= private
    used = {
        path.name: private.intersection(re.findall(r"\b(?:self|super\(\))\.(_[a-z]\w+)", path.read_text()))
        for path in AIRFLOW.rglob("*.py")
        if path.parent != SEAM
    }
    assert {name: names for name, names in used.items() if names} == {}


@pytest.mark.parametrize(
    ("stored", "name"),
    [
        (GridTimetable, "storebench.airflow.timetable.GridTimetable"),
        (CellByCell, "storebench.airflow.priority.CellByCell"),
    ],
)
def test_dags_that_airflow_has_stored_stay_readable_where_the_module_moves(stored, name):
    assert f"{stored.__module__}.{stored.__qualname__}" == name
