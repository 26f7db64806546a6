"""A profile of a pod in the real cluster, whose containers have no capabilities and the runtime's default seccomp filter."""

import re

from storebench.study.observing import CPU, disturbed_by
from tests.e2e.harness import run, storebench


def test_a_profiled_run_has_stacks_of_its_client_and_counts_nowhere():
    code, text, rows = run("--rows", "20000", "--axis", "batch=500", "--param", 'profile="cpu"')
    assert code == 0, text
    assert {row["operation"] for row in rows} == {"write", "read"}
    assert all(row["status"] == "verified" and disturbed_by(CPU) in row["disturbed"] for row in rows), rows
    found = storebench("profile", rows[0]["run"], "--operation", "write")
    assert found.returncode == 0 and not found.stderr
    stacks = found.stdout.splitlines()
    assert stacks and all(re.fullmatch(r"\S.* write 1;python;.*\S \d+", stack) for stack in stacks)
    assert any("pymongo/" in stack for stack in stacks), "the functions of the client"
