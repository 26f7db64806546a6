import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from storebench.cli import main
from storebench.errors import StoreUnreachable
from storebench.results.leftovers.stopped import COMMAND
from tests.unit import example


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_has_help(command):
    result = CliRunner().invoke(main, [command, "--help"])
    assert result.exit_code == 0 and "Usage:" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["results"],
        ["run"],
        ["migrate"],
        ["runs"],
        ["clean"],
        ["grid"],
        ["compare", "a", "b"],
        ["export", "latest"],
    ],
)
def test_a_command_without_its_servers_says_how_to_name_them(arguments, monkeypatch, tmp_path):
    monkeypatch.setenv("STOREBENCH_HOME", str(tmp_path))
    for name in ("AIRFLOW_CONN_STOREBENCH_RESULTS", "STOREBENCH_AIRFLOW_URL"):
        monkeypatch.delenv(name, raising=False)
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "is not set" in result.output and f"{tmp_path}/run/env" in result.output


def test_a_baseline_that_compare_could_not_name_is_refused():
    result = CliRunner().invoke(main, ["baseline", "a,b", "latest"])
    assert result.exit_code == 2 and "'a,b' cannot be a baseline's name" in result.output


@pytest.fixture
def stopped_run(monkeypatch):
    """Set up a run without an end in the results, which may be over in Airflow, and its leftovers."""
    from storebench.cli.output import table
    from storebench.results.database import repository
    from storebench.results.leftovers import tracking
    from storebench.results.leftovers.tracking import Undropped

    run = {"id": "d/r", "dag_id": "d", "airflow_run_id": "r", "airflow_id": "this"}
    cell = example.cell("mongodb", study="d")
    data = [
        Undropped("d/r", "d", "r", cell, repeat, "", "this", size)
        for repeat, size in ((1, 1_500_000), (2, None))
    ]
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://nowhere")
    for name in ("URL", "USER", "PASSWORD"):
        monkeypatch.setenv(f"STOREBENCH_AIRFLOW_{name}", "http://nowhere")
    monkeypatch.setattr("storebench.cli.airflow_api.Airflow.variable", lambda self, name: "this")
    monkeypatch.setattr(repository.Repository, "open_runs", lambda self: [run])
    monkeypatch.setattr(repository.Repository, "runs", lambda self, limit, study, tags: [])
    monkeypatch.setattr(tracking.Left, "undropped", lambda self: data)
    users = [
        {"run_id": "d/r", "airflow_id": "this", "secrets": [["", "mongodb"], ["", "s3"], ["v8", "s3"]]},
        {"run_id": "d/goes-on", "airflow_id": "this", "secrets": [["", "s3"]]},
    ]
    monkeypatch.setattr(tracking.Left, "runs_with_secrets", lambda self: users)
    brought = [
        {"run_id": "d/r", "airflow_id": "this", "servers": ["elasticsearch@one"]},
        {"run_id": "d/goes-on", "airflow_id": "this", "servers": ["elasticsearch@three"]},
    ]
    monkeypatch.setattr(tracking.Left, "runs_with_servers", lambda self: brought)
    dataset = {"id": "v1/rows=20000/seed=7", "bytes": 9_680_000}
    monkeypatch.setattr(tracking.Left, "datasets", lambda self: [dataset])
    monkeypatch.setattr(
        table, "print_runs", lambda console, rows, asked: console.print("the table", "" if asked else "?")
    )
    return [one.target for one in data]


