import uuid
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest

from storebench.airflow.retrieve import whole
from storebench.attempt.overflow import fitting
from storebench.attempt.result import MAX_BYTES, AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import SpecError, StoreUnreachable
from storebench.grid import Cell
from storebench.order import Turn
from storebench.results.gaps import fill_gaps
from storebench.results.migrate import migrate
from storebench.results.repository import AttemptKey, PodRecord, Repository, run_id_of
from storebench.results.summary import refresh
from storebench.s3 import client_for

CELL = Cell("bulk_write_read", "mongodb", "reference", (("batch", "100"),), 1000, 42)
OTHER = Cell("bulk_write_read", "mongodb", "reference", (("batch", "all"),), 1000, 42)
POD = PodRecord(
    "p", "n", 0, 10.0, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
)
VERIFIED = AttemptResult(
    status="verified",
    verification="1,000 rows handled and counted",
    rows=1000,
    operation_s=1.5,
    total_s=9.5,
    client_cpu_share=0.95,
    client_cores_usable=1.0,
    figures_cover="client",
    environment={"server_name": "FerretDB", "server_version": "v2", "kernel": "6"},
)


@pytest.fixture
def run(repository, request):
    for _ in range(2):  # a plan that runs again changes nothing
        repository.start_run(
            study="bulk_write_read",
            dag_id="bulk_write_read",
            airflow_run_id=request.node.name,
            params={"rows": 1000},
            turns=[Turn(CELL, 1), Turn(OTHER, 1)],
            order_seed=1,
            skipped={},
        )
    return run_id_of("bulk_write_read", request.node.name)


def add(repository, run, cell=CELL, operation="write", try_number=1, result=VERIFIED):
    repository.add_attempt(
        AttemptKey(run, cell.key, 1, operation, try_number),
        result,
        POD,
        phases={"connect": 0.5, "operation": 1.5},
        target="t",
        dataset=None,
    )


def test_an_attempt_is_recorded_once_however_often_it_is_written(repository, queries, run):
    for _ in range(3):
        add(repository, run)
    (row,) = queries.results(run=run)
    assert (row["write_only_s"], row["read_only_s"], row["client_bound"]) == (1.5, None, True)
    assert (row["server_name"], row["batch_size"], row["executors"]) == ("FerretDB", "100", None)
    assert row["verification"] == "1,000 rows handled and counted"
    phases = queries.phases([row["attempt_id"]])
    assert [(phase["name"], phase["seconds"]) for phase in phases] == [("connect", 0.5), ("operation", 1.5)]


@pytest.mark.parametrize(
    ("used", "usable", "bound"),
    [(0.95, 1.0, True), (0.5, 1.0, False), (0.5, 0.5, True), (1.9, 4.0, False), (0.95, None, None)],
)
def test_a_client_is_bound_by_the_cores_that_it_can_use_and_an_engine_never(
    repository, queries, run, used, usable, bound
):
    add(repository, run, result=replace(VERIFIED, client_cpu_share=used, client_cores_usable=usable))
    (row,) = queries.results(run=run)
    assert row["client_bound"] is bound


def test_what_marks_an_attempt_is_recorded(repository, queries, run):
    marks = {
        "figures_cover": "engine",
        "durability": "s3",
        "durability_stated": "each commit is an acknowledged PUT",
        "disturbed": "lost 1 of 2 executors",
        "node_cpu_some_share": 0.1,
        "node_memory_some_share": 0.2,
        "node_memory_full_share": 0.3,
        "node_io_some_share": 0.4,
        "node_io_full_share": 0.5,
        "node_steal_share": 0.6,
        "node_others_cores": 0.7,
    }
    add(repository, run, result=AttemptResult.from_json(replace(VERIFIED, **marks).to_json()))
    (row,) = queries.results(run=run)
    assert {name: row[name] for name in marks} == marks


def test_attempts_of_before_the_marks_are_told_apart_by_their_store(repository, queries, database, run):
    from tests.integration.conftest import SQL

    add(repository, run, result=replace(VERIFIED, figures_cover=None, client_cores_usable=None))
    update = (SQL / "0012-marks.sql").read_text()
    with psycopg.connect(database) as connection:
        connection.execute(update[update.index("UPDATE") :].rstrip(";\n") + " AND a.run_id = %s", (run,))
    (row,) = queries.results(run=run)
    assert (row["figures_cover"], row["client_bound"]) == ("client", True)


@pytest.mark.parametrize("pods", [2, 24])
def test_each_executor_is_a_row_however_many_there_are(
    repository, queries, database, connections, bucket, run, pods
):
    figures = {"memory_peak_bytes": 5, "memory_working_set_peak_bytes": 4, "cpu_s": 0.5, "oom_kills": 0}
    settings = {f"setting_{n}": "x" * 100 for n in range(30)}
    result = replace(
        VERIFIED,
        memory_peak_bytes=1,
        executors=[{"executor": str(n), **figures} for n in range(pods)],
        environment={**VERIFIED.environment, "server_settings": settings},
    )
    spec = AttemptSpec("write", CELL.key, f"storebench_test_{uuid.uuid4().hex}", bucket, "", "")
    message = fitting(result, spec).to_json()
    assert len(message.encode()) <= MAX_BYTES
    s3 = client_for(connections["s3"])
    add(repository, run, result=whole(AttemptResult.from_json(message), spec, lambda: s3))
    (row,) = queries.results(run=run)
    assert row["executor_pods"] == pods
    assert row["executors_cpu_s"] == pytest.approx(pods / 2)
    assert row["all_memory_peak_bytes"] == 1 + 5 * pods
    assert queries.environments([row["environment_hash"]])[row["environment_hash"]] == result.environment
    with psycopg.connect(database) as connection:
        (found,) = connection.execute(
            "SELECT count(*) FROM storebench.executor WHERE attempt_id = %s", (row["attempt_id"],)
        ).fetchone()
    assert found == pods
    assert not s3.list_objects_v2(Bucket=bucket, Prefix=f"results/{spec.target}").get("KeyCount")


