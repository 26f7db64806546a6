"""The layout of the project."""

import json
import subprocess
import sys
from pathlib import Path

import storebench

# Packages that a pod has no use for. Most of their dependencies are not in the images of pods.
NOT_IN_PODS = (
    "airflow",
    "psycopg",
    "storebench.airflow",
    "storebench.answers",
    "storebench.planning",
    "storebench.results",
    "storebench.web",
)
MOST_MODULES = 20  # of one package, without its rooms; a study has a module for each of its stores


def test_the_root_holds_packages_and_few_modules_that_everybody_uses():
    (root,) = map(Path, storebench.__path__)
    assert len(list(root.glob("*.py"))) <= 8 + 1, "eight beside __init__.py"


def test_a_pod_loads_nothing_of_results_planning_and_airflow():
    programs = "storebench.cli, storebench.attempt.run, storebench.attempt.dataset"
    code = f"import json, sys, {programs}; print(json.dumps(sorted(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = json.loads(process.stdout)
    assert "storebench.cli.pods" in loaded
    assert [name for name in loaded for other in NOT_IN_PODS if f"{name}.".startswith(f"{other}.")] == []


def test_a_package_has_few_modules():
    (root,) = map(Path, storebench.__path__)
    packages = [path.parent for path in root.rglob("__init__.py") if root / "stores" not in path.parents]
    counted = {str(package.relative_to(root)): len(list(package.glob("*.py"))) - 1 for package in packages}
    assert counted["results/database"] > 5
    assert {name: modules for name, modules in counted.items() if modules > MOST_MODULES} == {}