def states(monkeypatch, of_the_run):
    found = {"r": of_the_run, "goes-on": "running"}
    monkeypatch.setattr(
        "storebench.cli.airflow_api.Airflow.run_state", lambda self, dag_id, run_id: found[run_id]
    )
    ended_at = datetime(2026, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(
        "storebench.cli.airflow_api.Airflow.run_ended_at", lambda self, dag_id, run_id: ended_at
    )
    monkeypatch.setattr(
        "storebench.results.database.queries.Queries.last_seen_at", lambda self, run_id: ended_at
    )


@pytest.fixture
def followed(monkeypatch):
    """Collect the runs that Airflow was asked for, and set their end."""
    ends = {"state": "success"}
    asked = []

    def wait(self, dag_id, run_id, report):
        report("[2/3] clean: " + ends["state"])
        return ends["state"]

    monkeypatch.setattr(
        "storebench.cli.airflow_api.Airflow.trigger",
        lambda self, dag, conf: asked.append((dag, conf)) or "manual__2",
    )
    monkeypatch.setattr("storebench.cli.airflow_api.Airflow.wait", wait)
    return SimpleNamespace(asked=asked, ends=ends)


def test_a_run_that_was_stopped_and_what_it_left_are_told(stopped_run, monkeypatch):
    states(monkeypatch, "failed")
    result = CliRunner().invoke(main, ["runs"])
    assert (
        f"r is open, but was marked as failed in Airflow. The next run closes it, or {COMMAND}"
        in result.output
    )
    assert (
        f"r has left data in mongodb (2 of its turns): the next run removes it, or {COMMAND}" in result.output
    )


def test_clean_lists_what_no_run_needs_with_its_size_and_removes_nothing(stopped_run, followed, monkeypatch):
    states(monkeypatch, None)
    result = CliRunner().invoke(main, ["clean"])
    lines = [line.split() for line in result.output.splitlines()]
    assert result.exit_code == 0 and followed.asked == []
    for row in (
        ["r", "open,", "but", "deleted", "from", "Airflow"],
        ["mongodb", stopped_run[0], "1.50", "MB", "r"],
        ["mongodb", stopped_run[1], "-", "r"],
        ["v1/rows=20000/seed=7", "9.68", "MB"],
        ["mongodb", "default", "d/r"],
        ["s3", "v8", "d/r"],
        ["elasticsearch@one", "d/r"],
        ["Together", "11.2", "MB,", "and", "1", "of", "unknown", "size"],
    ):
        assert row in lines, result.output
    assert ["s3", "default", "d/r"] not in lines, "another run needs it"
    assert "elasticsearch@three" not in result.output, "its run goes on"
    assert "nothing was removed; --yes removes these leftovers" in result.output


def test_clean_lists_nothing_of_a_run_that_goes_on(stopped_run, followed, monkeypatch):
    from storebench.results.leftovers import tracking

    states(monkeypatch, "running")
    monkeypatch.setattr(tracking.Left, "datasets", lambda self: [])
    result = CliRunner().invoke(main, ["clean"])
    assert (
        result.output.startswith("nothing is recorded; --yes removes leftover pods") and result.exit_code == 0
    )


def test_clean_removes_by_a_run_in_airflow_and_shows_its_end(stopped_run, followed, monkeypatch):
    states(monkeypatch, "failed")
    result = CliRunner().invoke(main, ["clean", "--yes"])
    assert result.exit_code == 0 and followed.asked == [("storebench_clean", {})]
    assert result.output.index(stopped_run[0]) < result.output.index("run manual__2: http://nowhere/dags/")
    assert "[2/3] clean: success" in result.output


def test_clean_fails_where_something_stays(stopped_run, followed, monkeypatch):
    states(monkeypatch, "failed")
    followed.ends["state"] = "failed"
    result = CliRunner().invoke(main, ["clean", "--yes"])
    assert result.exit_code == 1 and "storebench: not all of it was removed: the lines above" in result.output


def test_clean_needs_airflow_to_know_which_runs_are_over(stopped_run, followed, monkeypatch):
    def away(self, dag_id, run_id):
        raise StoreUnreachable("Airflow at http://nowhere does not answer")

    monkeypatch.setattr("storebench.cli.airflow_api.Airflow.run_state", away)
    result = CliRunner().invoke(main, ["clean", "--yes"])
    assert (result.exit_code, followed.asked) == (3, []) and "does not answer" in result.output


def test_a_run_that_goes_on_has_left_nothing(stopped_run, monkeypatch):
    states(monkeypatch, "running")
    assert CliRunner().invoke(main, ["runs"]).output.strip() == "the table"


def test_a_run_that_was_stopped_is_listed_as_it_will_be_closed(stopped_run, monkeypatch):
    from storebench.cli.output import table
    from storebench.results.database import repository

    states(monkeypatch, "failed")
    row = {"id": "d/r", "state": "running", "planned": 12, "verified": 3, "failed": 1, "not_run": 0}
    listed = []
    monkeypatch.setattr(
        repository.Repository, "runs", lambda self, limit, study, tags: [{**row, "reason": None}]
    )
    monkeypatch.setattr(table, "print_runs", lambda console, rows, asked: listed.extend(rows))
    assert CliRunner().invoke(main, ["runs"]).exit_code == 0
    (told,) = listed
    assert (told["state"], told["not_run"], told["finished_at"]) == (
        "failed",
        8,
        datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://nowhere", "Airflow at http://nowhere does not answer"),
        (None, "STOREBENCH_AIRFLOW_URL is not set"),
    ],
)
def test_runs_are_listed_where_airflow_cannot_be_asked(stopped_run, monkeypatch, url, why):
    def away(self, dag_id, run_id):
        raise StoreUnreachable("Airflow at http://nowhere does not answer")

    monkeypatch.setattr("storebench.cli.airflow_api.Airflow.run_state", away)
    if url is None:
        monkeypatch.delenv("STOREBENCH_AIRFLOW_URL")
    result = CliRunner().invoke(main, ["runs"])
    assert result.exit_code == 0 and "the table ?" in result.output
    assert f"Airflow cannot be asked which runs are still running: {why}" in result.output


