"""A database from when there was one kind of study, which wrote and read a table: it is brought up to date, and says what it said before.

before_any_study has rows of that time, a bundle that the version before exported, of a measured run, and the views, the documented queries
and the answers of `storebench grid` of that time.
"""

import hashlib
import json
import re
import shutil
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from bench.scratch import scratch
from storebench.airflow.params import defaults_of, grid_of
from storebench.cli import main
from storebench.errors import SpecError
from storebench.results.bundle import Bundles
from storebench.results.done import verified_repeats
from storebench.results.left import Left
from storebench.results.migrate import migrate
from storebench.results.queries import Queries
from storebench.results.repository import Repository
from storebench.results.summary import refresh
from storebench.study import studies
from storebench.study.cell import Cell
from tests.bulk import BULK, bulk_study, cell_at
from tests.integration.conftest import SQL, required

ROOT = Path(__file__).parents[2]
BEFORE = Path(__file__).parent / "before_any_study"
RUN = f"{BULK}/manual__before"
MONGODB, ONE, TWO = CELLS = [
    cell_at("mongodb", 7, 20000, batch="10000"),
    *(cell_at("delta-spark", 7, 20000, batch="all", executors=number) for number in ("1", "2")),
]
# only_s, source_s, barrier_s and, of a verified one, rows_per_s
FIGURES = [
    (MONGODB, 1, "write", 1.5, 0.4, 0.0, 20000 / 1.5),
    (MONGODB, 1, "read", 0.8, 0.0, 0.0, 25000),
    (MONGODB, 2, "write", 1.7, 0.5, 0.0, 20000 / 1.7),
    (MONGODB, 2, "read", 0.3, 0.0, 0.0, None),
    (ONE, 1, "write", 6.0, 0.2, 0.1, 20000 / 6),
    (ONE, 1, "read", 4.0, 0.0, 0.0, 5000),
    (TWO, 1, "write", 3.0, 0.2, 0.1, 20000 / 3),
    (TWO, 1, "read", 2.0, 0.0, 0.0, 10000),
    (ONE, 2, "write", None, None, None, None),
    (ONE, 2, "read", None, None, None, None),
]
METHOD = 2  # of all that was measured then: with a later method nothing of it counts as done
README = "README.md"
# These were documented later: there is no answer of before.
LATER = {"Every metric of the newest run", "The histograms and series of the newest run"}
# What is asked of each source: its rows and seed, a cell, and the parameters with which it was measured.
BUNDLE = "bulk_study"
ASKED = {
    "rows": ["--rows", "20000", "--seed", "7"],
    BUNDLE: [
        *("--rows", "1000000", "--param", 'pod_memory="12Gi"'),
        *("--param", 'executor_memory="1g"', "--param", 'driver_memory="2g"'),
    ],
}
DATASETS = {"rows": "rows=20000/seed=7", BUNDLE: "rows=1000000/seed=42"}


@pytest.fixture
def up_to(tmp_path):
    """A folder with the migrations up to this one."""

    def folder(number):
        made = tmp_path / f"sql-{number}"
        made.mkdir()
        for path in SQL.glob("*.sql"):
            if path.name[:4] <= number:
                shutil.copy(path, made)
        return made

    return folder


@pytest.fixture
def made(up_to):
    """A database as it was, with what is in this source."""

    @contextmanager
    def made(source):
        with scratch(required("AIRFLOW_CONN_STOREBENCH_RESULTS")) as uri:
            applied = migrate(uri, up_to("0018"))
            assert (len(applied), applied[-1]) == (18, "0018-strangers")
            with psycopg.connect(uri) as connection:
                for view in ("summary", "newest", "latest", "results"):
                    connection.execute(f"DROP VIEW IF EXISTS storebench.{view}")
                for path in sorted((BEFORE / "views").glob("*.sql")):
                    connection.execute(path.read_text())
                if source == "rows":
                    connection.execute((BEFORE / "rows.sql").read_text())
                else:
                    load_as_before(connection, BEFORE / f"{source}.zip")
                connection.execute((BEFORE / "statistics.sql").read_text())
            yield uri

    return made


