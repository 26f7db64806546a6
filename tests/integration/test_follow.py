"""The command line's output during and after a run, from the real database."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from storebench.cli.airflow_api import Look
from storebench.cli.follow import Progress
from storebench.cli.output.overview import print_overview
from storebench.results.database.repository import Repository, run_id_of
from storebench.results.forecast.fixed import Fixed, fixed_of
from tests.integration.recorded import STUDY


def task(name, state="success", number=-1):
    ended = None if state == "running" else "2026"
    return {
        "id": f"{name}{number}{state}",
        "task_id": name,
        "task_display_name": name,
        "map_index": number,
        "rendered_map_index": "mongodb reference batch=10" if number >= 0 else None,
        "state": state,
        "end_date": ended,
    }


def look(*tasks, over=False, state="running"):
    return Look(list(tasks), list(tasks), state, over)


def test_each_attempt_is_a_line_as_it_comes_and_none_comes_twice(database, run, cells):
    run_id = run_id_of(STUDY, run(cells, 1, lambda cell, turn: 0.5))
    console = Console(file=io.StringIO(), width=60)
    progress = Progress(console, Repository(database), run_id)
    progress.take(look(task("plan", "running")))
    assert console.file.getvalue() == ""
    for _ in range(2):
        progress.take(look(task("plan"), task("cell.write", number=0)))
    head, columns, *lines = console.file.getvalue().splitlines()
    assert head == f"4 operations:  store mongodb  client reference  rows 1,000  seed {cells[0].seed}"
    assert columns.split() == ["batch", "operation", "result", "state"]
    assert [line.split()[:4] for line in lines] == [
        [str(n), "of", "4", line.split()[3]] for n, line in enumerate(lines, 1)
    ]
    assert len(lines) == 4
    assert sorted(tuple(line.split()[3:]) for line in lines) == [
        (batch, operation, "500", "ms", "verified")
        for batch in ("10", "20")
        for operation in ("read", "write")
    ]
    status = progress.status(look(task("plan"), task("cell.write", "running", 0)))
    assert status.startswith("4 of 4 · ") and status.endswith(" s · cell.write mongodb reference batch=10")
    assert "4 of 4 operations are verified" in progress.summary("success")


def test_a_step_that_fails_is_told_once_and_an_attempt_by_its_row(database):
    progress = Progress(Console(file=io.StringIO()), Repository(database), "none/none")
    failed = look(task("plan", "failed"), task("cell.write", "failed", 0))
    assert [one["task_id"] for one in progress.failed(failed)] == ["plan"]
    assert progress.failed(failed) == []
    progress.take(failed)
    assert progress.summary("failed") == "run failed after 0 s"


def test_what_was_skipped_is_told_with_a_reason(database, repository, run, cells):
    run_id = run_id_of(STUDY, run(cells, 1))
    repository.skip(run_id, cells[0], 1, "the median is known to within 2 %")
    progress = Progress(Console(file=io.StringIO()), Repository(database), run_id)
    progress.take(look(over=True, state="success"))
    assert progress.summary("success").endswith(
        "; 1 skipped, the first because the median is known to within 2 %"
    )


def test_a_run_that_waits_says_so_once(database):
    console = Console(file=io.StringIO())
    progress = Progress(console, Repository(database), "none/none")
    for _ in range(4):
        progress.take(look(state="queued"))
    assert console.file.getvalue() == "queued: the run begins when the runs before it have ended\n"


def test_the_end_has_a_line_for_each_operation_of_a_cell_with_the_best_first(database, queries, run, cells):
    run_id = run_id_of(STUDY, run(cells, 1, lambda cell, turn: 0.5 if cell.value("batch") == "10" else 0.25))
    console = Console(file=io.StringIO(), width=100)
    rows = queries.attempts_of_run(run_id)
    print_overview(console, rows, queries.study(STUDY), fixed_of(queries, rows))
    lines = console.file.getvalue().splitlines()
    assert all(len(line) <= 100 for line in lines)
    verified = [" ".join(line.split()) for line in lines if "verified" in line]
    assert [line.split()[:2] for line in verified] == [
        ["write", "20"],
        ["write", "10"],
        ["read", "20"],
        ["read", "10"],
    ]
    assert "250 ms" in verified[0] and "500 ms" in verified[1]


def test_what_a_larger_dataset_tells_of_the_fixed_part_is_found(queries, run, cells):
    # At places on the axes that no other test has
    small, alone = (replace(cells[0], axes=(("batch", f"{cells[0].seed}{n}"),)) for n in (1, 2))
    run([replace(small, rows=10 * small.rows)], 1, lambda *_: 6.0)
    rows = queries.attempts_of_run(
        run_id_of(STUDY, run([small, alone], 1, lambda *_: 1.5, phases={"operation": 1.5}))
    )
    found = fixed_of(queries, rows)
    for operation in ("write", "read"):  # of 9 s of the process 1.5 are the operation's
        assert found[small.key, operation] == Fixed(7.5, pytest.approx(1.0))
        assert found[alone.key, operation] == Fixed(7.5, None)
