"""Names of runs, and errors for unknown names, in the real database."""

import uuid
from datetime import timedelta

import psycopg
import pytest

from storebench.attempt.result import AttemptResult
from storebench.errors import SpecError
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.queries import Queries, superseded
from storebench.results.database.repository import run_id_of
from storebench.study.order import Turn
from tests.bulk import BULK, RANKED_BY, bulk_study, cell_at

CELL = cell_at("mongodb", 42, 2000, batch="100")
OTHER = cell_at("null", 42, 2000, batch="100")


@pytest.fixture
def dag():
    """Return a DAG without runs of other tests."""
    return f"dag_{uuid.uuid4().hex}"


@pytest.fixture
def queries(database, dag):
    return Queries(database, dag_ids=[dag])


@pytest.fixture
def start(repository, database, dag):
    def start(name, ago=timedelta(), cells=(CELL, OTHER), dag=dag):
        repository.start_run(
            study=bulk_study(),
            dag_id=dag,
            airflow_run_id=name,
            params={},
            turns=[Turn(cell, 1) for cell in cells],
            order_seed=1,
            skipped={},
        )
        with psycopg.connect(database) as connection:
            connection.execute(
                "UPDATE storebench.run SET started_at = now() - %s WHERE id = %s", (ago, run_id_of(dag, name))
            )
        return run_id_of(dag, name)

    return start


def test_latest_is_the_newest_run(queries, start):
    start("manual__1", timedelta(hours=2))
    start("manual__2", timedelta(hours=1))
    assert queries.run_named("latest")["airflow_run_id"] == "manual__2"


@pytest.mark.parametrize("kind", ["backfill", "cell"])
def test_latest_is_no_single_cell_of_a_backfill_when_a_whole_run_is_near_it(queries, start, kind):
    start("manual__1", timedelta(hours=3))
    start(f"{kind}__mongodb__1", timedelta(hours=2), [CELL])
    start(f"{kind}__null__1", timedelta(hours=1), [OTHER])
    assert queries.run_named("latest")["airflow_run_id"] == "manual__1"


def test_latest_is_a_backfills_where_no_whole_run_is_near_it(queries, start):
    start("manual__1", timedelta(days=3))
    start("backfill__mongodb__1", timedelta(hours=2), [CELL])
    start("backfill__null__1", timedelta(hours=1), [OTHER])
    assert queries.run_named("latest")["airflow_run_id"] == "backfill__null__1"


def test_there_is_no_latest_without_a_run(queries):
    with pytest.raises(SpecError, match="There are no results yet"):
        queries.run_named("latest")


def test_an_unknown_name_is_told_with_the_runs_near_it(queries, start):
    start("manual__2026-11-23T12", timedelta(hours=2))
    start("nightly", timedelta(hours=1), [CELL])
    with pytest.raises(SpecError) as refused:
        queries.run_named("manual__2026-11-23T13")
    assert str(refused.value) == (
        "There is no run 'manual__2026-11-23T13'. Near it are:\n  manual__2026-11-23T12 (mongodb, null; 2,000 rows)"
    )
    with pytest.raises(SpecError, match=r"The newest are:\n  nightly \(mongodb; 2,000 rows\)\n  manual"):
        queries.run_named("x")


def test_a_name_that_two_studies_have_is_told_with_both(database, start, dag):
    other = f"{dag}_2"
    ids = [start("mine"), start("mine", dag=other, cells=[CELL])]
    queries = Queries(database, dag_ids=[dag, other])
    with pytest.raises(SpecError, match="Several runs are named 'mine'") as refused:
        queries.run_named("mine")
    assert all(f"  {one} (mongodb" in str(refused.value) for one in ids)
    assert queries.run_named(ids[1])["id"] == ids[1]


def test_the_latest_and_the_listed_runs_are_those_of_the_study_that_is_asked_for(database, queries, start):
    older, newest = start("older", timedelta(hours=1)), start("newest")
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE storebench.run SET study = 'another' WHERE id = %s", (newest,))
    assert queries.run_named("latest")["id"] == newest
    assert queries.run_named("latest", BULK)["id"] == older
    assert [row["id"] for row in queries.runs(10, "another")] == [newest]
    with pytest.raises(SpecError, match="There are no results of the study third yet"):
        queries.run_named("latest", "third")
    with pytest.raises(SpecError, match="There is no run 'older' of the study another"):
        queries.run_named("older", "another")


def test_runs_of_other_dags_cannot_be_named(database, start):
    with pytest.raises(SpecError, match="There are no results yet"):
        Queries(database, dag_ids=[]).run_named(start("secret"))


def test_the_newest_try_of_an_operation_counts_once_and_the_others_are_marked(queries, repository, start):
    run = start("retried", cells=[CELL])
    for operation, tries in (
        ("write", ["failed", "verified"]),
        ("read", ["not_run", "verified", "verified"]),
    ):
        for number, status in enumerate(tries):
            repository.add_attempt(
                AttemptKey(run, CELL.key, 1, operation, number),
                AttemptResult(status=status, error_kind=None if status == "verified" else status),
                PodRecord(),
                phases={},
                metric=RANKED_BY[operation],
                target=None,
                dataset=None,
            )
    (counted,) = queries.runs(10)
    assert (counted["planned"], counted["verified"], counted["failed"], counted["not_run"]) == (2, 2, 0, 0)
    assert (counted["stores"], counted["cell_key"]) == (["mongodb"], CELL.key)
    assert (counted["rows"], counted["seed"]) == (2000, 42)
    assert queries.run_counted(run) == counted
    rows = queries.results(run="retried")
    marked = superseded(rows)
    assert sorted((row["operation"], row["try_number"]) for row in rows if row["attempt_id"] in marked) == [
        ("read", 0),
        ("read", 1),
        ("write", 0),
    ]