@pytest.fixture
def before(made):
    """The database as it was."""
    with made("rows") as uri:
        yield uri


def load_as_before(connection, path):
    """As the version before loaded a bundle."""
    with zipfile.ZipFile(path) as bundle:
        for table in FORMAT_1:
            rows = json.loads(bundle.read(f"{table}.json"))
            columns = ", ".join(rows[0])
            connection.execute(
                f"INSERT INTO storebench.{table} ({columns})"
                f" SELECT {columns} FROM jsonb_populate_recordset(NULL::storebench.{table}, %s)",
                (Jsonb(rows),),
            )


@pytest.fixture
def after(before):
    """The same, up to date."""
    assert migrate(before) == sorted(path.stem for path in SQL.glob("*.sql") if path.name > "0019")
    return before


@pytest.fixture
def new():
    """A new one."""
    with scratch(required("AIRFLOW_CONN_STOREBENCH_RESULTS")) as uri:
        migrate(uri)
        yield uri


def answer(uri, query, *values):
    with psycopg.connect(uri) as connection:
        return connection.execute(query, values or None).fetchall()


def rows(uri, query, *values):
    with psycopg.connect(uri, row_factory=dict_row) as connection:
        return connection.execute(query, values or None).fetchall()


def asked_before(source="rows"):
    """The queries of that time, by what they ask."""
    text = (BEFORE / "queries.sql").read_text().replace("rows=20000/seed=7", DATASETS[source])
    return dict(re.findall(r"\n-- ([^\n]+)\n(SELECT.*?);", text, re.DOTALL))


def asked_now(source="rows"):
    """Those of today, of the same dataset, by the beginnings of what they ask."""
    text = (ROOT / "docs" / "results.md").read_text().replace("rows=20000/seed=42", DATASETS[source])
    found = re.findall(r"\n\n([^\n]+)(?:\n[^\n]+)*:\n\n```sql\n(.*?);\n```", text, re.DOTALL)
    known = [*asked_before(), *LATER]
    queries = {next(one for one in known if said.startswith(one)): query for said, query in found}
    (queries[README],) = re.findall(r'-c "(SELECT[^"]+)"', (ROOT / README).read_text())
    assert set(queries) == set(known)
    return queries


@pytest.mark.parametrize("source", ASKED)
def test_the_documented_queries_give_the_answers_that_they_gave(made, source):
    with made(source) as uri:
        said = {what: answer(uri, query) for what, query in asked_before(source).items()}
        assert source != "rows" or all(said.values()), "each has an answer"
        migrate(uri)
        found = {what: answer(uri, query) for what, query in asked_now(source).items() if what not in LATER}
    for what, rows in found.items():
        # what is alike in all that a query orders by comes in any order, which an index may change
        assert sorted(rows, key=repr) == sorted(said[what], key=repr), what


@pytest.mark.parametrize("source", ASKED)
def test_the_grid_is_what_it_was(made, new, source, monkeypatch):
    """Also where the bundle comes into a database of today."""

    def grid(uri):
        monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", uri)
        monkeypatch.setenv("COLUMNS", "200")
        study = replace(bulk_study(), method_version=METHOD)
        monkeypatch.setattr(studies, "find", lambda name: study)
        printed = CliRunner().invoke(main, ["grid", "--study", BULK, *ASKED[source]])
        assert printed.exit_code == 0, printed.output
        return [line.rstrip() for line in printed.stdout.splitlines()]

    said = (BEFORE / f"grid-{source}.txt").read_text().splitlines()
    with made(source) as uri:
        migrate(uri)
        assert grid(uri) == said
    if source == BUNDLE:
        Bundles(new).load(BEFORE / f"{BUNDLE}.zip")
        assert grid(new) == said