def test_a_row_of_before_that_stands_for_many_executors_still_counts_as_many(
    repository, queries, database, run
):
    add(repository, run)
    (row,) = queries.results(run=run)
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO storebench.executor (attempt_id, executor, pods, cpu_s) VALUES (%s, 'all 100', 100, 50)",
            (row["attempt_id"],),
        )
    (row,) = queries.results(run=run)
    assert (row["executor_pods"], row["executors_cpu_s"]) == (100, 50)


def test_a_second_try_is_a_second_row(repository, queries, run):
    add(repository, run, result=AttemptResult(status="failed", error_kind="killed", error="x"))
    add(repository, run, try_number=2)
    assert [row["status"] for row in queries.results(run=run)] == ["failed", "verified"]
    add(repository, run, operation="read")
    assert {row["cell_key"] for row in repository.finish_run(run)} == set()
    (newest,) = [row for row in queries.attempts_of_run(run) if row["operation"] == "write"]
    assert (newest["try_number"], newest["status"]) == (2, "verified")


def test_a_run_keeps_the_order_of_its_turns(repository, run):
    assert repository.recorded_turns(run) == [Turn(CELL, 1), Turn(OTHER, 1)]
    assert repository.recorded_turns("no such run") == []
    assert repository.recorded_turn(run, "", 1) == Turn(OTHER, 1)
    with pytest.raises(SpecError, match="has no turn 2 in the node pool 'default'"):
        repository.recorded_turn(run, "", 2)


def test_a_turn_that_was_left_out_on_purpose_is_no_gap(repository, run):
    repository.skip(run, OTHER, 1, "known well enough")
    assert fill_gaps(repository, run) == 2, "those of the other cell"


def test_gaps_become_rows_and_the_run_fails_with_their_names(repository, run):
    add(repository, run)
    add(repository, run, operation="read")
    assert fill_gaps(repository, run) == 2
    assert fill_gaps(repository, run) == 0
    failed = repository.finish_run(run)
    assert {(row["cell_key"], row["operation"], row["status"]) for row in failed} == {
        (OTHER.key, "write", "not_run"),
        (OTHER.key, "read", "not_run"),
    }


def test_a_gap_whose_task_was_killed_says_so(repository, queries, run):
    add(repository, run)
    assert fill_gaps(repository, run, {(CELL.key, 1, "read")}) == 3
    kinds = {
        (row["cell_key"], row["operation"]): row["error_kind"]
        for row in queries.results(run=run)
        if row["error_kind"]
    }
    assert kinds == {
        (CELL.key, "read"): "infrastructure",
        (OTHER.key, "write"): "not_run",
        (OTHER.key, "read"): "not_run",
    }


def test_an_attempt_outside_the_plan_is_refused(repository, run):
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        add(repository, run, cell=Cell("s", "mongodb", "reference", (), 1, 1))


def test_results_are_filtered_and_text_is_never_taken_for_sql(repository, queries, run):
    add(repository, run)
    add(repository, run, cell=OTHER)
    assert len(queries.results(run=run, cell="batch=all")) == 1
    assert len(queries.results(run=run, store="mongodb", limit=1)) == 1
    assert queries.results(run=run, store="null") == []
    assert queries.results(run=run, cell="' OR true --") == []


def test_summary_holds_verified_attempts_only_that_were_not_disturbed(repository, queries, database, run):
    def counts():
        with psycopg.connect(database) as connection:
            return dict(
                connection.execute("SELECT cell_key, sum(n) FROM storebench.summary GROUP BY 1").fetchall()
            )

    refresh(repository, [CELL.key, OTHER.key])
    before = counts()
    add(repository, run)
    add(repository, run, cell=OTHER, result=AttemptResult(status="failed", error_kind="killed", error="x"))
    add(repository, run, cell=OTHER, operation="read", result=replace(VERIFIED, disturbed="throttled"))
    refresh(repository, [CELL.key, OTHER.key])
    after = counts()
    assert after[CELL.key] == before.get(CELL.key, 0) + 1
    assert after.get(OTHER.key) == before.get(OTHER.key)


def test_migrating_again_applies_nothing(database):
    assert migrate(database) == []


def test_every_column_and_every_query_of_the_documentation_is_real(database):
    import re
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    table = text[: text.index("View `latest`")]
    documented = {
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([a-z0-9_]+)`", line.split("|")[1])
    }
    with psycopg.connect(database) as connection:
        cursor = connection.execute("SELECT * FROM storebench.results")
        assert {column.name for column in cursor.description} == documented
        queries = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
        assert len(queries) >= 10
        for query in queries:
            connection.execute(query)


def test_a_database_that_is_away_is_waited_for_or_named(database, monkeypatch):
    gone = database.replace(str(psycopg.conninfo.conninfo_to_dict(database)["port"]), "1")
    with pytest.raises(StoreUnreachable, match=r"results database at 127\.0\.0\.1:1 cannot be used"):
        Repository(gone).skip("run", CELL, 1, "x")
    tries = []
    real = psycopg.connect

    def connect(dsn, **options):
        tries.append(dsn)
        return real(database if len(tries) > 2 else gone, **options)

    monkeypatch.setattr(psycopg, "connect", connect)
    Repository(gone, patience_s=30).skip("run", CELL, 1, "x")
    assert len(tries) == 3
