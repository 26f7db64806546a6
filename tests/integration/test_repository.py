import json
import uuid
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest
from click.testing import CliRunner
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from storebench import protocol
from storebench.airflow.outcome.retrieve import discard, full_result
from storebench.attempt.overflow import fitting
from storebench.attempt.result import AttemptResult
from storebench.cli import main
from storebench.errors import SpecError, StoreUnreachable
from storebench.protocol.figures import FIGURES, USAGE, Figures, choices
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.migrate import migrate
from storebench.results.database.repository import Repository, run_id_of
from storebench.results.database.study_views import VIEWS
from storebench.results.runs.gaps import fill_gaps
from storebench.results.runs.summary import refresh
from storebench.s3 import client_for
from storebench.study import studies
from storebench.study.model import Metric, unit_of
from storebench.study.order import Turn
from storebench.study.record import StudyRecord
from storebench.study.reserved import COLUMNS, TABLES
from tests.bulk import BULK, RANKED_BY, bulk_study, cell_at, spec_for

CELL = cell_at("mongodb", 42, batch="100")
OTHER = cell_at("mongodb", 42, batch="all")
POD = PodRecord(
    "p", "n", 0, 10.0, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
)
VERIFIED = AttemptResult(
    status="verified",
    verification="1,000 rows handled and counted",
    metrics={"write_s": 1.5, "only_s": 1.5, "source_s": 0.5, "rows_per_s": 1000 / 1.5},
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
            study=bulk_study(),
            dag_id=BULK,
            airflow_run_id=request.node.name,
            params={"rows": 1000},
            turns=[Turn(CELL, 1), Turn(OTHER, 1)],
            order_seed=1,
            skipped={},
        )
    return run_id_of(BULK, request.node.name)


PHASES = {"connect": 0.5, "operation": 1.5}


def add(repository, run, cell=CELL, operation="write", try_number=1, result=VERIFIED, phases=PHASES):
    repository.add_attempt(
        AttemptKey(run, cell.key, 1, operation, try_number),
        result,
        POD,
        phases=phases,
        metric=RANKED_BY[operation],
        target="t",
        dataset=None,
    )


@pytest.mark.parametrize(
    ("total_s", "verify_s", "work_s"),
    [
        (9.5, 4.0, 5.5),
        (9.5, 0.0, 9.5),
        (9.5, None, None),  # a pod that does not say how long its verification took
        (None, 4.0, None),
        (4.0, 4.4, None),  # a total in whole seconds, which Kubernetes told
    ],
)
def test_the_total_without_verification_is_null_where_it_is_not_known(
    repository, queries, run, total_s, verify_s, work_s
):
    phases = PHASES if verify_s is None else {**PHASES, "verify": verify_s, "teardown": 0.1}
    add(repository, run, result=replace(VERIFIED, total_s=total_s), phases=phases)
    (row,) = queries.results(run=run)
    assert (row["total_s"], row["work_total_s"]) == (total_s, work_s)
    (compared,) = queries.compared_of_run(run, "work_total_s")
    assert compared["value"] == work_s


def test_an_attempt_is_recorded_once_however_often_it_is_written(repository, queries, run):
    for _ in range(3):
        add(repository, run)
    (row,) = queries.results(run=run)
    assert (row["metric"], row["value"], row["unit"]) == (RANKED_BY["write"], 1.5, "s")
    assert (row["server_name"], row["client_bound"]) == ("FerretDB", True)
    assert (row["axes"], row["rows"], row["seed"]) == ({"batch": "100"}, 1000, 42)
    assert row["metrics"] == VERIFIED.metrics
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


@pytest.mark.parametrize(
    ("used", "usable", "bound"),
    [(0.9, 1.0, True), (0.89, 1.0, False), (0.9, 2.0, False), (1.9, 2.0, True), (None, None, None)],
)
def test_a_service_is_bound_by_the_cores_that_it_can_use(repository, queries, run, used, usable, bound):
    add(repository, run, result=replace(VERIFIED, service_cpu_share=used, service_cores_usable=usable))
    (row,) = queries.results(run=run)
    assert (row["service_cpu_share"], row["service_cores_usable"]) == (used, usable)
    assert row["service_bound"] is bound