def test_a_bundle_is_the_same_results_whether_it_was_loaded_before_or_after(made, new):
    path = BEFORE / f"{BUNDLE}.zip"
    with made(BUNDLE) as uri:
        migrate(uri)
        (run,) = [row["id"] for row in Queries(uri).runs(10)]
        keys = Queries(uri).cells_of_run(run)
        refresh(Repository(uri), keys)
        assert Bundles(new).load(path)[0] == run
        assert set(Bundles(new).load(path)[1].values()) == {0}, "again: nothing is new"
        for what in SAME:
            assert rows(new, what) == rows(uri, what), what
        assert len(Queries(new).results(run=run)) == 33


def test_each_figure_is_a_metric_of_its_attempt(after):
    columns = "cell_key, repeat, operation, only_s, source_s, barrier_s, rows_per_s"
    found = answer(after, f"SELECT {columns} FROM storebench.{BULK} ORDER BY recorded_at")
    assert found == [
        (cell.key, repeat, operation, *figures, rate and pytest.approx(rate))
        for cell, repeat, operation, *figures, rate in FIGURES
    ]
    metrics = answer(after, "SELECT DISTINCT metric, unit FROM storebench.results")
    assert metrics == [("only_s", "s")]
    values = answer(after, "SELECT value FROM storebench.results ORDER BY recorded_at")
    assert values == [(only_s,) for _, _, _, only_s, *_ in FIGURES]


def test_a_verified_write_has_what_ranks_writes_now_and_others_have_not(after):
    sums = answer(after, "SELECT (metrics ->> 'write_s')::float FROM storebench.results ORDER BY recorded_at")
    assert sums == [
        (only_s + barrier_s if operation == "write" and rate else None,)
        for _, _, operation, only_s, _, barrier_s, rate in FIGURES
    ]


def test_the_charts_of_a_recorded_study_show_the_total_without_verification(after):
    ((charts,),) = answer(after, "SELECT details -> 'charts' FROM storebench.study WHERE name = %s", BULK)
    assert [one["metric"] for one in charts][2:] == ["work_total_s", "all_memory_working_set_peak_bytes"]
    assert {one["colour"] for one in charts} == {"batch"}


def test_a_cell_keeps_its_key_and_its_dataset(after):
    found = Queries(after).results(run=RUN)
    assert {row["cell_key"] for row in found} == {cell.key for cell in CELLS}
    for row in found:
        cell = Cell.from_key(row["cell_key"])
        assert (row["axes"], row["rows"], row["seed"]) == (dict(cell.axes), cell.rows, cell.seed)
        assert bulk_study().dataset_of(cell) == row["dataset_id"]
        assert (row["dataset_id"], row["dataset_bytes"]) == ("v1/rows=20000/seed=7", 968_123)


def test_a_backfill_skips_what_it_skipped(after):
    study = replace(bulk_study(), method_version=METHOD)
    params = defaults_of(study, {"rows": 20000, "seed": 7})
    image_of = {"mongodb": "i", "delta-spark": "j"}
    found = verified_repeats(study, Queries(after), CELLS, params, lambda store, operation: image_of[store])
    # Of the first cell's second repeat the read has failed; the write of the last cell was disturbed
    assert found == {MONGODB: 1, ONE: 1, TWO: 0}
    assert verified_repeats(study, Queries(after), CELLS, {**params, "driver_memory": "4g"})[ONE] == 0
    assert set(verified_repeats(bulk_study(), Queries(after), CELLS, params).values()) == {0}


