"""The variables that make takes on its command line."""

import re
from pathlib import Path

import pytest

from tests.dry_make import dry_make

ROOT = Path(__file__).parents[3]
MAKEFILE = (ROOT / "Makefile").read_text()
OF_RUN, OF_OTHERS = (
    re.search(rf"^{name} := (.*)$", MAKEFILE, re.MULTILINE)[1].split() for name in ("OF_RUN", "OF_OTHERS")
)


@pytest.fixture
def make(tmp_path):
    """Run make without executing recipes. Return its exit code and output."""

    def call(*arguments):
        done = dry_make(tmp_path, *arguments)
        return done.returncode, done.stdout + done.stderr

    return call


@pytest.mark.parametrize("target", ["run", "up", "bench-grid"])
def test_a_variable_with_a_typing_mistake_is_refused_with_those_that_there_are(make, target):
    code, said = make(target, "STDY=column_scan", "ROWS=10")
    assert code == 2 and "Unknown variable: STDY. There are AXES " in said and " STUDY" in said


def test_a_variable_of_another_target_is_refused_for_a_run(make):
    code, said = make("run", "CELLS=10")
    assert code == 2 and "Unknown variable: CELLS. There are AXES " in said


def test_what_the_targets_take_is_taken(make):
    options = re.findall(r"\$\(call options,([A-Z ]+)\)", MAKEFILE)
    used = {name for found in options for name in found.split()} | {
        "AXES",
        "DATABASE",
        "PARAMS",
        "INPUTS",
        "PODS",
        "RUN",
        "TAGS",
        "UPGRADE",
        "WITH",
    }
    assert used == {*OF_RUN, *OF_OTHERS}
    of_run = re.search(r"^OPTIONS := \$\(call options,([A-Z ]+)\)", MAKEFILE, re.MULTILINE)[1].split()
    assert {*of_run, "AXES", "PARAMS", "TAGS"} == set(OF_RUN)
    values = [f"{name}=batch=10,20 executors=2" for name in (*OF_RUN, *OF_OTHERS)]
    code, said = make("help", *values, "STOREBENCH_PORT_BASE=19000", "KUBECONFIG=/config")
    assert code == 0, said