@pytest.mark.parametrize(
    "arguments", [["compare", "a", "b", "--fail-over", "5"], ["plan-repeats", "a", "--difference", "5"]]
)
def test_a_difference_within_the_margin_is_refused(arguments, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://nowhere")
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2 and "5 % does not count with a margin of 5 %" in result.output
    assert CliRunner().invoke(main, [*arguments, "--margin", "2"]).exit_code != 2


def test_single_runs_are_allowed_for_an_exit_code_only(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://nowhere")
    result = CliRunner().invoke(main, ["compare", "a", "b", "--single-runs"])
    assert result.exit_code == 2 and "--single-runs changes the exit code of --fail-over" in result.output


def test_help_lists_what_users_type_and_cuts_no_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = CliRunner().invoke(main, ["--help"]).output
    lines = text[text.index("Commands:") :].splitlines()[1:]
    assert {line.split()[0] for line in lines} == main.commands.keys() - {"attempt", "executor", "dataset"}
    assert all(line.endswith(".") and not line.endswith("..") for line in lines)


@pytest.fixture
def nowhere(monkeypatch):
    """Set addresses of servers that a command must not contact to refuse its arguments."""
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://127.0.0.1:1/nowhere")
    for name in ("URL", "USER", "PASSWORD"):
        monkeypatch.setenv(f"STOREBENCH_AIRFLOW_{name}", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["run", "--stores", "mongo"],
            "Unknown store 'mongo'. Did you mean mongodb? There are mongodb, elastic",
        ),
        (["run", "--stores", "mongo@v8"], "Unknown store 'mongo@v8'. Did you mean mongodb?"),
        (
            ["run", "--clients", "tune"],
            "Unknown client 'tune'. Did you mean tuned? There are reference, tuned",
        ),
        (["run", "--axis", "batch=1e4"], "Batch: '1e4' is not a number of rows from 1, or 'all'"),
        (["run", "--axis", "executors=two"], "Executors: 'two' is not a number of executors from 1 to 999"),
        (
            ["run", "--axis", "batches=1"],
            "Unknown axis 'batches'. Did you mean batch? There are batch, executors",
        ),
        (["run", "--axis", "batch"], "--axis 'batch' is not AXIS=VALUE,VALUE, such as batch=1"),
        (
            ["run", "--preset", "tours"],
            "Unknown preset 'tours'. Did you mean tour? There are quick, tour, study",
        ),
        (["run", "--param", "rowz=5"], "Unknown parameter 'rowz'. Did you mean rows"),
        (
            ["run", "--study", "bulk"],
            "Unknown study 'bulk'. There are bulk_write_read, column_scan, map_formats, parquet_copy, point_operations, queries",
        ),
        (
            ["run", "--study=bulk"],
            "Unknown study 'bulk'. There are bulk_write_read, column_scan, map_formats, parquet_copy, point_operations, queries",
        ),
        (
            ["grid", "--study", "bulk"],
            "Unknown study 'bulk'. There are bulk_write_read, column_scan, map_formats, parquet_copy, point_operations, queries",
        ),
        (["run", "--rows", "0"], "a whole number from 1 to 1,000,000,000"),
        (["grid", "--rows", "0"], "Rows: 0 is not a whole number from 1 to 1,000,000,000"),
        (["grid", "--rows", "-5"], "Rows: -5 is not a whole number from 1 to 1,000,000,000"),
        (["grid", "--store", "elastic"], "Unknown store 'elastic'. Did you mean elasticsearch?"),
        (["grid", "--param", "pod_mem=1"], "Unknown parameter 'pod_mem'. Did you mean pod_memory"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(nowhere, arguments, words):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2 and result.output.startswith("storebench: ") and words in result.output


@pytest.mark.parametrize(("store", "code"), [("mysql", 2), ("mongodb", 0), ("toy@b", 0)])
def test_results_of_an_unknown_store_are_refused_and_of_others_are_none(nowhere, monkeypatch, store, code):
    from storebench.results.database.queries import Queries

    monkeypatch.setattr(Queries, "results", lambda self, **filters: [])
    monkeypatch.setattr(Queries, "stores", lambda self: ["toy@b"])
    result = CliRunner().invoke(main, ["results", "--store", store])
    assert result.exit_code == code
    assert ("Unknown store 'mysql'" if code else "no results") in result.output


def test_a_file_that_cannot_be_written_is_one_line(nowhere, monkeypatch):
    monkeypatch.setattr(
        "storebench.web.report.write_report", lambda dsn, run, out, study: out.mkdir(parents=True)
    )
    result = CliRunner().invoke(main, ["report", "manual__1", "--out", "/proc/x"])
    assert result.exit_code == 2 and result.output == "storebench: /proc/x: No such file or directory\n"


def test_a_site_is_told_as_it_is_written_and_a_folder_of_another_kind_is_refused(
    nowhere, monkeypatch, tmp_path
):
    monkeypatch.setattr("storebench.web.report.SCRIPT", tmp_path / "report.js")
    (tmp_path / "report.js").touch()
    result = CliRunner().invoke(main, ["site", str(tmp_path)])
    assert result.exit_code == 2 and f"storebench: {tmp_path} is not empty" in result.output
    monkeypatch.setattr("storebench.web.site.write_site", lambda dsn, folder: iter(["one", str(folder)]))
    result = CliRunner().invoke(main, ["site", "new"])
    assert (result.exit_code, result.output) == (0, "one\nnew\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["results", "--run", "latest"],
        ["compare", "latest", "--a-a"],
        ["compare", "latest", "latest"],
        ["plan-repeats", "latest", "--difference", "20"],
        ["price", "latest", "--cpu-hour", "1", "--gib-hour", "1"],
        ["report", "latest", "--out", "x"],
        ["export", "latest"],
        ["baseline", "a", "latest"],
        ["replay", "latest"],
        ["ranking", "latest"],
        ["follow", "latest"],
    ],
    ids=" ".join,
)
def test_the_newest_run_is_that_of_the_study_that_is_named(nowhere, monkeypatch, tmp_path, arguments):
    from storebench.errors import SpecError
    from storebench.results.database.queries import Queries
    from storebench.results.database.runs import Runs

    asked = []

    def named(self, name, study=None):
        asked.append((name, study))
        raise SpecError("no such run")

    monkeypatch.setattr(Runs, "run_named", named)
    monkeypatch.setattr(Queries, "study", lambda self, name: {})
    monkeypatch.setattr("storebench.web.report.SCRIPT", tmp_path / "report.js")
    (tmp_path / "report.js").touch()
    monkeypatch.setattr("storebench.cli.airflow_api.Airflow.run_state", lambda self, dag, run: None)
    for study in ("toy", None):
        named_so = ["--study", study] if study else []
        result = CliRunner().invoke(main, [*arguments, *named_so])
        assert result.exit_code == 2 and "no such run" in result.output
    assert asked == [("latest", "toy"), ("latest", None)]


NEWEST = {
    "id": "toy/manual__1",
    "airflow_run_id": "manual__1",
    "dag_id": "toy",
    "study": "toy",
    "started_at": datetime(2026, 11, 26, 9, 30, tzinfo=UTC),
    "params": {"rows": 7, "repeats": 1, "random_order": False, "budget_min": 5, "stores": ["zlib"]},
    "order_seed": 3,
    "rows": 7,
    "seed": 5,
}


@pytest.fixture
def newest(nowhere, monkeypatch):
    """Make NEWEST the run of every name."""
    monkeypatch.setattr(
        "storebench.results.database.runs.Runs.run_named", lambda self, name, study=None: NEWEST
    )
    monkeypatch.setattr("storebench.results.database.runs.Runs.runs_counted", lambda self, ids: [NEWEST])


def test_the_output_says_which_run_latest_is(newest):
    found = CliRunner().invoke(main, ["replay", "latest"])
    assert found.stderr == "latest is manual__1 of toy, started 2026-11-26 09:30 UTC\n"
    assert json.loads(found.stdout)["rows"] == 7, "the output itself stays JSON"
    assert CliRunner().invoke(main, ["replay", "manual__1"]).stderr == ""


def test_a_ranking_has_the_study_the_rows_and_the_seed_of_a_run(newest, monkeypatch):
    from storebench.errors import SpecError

    asked = []

    def ranking_of(queries, question):
        asked.append((question.study, question.rows, question.seed))
        raise SpecError("nothing yet")

    monkeypatch.setattr("storebench.results.ranking.rank.ranking_of", ranking_of)
    for arguments in (["latest"], ["latest", "--rows", "9"], []):
        assert CliRunner().invoke(main, ["ranking", *arguments]).exit_code == 2
    assert asked == [("toy", 7, 5), ("toy", 9, 5), ("bulk_write_read", None, None)]


def test_a_run_is_replayed_with_other_repeats_in_a_random_order_and_followed(newest, monkeypatch):
    asked, followed = [], []
    monkeypatch.setattr(
        "storebench.cli.airflow_api.Airflow.trigger",
        lambda self, dag, conf: asked.append((dag, conf)) or "manual__2",
    )
    monkeypatch.setattr("storebench.cli.runs._follow", lambda *arguments: followed.append(arguments[2:]))
    found = CliRunner().invoke(main, ["replay", "latest", "--repeats", "6", "--follow"])
    assert found.exit_code == 0, found.output
    assert asked == [("toy", {"rows": 7, "repeats": 6, "stores": ["zlib"]})]
    assert followed == [("toy", "manual__2")] and found.stdout.startswith("run manual__2: http")
    again = CliRunner().invoke(main, ["replay", "latest", "--trigger"])
    assert json.loads(again.stdout) == NEWEST["params"] | {"order_seed": 3}
    assert asked[1][1] == json.loads(again.stdout) and len(followed) == 1
    changed = CliRunner().invoke(main, ["replay", "latest", "--param", 'stores=["bz2"]'])
    assert json.loads(changed.stdout) == NEWEST["params"] | {"order_seed": 3, "stores": ["bz2"]}


@pytest.mark.parametrize(
    ("program", "typed"),
    [
        ("/home/me/.cache/storebench/venv/bin/storebench", "~/.cache/storebench/venv/bin/storebench"),
        ("/opt/bin/storebench", "/opt/bin/storebench"),
        ("/work/src/storebench/cli/__main__.py", "python -m storebench.cli"),
    ],
)
def test_a_suggested_command_is_as_short_as_it_can_be_typed(monkeypatch, program, typed):
    from storebench.cli import environment

    monkeypatch.setattr(environment.sys, "argv", [program])
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    monkeypatch.setenv("HOME", "/home/me")
    assert environment.command() == typed
    monkeypatch.setattr(environment.shutil, "which", lambda name: "/usr/bin/storebench")
    assert environment.command() == "storebench"


@pytest.fixture
def triggered(nowhere, monkeypatch):
    """Collect the run that Airflow was asked for, as manual__1."""
    asked = []
    monkeypatch.setattr(
        "storebench.cli.airflow_api.Airflow.trigger",
        lambda self, dag, conf: asked.append(conf) or "manual__1",
    )
    return asked


def interrupted(*arguments):
    raise KeyboardInterrupt


def test_ctrl_c_says_what_goes_on_and_how_to_follow_or_stop_it(triggered, monkeypatch):
    monkeypatch.setattr("storebench.cli.follow.follow", interrupted)
    result = CliRunner().invoke(main, ["run"])
    assert result.exit_code == 130 and "The run goes on in Airflow" in result.output
    assert "follow manual__1 --study bulk_write_read\n" in result.output
    assert "mark it as failed at http://127.0.0.1:1/dags/bulk_write_read/runs/manual__1" in result.output


def test_a_run_is_quick_unless_places_in_the_grid_are_named(triggered, monkeypatch):
    monkeypatch.setattr("storebench.cli.follow.follow", interrupted)
    for arguments in (
        [],
        ["--stores", "null"],
        ["--preset", "tour"],
        ["--clients", "tuned"],
        ["--axis", "batch=all"],
    ):
        assert CliRunner().invoke(main, ["run", *arguments]).exit_code == 130
    plain, narrowed, tour, named, placed = triggered
    assert plain["batch"] == narrowed["batch"] == ["1000", "all"]
    assert narrowed["stores"] == "null" and plain["stores"][0] == "mongodb"
    assert tour == {"full_grid": False} and named == {"clients": "tuned"} and placed == {"batch": ["all"]}


def test_what_airflow_is_asked_to_run_means_what_was_typed(triggered, monkeypatch):
    from storebench.planning.params import grid_of, run_values
    from storebench.study.studies import find

    monkeypatch.setattr("storebench.cli.follow.follow", interrupted)
    typed = [
        "--stores",
        "mongodb,null",
        "--axis",
        "batch=100,all",
        "--axis",
        "executors=2",
        "--rows",
        "1000",
        "--seed",
        "7",
    ]
    assert CliRunner().invoke(main, ["run", *typed, "--param", 'order_seed="5"']).exit_code == 130
    (conf,) = triggered
    study = find("bulk_write_read")
    found = grid_of(study, run_values(study, conf))
    assert {cell.store for cell in found.cells} == {"mongodb", "null"}
    assert {cell.value("batch") for cell in found.cells} == {"100", "all"}
    assert {(cell.rows, cell.seed) for cell in found.cells} == {(1000, 7)}
    assert conf["order_seed"] == "5"


@pytest.mark.parametrize("command", ["run", "grid"])
def test_the_help_of_a_study_has_its_axes_its_parameters_its_stores_and_its_presets(monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "200")
    result = CliRunner().invoke(main, [command, "--study", "bulk_write_read", "--help"])
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    for words in (
        "--rows INTEGER Rows of the dataset.",
        "--seed INTEGER",
        "Axes of bulk_write_read, for --axis:",
        "batch Batch: a number of rows from 1, or 'all', for example 100,1000,10000,100000,all. Default: 10000,100000,all",
        "executors Executors: a number of executors from 1 to 999, for example 1,2,4,8. Default: 1,2. Only for store delta-spark",
        "Stores and clients: mongodb reference, tuned",
        "Parameters of bulk_write_read, for --param: cache Caches of reads",
        "Parameters of every study, for --param; the form explains them: ",
        "warm_up Warm up. Default: false.",
        "Presets: quick each default store once",
    ):
        assert words in text, words
    assert text.count("executor_cores") == 1
    assert ("keep_data Keep data" in text) == (command == "grid"), "of a run it has an option of its own"


def test_the_study_that_a_command_means_is_the_one_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("STOREBENCH_STUDY", "nonesuch")
    result = CliRunner().invoke(main, ["run", "--help"])
    assert result.exit_code == 2 and "Unknown study 'nonesuch'" in result.output
    monkeypatch.setenv("STOREBENCH_STUDY", "bulk_write_read")
    assert "Axes of bulk_write_read" in CliRunner().invoke(main, ["run", "--help"]).output


def test_where_there_is_no_study_yet_the_help_is_there_all_the_same(monkeypatch, tmp_path):
    monkeypatch.delenv("STOREBENCH_STUDY", raising=False)
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(tmp_path))
    result = CliRunner().invoke(main, ["run", "--help"])
    assert result.exit_code == 0 and "Axes of" not in result.output and "--preset" in result.output


def test_a_run_that_has_no_results_yet_is_followed_by_its_id_in_airflow(nowhere, monkeypatch):
    from storebench.errors import SpecError
    from storebench.results.database.repository import Repository

    def unknown(self, name, study):
        raise SpecError(f"There is no run {name!r}")

    followed = []
    monkeypatch.setattr(Repository, "run_named", unknown)
    monkeypatch.setattr(Repository, "attempts_of_run", lambda self, run_id: [])
    states = {"manual__1": "queued"}
    monkeypatch.setattr(
        "storebench.cli.airflow_api.Airflow.run_state", lambda self, dag, run: states.get(run)
    )
    monkeypatch.setattr(
        "storebench.cli.follow.follow", lambda *arguments: followed.append(arguments[3:]) or "success"
    )
    assert CliRunner().invoke(main, ["follow", "manual__1"]).exit_code == 0
    assert CliRunner().invoke(main, ["follow", "manual__1", "--study", "toy"]).exit_code == 0
    assert followed == [("bulk_write_read", "manual__1"), ("toy", "manual__1")]
    result = CliRunner().invoke(main, ["follow", "manual__2"])
    assert result.exit_code == 2 and "There is no run 'manual__2'" in result.output


@pytest.mark.parametrize(
    ("url", "page"),
    [
        (
            "http://airflow:8080/",
            "http://airflow:8080/plugin/storebench?view=charts&run=d%2Fmanual__2026-11-24T22%3A42%3A01.1%2B00%3A00",
        ),
        (None, None),
    ],
)
def test_the_page_of_a_run_that_is_loaded_is_named_where_airflow_is_known(url, page, monkeypatch, tmp_path):
    class Bundles:
        def __init__(self, dsn):
            pass

        def load(self, path, content, more_attempts):
            return "d/manual__2026-11-24T22:42:01.1+00:00", {"attempt": 2}

    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://nowhere")
    monkeypatch.delenv("STOREBENCH_AIRFLOW_URL", raising=False)
    if url:
        monkeypatch.setenv("STOREBENCH_AIRFLOW_URL", url)
    monkeypatch.setattr("storebench.results.export.bundle.Bundles", Bundles)
    (tmp_path / "run.zip").touch()
    result = CliRunner().invoke(main, ["import", str(tmp_path / "run.zip")])
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[1:] == ([f"Its page: {page}"] if page else [])