def test_a_run_can_be_repeated(after, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", after)
    printed = CliRunner().invoke(main, ["replay", "manual__before"])
    assert printed.exit_code == 0, printed.output
    values = defaults_of(bulk_study(), json.loads(printed.stdout))
    assert (values["batch"], values["executors"], values["order_seed"]) == (["10000", "all"], ["1", "2"], 5)
    grid = {cell.key for cell in grid_of(bulk_study(), values).cells}
    assert {cell.key for cell in CELLS} <= grid and len(grid) == 6
    with pytest.raises(SpecError, match="Unknown parameter 'batch_sizes'"):
        defaults_of(bulk_study(), {"batch_sizes": "all"})
    ((refused,),) = answer(after, "SELECT params FROM storebench.run WHERE state = 'refused'")
    assert refused == {"rows": "-5", "batch": "10000"}


def test_what_is_left_and_what_has_a_name_stays(after):
    (left,) = Left(after).undropped()
    assert (left.cell, left.repeat, left.size_bytes) == (ONE, 2, 4096)
    assert Left(after).datasets() == [], "the run has it"
    queries = Queries(after)
    assert queries.run_named("baseline:before")["id"] == RUN
    counted = queries.run_counted(RUN)
    assert (counted["rows"], counted["seed"], counted["datasets"]) == (20000, 7, ["v1/rows=20000/seed=7"])
    assert [counted[state] for state in ("planned", "verified", "disturbed", "failed", "not_run")] == [
        10,
        7,
        1,
        2,
        1,
    ]


def test_the_next_run_tells_the_study_as_it_is_now(after):
    repository, study = Repository(after), bulk_study()
    recorded = repository.results(run=RUN)
    repository.start_run(
        study=study,
        dag_id=BULK,
        airflow_run_id="manual__after",
        params={},
        turns=[],
        order_seed=1,
        skipped={},
    )
    assert repository.study(BULK) == json.loads(json.dumps(study.details()))
    assert repository.results(run=RUN) == recorded
    found = answer(after, f"SELECT batch, executors FROM storebench.{BULK} ORDER BY recorded_at LIMIT 5")
    assert found == [("10000", None)] * 4 + [("all", 1)]


# The tables of a bundle of format 1, each with the condition that found a run's rows.
OF_ATTEMPTS = "(SELECT {} FROM storebench.attempt WHERE run_id = %s)"
FORMAT_1 = {
    "dataset": "id IN " + OF_ATTEMPTS.format("dataset_id"),
    "environment": "hash IN " + OF_ATTEMPTS.format("environment_hash"),
    "parameters": "hash IN " + OF_ATTEMPTS.format("parameters_hash"),
    "cell": "key IN (SELECT cell_key FROM storebench.run_cell WHERE run_id = %s)",
    "run": "id = %s",
    "run_cell": "run_id = %s",
    "attempt": "run_id = %s",
    "phase": "attempt_id IN " + OF_ATTEMPTS.format("id"),
    "executor": "attempt_id IN " + OF_ATTEMPTS.format("id"),
}


def export(uri, path, change=lambda tables: None):
    """The run as a bundle of format 1, after this change of its tables."""
    tables = {
        table: [
            row
            for (row,) in answer(uri, f"SELECT to_jsonb(t) FROM storebench.{table} AS t WHERE {which}", RUN)
        ]
        for table, which in FORMAT_1.items()
    }
    change(tables)
    counts = {table: len(found) for table, found in tables.items()}
    members = {f"{table}.json": json.dumps(found).encode() for table, found in tables.items()}
    members["bundle.json"] = json.dumps({"format": 1, "run": RUN, "rows": counts}).encode()
    sums = [f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members)]
    members["SHA256SUMS"] = "".join(sums).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


# What has to be alike in two databases with the same run.
SAME = (
    f"SELECT * FROM storebench.{BULK} ORDER BY recorded_at",
    f"SELECT * FROM storebench.{BULK}_latest ORDER BY cell_key, operation",
    f"SELECT * FROM storebench.{BULK}_newest ORDER BY cell_key, operation",
    f"SELECT * FROM storebench.{BULK}_summary ORDER BY cell_key, operation, metric",
    "SELECT id, params, datasets, reason FROM storebench.run",
    "SELECT name, operations, details FROM storebench.study",
    "SELECT id, schema_version, rows, seed, bytes, sha256, manifest FROM storebench.dataset",
)