def test_what_marks_an_attempt_is_recorded(repository, queries, run):
    marks = {
        "figures_cover": "engine",
        "durability": "s3",
        "durability_stated": "each commit is an acknowledged PUT",
        "disturbed": "lost 1 of 2 executors",
        "perhaps_disturbed": "it is not known",
        "node_cpu_some_share": 0.1,
        "node_memory_some_share": 0.2,
        "node_memory_full_share": 0.3,
        "node_io_some_share": 0.4,
        "node_io_full_share": 0.5,
        "node_steal_share": 0.6,
        "node_others_cores": 0.7,
        "node_strangers_cores": 0.2,
    }
    add(repository, run, result=AttemptResult.from_json(replace(VERIFIED, **marks).to_json()))
    (row,) = queries.results(run=run)
    assert {name: row[name] for name in marks} == marks


@pytest.mark.parametrize(
    ("figures", "recorded"),
    [
        ({}, "it took 20 ms"),
        ({"disturbed": "throttled in 3 periods"}, None),
        ({"status": "failed", "error_kind": "store_failed", "error": "down"}, None),
    ],
    ids=["counts", "disturbed", "failed"],
)
def test_why_nobody_has_judged_an_attempt_is_recorded_of_one_that_counts(
    repository, queries, run, figures, recorded
):
    add(repository, run, result=replace(VERIFIED, not_judged="it took 20 ms", **figures))
    (row,) = queries.results(run=run)
    assert row["not_judged"] == recorded


def test_a_study_has_a_view_of_its_own_with_its_axes_and_its_metrics(repository, database, run):
    add(repository, run)
    add(
        repository,
        run,
        operation="read",
        result=AttemptResult(status="failed", error_kind="killed", error="x"),
    )
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT operation, batch, executors, rows, seed, only_s, rows_per_s, source_s, barrier_s, status"
            f" FROM storebench.{BULK} WHERE run_id = %s ORDER BY operation",
            (run,),
        ).fetchall()
    place = ("100", None, 1000, 42)
    assert found == [
        ("read", *place, None, None, None, None, "failed"),
        ("write", *place, 1.5, 1000 / 1.5, 0.5, None, "verified"),
    ]


def test_a_histogram_and_a_series_are_kept_with_their_attempt(repository, queries, run):
    histogram, series = {"values": [0.001, 0.5], "counts": [40, 2]}, {"at_s": [0, 1], "values": [90, 110]}
    result = replace(VERIFIED, histograms={"latency_s": histogram}, series={"rate_per_s": series})
    add(repository, run, result=result)
    (row,) = queries.results(run=run)
    found = queries.artifacts([row["attempt_id"]])
    assert [(one["name"], one["content"]) for one in found] == [
        ("latency_s", histogram),
        ("rate_per_s", series),
    ]


def test_the_commands_print_a_histogram_a_series_and_another_metric(repository, database, run, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    add(repository, run, result=replace(VERIFIED, histograms={"only_s": {"values": [1], "counts": [2]}}))

    def printed(*arguments):
        return CliRunner().invoke(main, ["results", "--run", run, *arguments])

    found = printed("--metric", "rows_per_s", "--format", "json")
    assert [(row["value"], row["unit"]) for row in json.loads(found.stdout)] == [(1000 / 1.5, "rows/s")]
    assert "1.50 s" in printed("--study", BULK).stdout
    refused = printed("--histogram", "only_s")  # the bulk study has none, whatever a pod may have reported
    assert refused.exit_code == 2 and "There is no histogram in these results" in refused.output
    assert printed("--metric", "only_s", "--series", "x").exit_code == 2
    unknown = printed("--study", "bulk")
    assert unknown.exit_code == 2 and "Unknown study 'bulk'" in unknown.output


def test_a_study_that_has_changed_is_told_as_it_is_now(repository, queries, database):
    study = bulk_study()
    wait = Metric("wait_s", "time of waiting")
    write, *others = study.operations

    def start(study):
        name = uuid.uuid4().hex
        repository.start_run(
            study=study,
            dag_id=BULK,
            airflow_run_id=name,
            params={},
            turns=[],
            order_seed=1,
            skipped={},
        )

    start(study)
    write = replace(write, metrics=(*write.metrics, wait.name))
    start(replace(study, title="Another", metrics=(*study.metrics, wait), operations=(write, *others)))
    assert queries.study(BULK).title == "Another"
    with psycopg.connect(database) as connection:
        for view in (BULK, f"{BULK}_latest"):
            columns = connection.execute(f"SELECT * FROM storebench.{view}").description
            assert "wait_s" in {column.name for column in columns}
    start(study)
    assert queries.study(BULK) == StudyRecord.of(study)


@pytest.mark.parametrize("pods", [2, 24])
def test_each_executor_is_a_row_however_many_there_are(
    repository, queries, database, connections, bucket, run, pods
):
    figures = {"memory_peak_bytes": 5, "memory_working_set_peak_bytes": 4, "cpu_s": 0.5, "oom_kills": 0}
    settings = {f"setting_{n}": "x" * 100 for n in range(30)}
    result = replace(
        VERIFIED,
        memory_peak_bytes=1,
        usage=[{"role": "executor", "name": str(n), **figures} for n in range(pods)],
        environment={**VERIFIED.environment, "server_settings": settings},
    )
    spec = spec_for("write", CELL, f"storebench_test_{uuid.uuid4().hex}", bucket)
    message = fitting(result, spec).to_json()
    assert len(message.encode()) <= protocol.MESSAGE_BYTES
    s3 = client_for(connections["s3"])
    add(repository, run, result=(read := full_result(AttemptResult.from_json(message), spec, lambda: s3)))
    discard(read, spec, lambda: s3)
    (row,) = queries.results(run=run)
    assert row["executor_pods"] == pods
    assert row["executors_cpu_s"] == pytest.approx(pods / 2)
    assert row["all_memory_peak_bytes"] == 1 + 5 * pods
    assert queries.environments([row["environment_hash"]])[row["environment_hash"]] == result.environment
    with psycopg.connect(database) as connection:
        (found,) = connection.execute(
            "SELECT count(*) FROM storebench.usage WHERE attempt_id = %s", (row["attempt_id"],)
        ).fetchone()
    assert found == pods
    assert not s3.list_objects_v2(Bucket=bucket, Prefix=f"results/{spec.target}").get("KeyCount")


def test_servers_of_the_run_count_with_the_client(repository, queries, run):
    figures = {"memory_working_set_peak_bytes": 40, "cpu_s": 0.5, "read_bytes": 7, "written_bytes": 8}
    figures |= {"data_bytes": 9, "restarts": 0, "throttled_s": 0.25, "throttled_periods": 2, "oom_kills": 0}
    servers = [{"role": "server", "name": f"es-{n}", **figures} for n in range(3)]
    executor = {"role": "executor", "name": "1", "memory_working_set_peak_bytes": 1000, "cpu_s": 10.0}
    result = replace(
        VERIFIED, memory_peak_bytes=5, memory_working_set_peak_bytes=4, cpu_s=1.0, usage=[*servers, executor]
    )
    add(repository, run, result=result)
    (row,) = queries.results(run=run)
    assert {name: row[name] for name in row if name.startswith("server") and name[6] in "s_"} == {
        "server_name": row["server_name"],
        "server_version": row["server_version"],
        "server_pods": 3,
        "servers_memory_working_set_peak_bytes": 120,
        "servers_cpu_s": 1.5,
        "servers_throttled_s": 0.75,
        "servers_read_bytes": 21,
        "servers_written_bytes": 24,
        "servers_data_bytes": 27,
        "servers_restarts": 0,
    }
    assert (row["executor_pods"], row["executors_cpu_s"]) == (1, 10.0)
    assert row["all_memory_working_set_peak_bytes"] == 4 + 120 + 1000
    assert row["all_cpu_s"] == pytest.approx(12.5)
    assert row["all_memory_peak_bytes"] is None, "of servers it is not known"


def test_the_pods_that_did_an_operation_together_count_together(repository, queries, run):
    add(repository, run)
    (row,) = queries.results(run=run)
    assert (row["client_pods"], row["start_skew_s"], row["client_bound"]) == (1, None, True)

    figures = {
        "memory_peak_bytes": 50,
        "memory_working_set_peak_bytes": 40,
        "cpu_s": 0.5,
        "start_delay_s": 0.01,
    }
    figures |= {"client_cpu_share": 0.5, "client_cores_usable": 1.0}
    parts = [{"role": "client", "name": f"p-{n}", "part": n, "node": f"n{n}", **figures} for n in (1, 2)]
    alone = replace(
        VERIFIED,
        memory_peak_bytes=5,
        memory_working_set_peak_bytes=4,
        cpu_s=1.0,
        client_cpu_share=0.5,
        start_skew_s=0.02,
    )
    add(repository, run, result=replace(alone, usage=parts), operation="read")
    (row,) = [row for row in queries.results(run=run) if row["operation"] == "read"]
    assert (row["client_pods"], row["start_skew_s"], row["client_bound"]) == (3, 0.02, False)
    assert (row["all_memory_peak_bytes"], row["all_memory_working_set_peak_bytes"]) == (105, 84)
    assert row["all_cpu_s"] == pytest.approx(2.0)

    bound = [parts[0], {**parts[1], "client_cpu_share": 0.95, "cpu_s": None}]
    add(repository, run, result=replace(alone, usage=bound), cell=OTHER)
    (row,) = [row for row in queries.results(run=run) if row["cell_key"] == OTHER.key]
    assert row["client_bound"] is True, "one pod at its limit is enough"
    assert row["all_cpu_s"] is None, "of one part it is not known"


def test_figures_of_a_server_that_are_lacking_leave_no_sum_that_looks_like_one(repository, queries, run):
    known = {"role": "server", "name": "es-0", "cpu_s": 2.0}
    result = replace(VERIFIED, cpu_s=1.0, usage=[known, {"role": "server", "name": "es-1"}])
    add(repository, run, result=result)
    (row,) = queries.results(run=run)
    assert (row["server_pods"], row["servers_cpu_s"], row["all_cpu_s"]) == (2, None, None)


def test_a_row_of_before_that_stands_for_many_executors_still_counts_as_many(
    repository, queries, database, run
):
    add(repository, run)
    (row,) = queries.results(run=run)
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO storebench.usage (attempt_id, role, name, pods, cpu_s) VALUES (%s, 'executor', 'all 100', 100, 50)",
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


def test_a_turn_that_was_excluded_on_purpose_is_no_gap(repository, run):
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
        add(repository, run, cell=cell_at("mongodb", 1))


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
                connection.execute(
                    "SELECT cell_key, sum(n) FROM storebench.summary WHERE metric IN ('only_s', 'write_s') GROUP BY 1"
                ).fetchall()
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


def test_views_of_a_users_own_are_named_where_they_are_in_the_way(repository, database, run):
    with psycopg.connect(database) as connection:
        connection.execute(f"CREATE VIEW public.mine AS SELECT batch FROM storebench.{BULK}")
    changed = replace(bulk_study(), title="In the way")
    arguments = {"dag_id": BULK, "params": {}, "turns": [], "order_seed": 1, "skipped": {}}
    try:
        with pytest.raises(SpecError, match=rf"storebench\.{BULK} is to be made anew.*view mine depends"):
            repository.start_run(study=changed, airflow_run_id=uuid.uuid4().hex, **arguments)
    finally:
        with psycopg.connect(database) as connection:
            connection.execute("DROP VIEW public.mine")
    assert repository.study(BULK).title == bulk_study().title, "nothing of it was recorded"


def test_a_study_can_give_no_name_that_the_results_have(database):
    with psycopg.connect(database) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'storebench'"
        ).fetchall()
        columns = {
            column.name
            for view in ("results", "latest", "summary")
            for column in connection.execute(f"SELECT * FROM storebench.{view}").description
        }
    views = {name + suffix for name in studies.names() for suffix in VIEWS}
    assert {name for (name,) in tables} - views == TABLES
    assert columns == COLUMNS