def test_a_bundle_from_before_gives_another_database_the_same_results(before, new, tmp_path):
    export(before, tmp_path / "run.zip")
    migrate(before)
    loaded, counts = Bundles(new).load(tmp_path / "run.zip")
    assert (loaded, counts["attempt"], counts["cell"], counts["usage"]) == (RUN, 10, 3, 6)
    assert Queries(new).results(run=RUN) == Queries(before).results(run=RUN)
    assert Queries(new).run_counted(RUN) == Queries(before).run_counted(RUN)
    refresh(Repository(before), [cell.key for cell in CELLS])
    for what in SAME[:4]:
        assert rows(new, what) == rows(before, what), what
    Bundles(new).export(RUN, tmp_path / "again.zip")
    with zipfile.ZipFile(tmp_path / "again.zip") as archive:
        assert json.loads(archive.read("bundle.json"))["format"] == 1
        assert {"study.json", "artifact.json"} <= set(archive.namelist())


LATELY = (
    *("verification", "delivers", "figures_cover", "client_cores_usable", "durability", "durability_stated"),
    *("disturbed", "node_cpu_some_share", "node_memory_some_share", "node_memory_full_share"),
    *("node_io_some_share", "node_io_full_share", "node_steal_share", "node_others_cores", "parameters_hash"),
    *("perhaps_disturbed", "node_strangers_cores"),
)


def older(tables):
    """As it was exported before parameters and marks were recorded, and executors that stand for several pods."""
    del tables["parameters"]
    for table, columns in {"attempt": LATELY, "executor": ("pods",), "run_cell": ("node_pool",)}.items():
        for row in tables[table]:
            for column in columns:
                del row[column]
    (run,) = tables["run"]
    run["stopped"] = run.pop("reason")
    del run["expected_s"], run["expected_most_s"]


def test_a_bundle_from_long_before_is_loaded(before, new, tmp_path):
    export(before, tmp_path / "run.zip", older)
    _, counts = Bundles(new).load(tmp_path / "run.zip")
    assert (counts["attempt"], counts["usage"], counts["parameters"]) == (10, 6, 0)
    found = Queries(new).results(run=RUN)
    assert {row["parameters_hash"] for row in found} == {row["parameters"] for row in found} == {None}
    assert {(row["disturbed"], row["client_bound"], row["figures_cover"]) for row in found} == {(None,) * 3}
    assert [row["executor_pods"] for row in found if row["executor_pods"]] == [1, 1, 2, 2]
    lines = answer(
        new, "SELECT count(*), count(parameters_hash) FROM storebench.summary WHERE metric = 'only_s'"
    )
    assert lines == [(6, 0)], "with one of the attempt whose disturbance was not recorded"


def test_attempts_of_before_the_marks_are_told_apart_by_their_store(up_to):
    with scratch(required("AIRFLOW_CONN_STOREBENCH_RESULTS")) as uri:
        migrate(uri, up_to("0011"))
        with psycopg.connect(uri) as connection:
            connection.execute(
                "INSERT INTO storebench.run (id, study, dag_id, airflow_run_id, params, method_version, code_version)"
                " VALUES ('r', 's', 's', 'r', '{}', 1, '0');"
                "INSERT INTO storebench.cell (key, study, store, client, axes, rows, seed)"
                " SELECT 's/' || store, 's', store, 'c', '{}', 1, 1 FROM unnest('{mongodb@v8,delta-rs}'::text[]) AS store;"
                "INSERT INTO storebench.run_cell (run_id, cell_key, repeat) SELECT 'r', key, 1 FROM storebench.cell;"
                "INSERT INTO storebench.attempt (id, run_id, cell_key, repeat, operation, try_number, status, operation_s,"
                " client_cpu_share, method_version, code_version)"
                " SELECT gen_random_uuid(), 'r', key, 1, 'write', 1, 'verified', 1, 0.95, 1, '0' FROM storebench.cell"
            )
        migrate(uri)
        found = answer(
            uri, "SELECT store, figures_cover, client_bound, value FROM storebench.results ORDER BY store"
        )
        assert found == [("delta-rs", "engine", None, 1.0), ("mongodb@v8", "client", True, 1.0)]