SQL_TYPES = {
    "seconds": {"double precision"},
    "cores": {"double precision"},
    "ratio": {"double precision"},
    "bytes": {"bigint"},
    "count": {"integer", "bigint"},
    "text": {"text"},
}


@pytest.mark.parametrize(("table", "figures"), [("attempt", FIGURES), ("usage", USAGE)])
def test_each_declared_figure_is_a_column_of_its_type(database, table, figures):
    with psycopg.connect(database) as connection:
        columns = connection.execute(
            "SELECT column_name, data_type FROM information_schema.columns WHERE (table_schema, table_name) = ('storebench', %s)",
            (table,),
        ).fetchall()
    types = dict(columns)
    assert [name for name, figure in figures.items() if types.get(name) not in SQL_TYPES[figure.unit]] == []


def test_each_declared_figure_is_recorded_and_read(repository, queries, run):
    texts = {name: (choices(Figures, name) or [f"text of {name}"])[0] for name in FIGURES}
    reported = {
        name: texts[name] if figure.unit == "text" else float(place)
        for place, (name, figure) in enumerate(FIGURES.items(), 1)
        if name != "disturbed"  # a disturbed attempt is not judged
    }
    add(repository, run, result=replace(VERIFIED, **reported))
    (row,) = queries.attempts_of_run(run)
    assert {name: row[name] for name in reported} == reported


def test_the_largest_figures_that_the_protocol_takes_can_be_recorded_and_added_up(repository, database, run):
    said = protocol.schema("result")
    most = {name: kind["maximum"] for name, kind in said["$defs"].items()}
    kinds = {
        name: most[kind["$ref"].rpartition("/")[2]]
        for name, kind in said["properties"].items()
        if "$ref" in kind and name != "data_bytes"
    }
    pods = said["properties"]["usage"]
    figures = {
        name: most[kind["$ref"].rpartition("/")[2]]
        for name, kind in pods["items"]["properties"].items()
        if "$ref" in kind
    }
    name = pods["items"]["properties"]["name"]["maxLength"]
    result = replace(
        VERIFIED,
        **kinds,
        environment={"server_name": "s" * 60_000},
        usage=[
            {"role": role, "name": "\N{GRINNING FACE}" * (name - 3) + f"{n:03}", **figures}
            for role in ("executor", "server")
            for n in range(pods["maxItems"] // 2)
        ],
    )
    assert protocol.problem("result", json.loads(result.to_json())) is None
    add(repository, run, result=result)
    with psycopg.connect(database, row_factory=dict_row) as connection:
        row = connection.execute("SELECT * FROM storebench.results WHERE run_id = %s", (run,)).fetchone()
    assert row["all_memory_working_set_peak_bytes"] == 1001 * most["bytes"]
    assert (row["executor_pods"], row["server_pods"]) == (500, 500)


def test_the_unit_of_a_metric_is_the_same_in_sql(database):
    names = [
        "only_s",
        "rows_per_s",
        "read_rows_per_s",
        "mb_per_s",
        "read_mb_per_s",
        "data_bytes",
        "busy_share",
        "depth",
        "queries_per_h",
        "mb_per_h",
        "per_s",
        "per_h",
        "p99_s",
    ]
    with psycopg.connect(database) as connection:
        found = connection.execute("SELECT storebench.unit(unnest(%s::text[]))", (names,)).fetchall()
    assert [unit for (unit,) in found] == [unit_of(name) for name in names]


def test_migrating_again_applies_nothing(database):
    assert migrate(database) == []


def test_a_record_that_cannot_be_read_keeps_no_database_from_its_views(database, run):
    def migrated_with(title):
        """Migrate as an upgrade with changed views does, and return whether the study has its view."""
        with psycopg.connect(database) as connection:
            connection.execute(
                "UPDATE storebench.study SET details = jsonb_set(details, '{title}', %s) WHERE name = %s",
                (Jsonb(title), BULK),
            )
            connection.execute("COMMENT ON VIEW storebench.counters IS 'of an earlier version'")
        migrate(database)
        with psycopg.connect(database) as connection:
            connection.execute("SELECT FROM storebench.summary")
            (view,) = connection.execute("SELECT to_regclass(%s)", (f"storebench.{BULK}",)).fetchone()
        return view is not None

    assert not migrated_with(5)
    assert migrated_with(bulk_study().title)


def test_every_column_and_every_query_of_the_documentation_is_real(database, run):
    import re
    from pathlib import Path

    docs = Path(__file__).parents[2] / "docs"
    text, reference = ((docs / page).read_text() for page in ("results.md", f"reference/{BULK}.md"))
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))

    def lines(section):
        return [line.split("|") for line in sections[section].splitlines() if line.startswith("| `")]

    def names(cell):
        return set(re.findall(r"`([a-z0-9_]+)`", cell))

    with psycopg.connect(database) as connection:

        def columns(view):
            cursor = connection.execute(f"SELECT * FROM storebench.{view}")
            return {column.name for column in cursor.description}

        for view in ("results", "summary"):
            assert set.union(*(names(line[1]) for line in lines(f"View `{view}`"))) == columns(view)
        own = columns(BULK) - columns("results")
        own_of = dict(
            re.findall(r"^## (Metrics|Axes)\n(.*?)(?=^## |\Z)", reference, re.DOTALL | re.MULTILINE)
        )
        declared = {*re.findall(r"^\| `(\w+)` \|", "".join(own_of.values()), re.MULTILINE)}
        assert own == declared - columns("results")
        of_latest = columns("latest") - columns("results")
        assert of_latest == set.union(*(names(line[1]) for line in lines("Views `latest` and `newest`")))
        assert columns(f"{BULK}_latest") == columns(BULK) | of_latest
        assert columns(f"{BULK}_newest") == columns(BULK)
        for _, table, documented, _ in lines("Tables"):
            elsewhere = set.union(
                *(columns(view) for view in ("results", "summary") if f"[`{view}`]" in documented), set()
            )
            assert columns(*names(table)) <= names(documented) | elsewhere, table
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


def test_a_question_waits_for_a_database_that_cannot_be_connected_to(database, monkeypatch):
    """Also one that is not marked as patient: to connect again does no harm."""
    gone = database.replace(str(psycopg.conninfo.conninfo_to_dict(database)["port"]), "1")
    there, tries = Repository(database).open_runs(), []
    real = psycopg.connect

    def connect(dsn, **options):
        tries.append(dsn)
        return real(database if len(tries) > 2 else gone, **options)

    monkeypatch.setattr(psycopg, "connect", connect)
    assert Repository(gone, patience_s=30).open_runs() == there
    assert len(tries) == 3


def test_the_tries_of_an_operation_are_told_the_newest_first(repository, run):
    refused = AttemptResult(status="failed", error_kind="refused", error="full")
    add(repository, run, result=refused)
    add(repository, run, try_number=2)
    add(repository, run, operation="read", try_number=3)
    assert repository.tries_of(AttemptKey(run, CELL.key, 1, "write", 9)) == [
        {"try_number": 2, "status": "verified", "error_kind": None, "error": None, "pod": "p"},
        {"try_number": 1, "status": "failed", "error_kind": "refused", "error": "full", "pod": "p"},
    ]
