import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from storebench.dataset.csv50 import CSV50
from storebench.errors import SpecError
from storebench.fields import flag, integer
from storebench.results.database.migrate import view_text
from storebench.results.database.rows import AttemptRow
from storebench.study.check import problems_of_stores
from storebench.study.model import Axis, Chart, Metric, Operation, Preset, Study
from storebench.study.record import StudyRecord
from storebench.study.reserved import COLUMNS, TABLES
from tests.unit.example import BATCH, EXECUTORS, STORES, STUDY, cell

SQL = Path(__file__).parents[3] / "sql"
WRITE, READ = STUDY.operations
SERIES = Metric("queue_bytes", "queue", "neither", "series")
HISTOGRAM = Metric("latency_s", "latency", kind="histogram")


def test_a_study_that_says_what_it_means_is_taken():
    chart = Chart("rows_per_s", operations=("read",), colour="client", panel="executors")
    found = replace(
        STUDY,
        operations=(replace(WRITE, metrics=("only_s", "latency_s")), READ),
        metrics=(*STUDY.metrics, SERIES, replace(SERIES, name="done_bytes"), HISTOGRAM),
        charts=(
            chart,
            Chart("all_cpu_s", "operation", panel=""),
            Chart("latency_s", "store"),
            Chart("queue_bytes", "store", ("write",), over="done_bytes", limit="most_bytes"),
            Chart("queue_bytes", "store", ("write",), since="only_s", beside="done_bytes"),
        ),
        params={"most_bytes": integer(1, 1, 10, "Most", "The largest queue.", (1, 2))},
    )
    assert found.clients == ("reference", "tuned")
    assert found.steps == ("write", "read", "drop")


def test_a_study_whose_stores_keep_nothing_has_no_step_that_removes_it():
    assert replace(STUDY, stores=("null",), axes=(BATCH,)).steps == ("write", "read")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("only_s", "s"),
        ("rows_per_s", "rows/s"),
        ("read_rows_per_s", "rows/s"),
        ("data_bytes", "bytes"),
        ("busy_share", "ratio"),
        ("retries", ""),
        ("per_s", "s"),
    ],
)
def test_a_metrics_unit_is_the_end_of_its_name(name, unit):
    assert Metric(name, "").unit == unit


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"operations": ()}, "it has no operation"),
        ({"stores": ()}, "it has no store"),
        ({"stores": (*STORES, "null")}, "the store 'null' is there twice"),
        (
            {"operations": (replace(WRITE, needs=("fill",)), READ)},
            "the operation 'write' needs 'fill', which is not there",
        ),
        (
            {"operations": (READ, WRITE)},
            "the operation 'read' needs 'write', which does not come before it",
        ),
        (
            {"operations": (replace(WRITE, needs=("write",)), READ)},
            "the operation 'write' needs 'write', which does not come before it",
        ),
        ({"operations": (WRITE, WRITE, READ)}, "the operation 'write' is there twice"),
        ({"metrics": (*STUDY.metrics, STUDY.metrics[0])}, "the metric 'only_s' is there twice"),
        ({"axes": (BATCH, EXECUTORS, BATCH)}, "the axis 'batch' is there twice"),
        (
            {"operations": (replace(WRITE, name="drop"),)},
            "'drop' is what removes a cell's data, and cannot be an operation",
        ),
        (
            {"operations": (replace(WRITE, metrics=("only_s", "speed")), READ)},
            "the metric 'speed' of the operation 'write' is not among its metrics",
        ),
        (
            {"operations": (replace(WRITE, metrics=("work_total_s",)), READ)},
            "the metric 'work_total_s' of the operation 'write' is not among its metrics",
        ),
        ({"operations": (replace(WRITE, metrics=()), READ)}, "the operation 'write' has no metric"),
        (
            {
                "operations": (replace(WRITE, metrics=("latency_s", "only_s")), READ),
                "metrics": (*STUDY.metrics, HISTOGRAM),
            },
            "the first metric of the operation 'write' ranks it, and 'latency_s' is a histogram, not a number",
        ),
        ({"charts": (Chart("speed", "store"),)}, "a chart shows 'speed', which is not among its metrics"),
        (
            {"charts": (Chart("only_s", "store", operations=("write", "scan")),)},
            "a chart of 'only_s' is of 'scan', which is no operation",
        ),
        (
            {"charts": (Chart("only_s", colour="threads"),)},
            "a chart of 'only_s' tells 'threads' apart, which is no axis",
        ),
        (
            {"charts": (Chart("only_s", "store", panel="threads"),)},
            "a chart of 'only_s' tells 'threads' apart, which is no axis",
        ),
        (
            {"metrics": (*STUDY.metrics, SERIES), "charts": (Chart("queue_bytes", "store"),)},
            "a chart shows 'queue_bytes', which no operation lists: name the operations that it is of",
        ),
        (
            {
                "metrics": (*STUDY.metrics, SERIES),
                "charts": (Chart("queue_bytes", "store", ("write",), over="only_s"),),
            },
            "a chart draws 'queue_bytes' over 'only_s', and 'only_s' is no series of its",
        ),
        (
            {
                "metrics": (*STUDY.metrics, SERIES),
                "charts": (Chart("queue_bytes", "store", ("write",), beside="only_s"),),
            },
            "a chart draws 'queue_bytes' beside 'only_s', and 'only_s' is no series of its",
        ),
        (
            {"charts": (Chart("only_s", "store", since="rows_per_s"),)},
            "a chart of 'only_s' has since='rows_per_s': the time before needs a series, and a metric that is a number",
        ),
        (
            {"charts": (Chart("only_s", "store", limit="slo"),)},
            "a chart of 'only_s' has the limit 'slo', which is no parameter of its runs",
        ),
        (
            {"charts": (Chart("only_s", "operation"),)},
            "a chart of 'only_s' has 'operation' as colour and as panel",
        ),
        ({"name": "summary"}, "summary would be a table of the results: give another name"),
        (
            {"axes": (*STUDY.axes, replace(EXECUTORS, name="store"))},
            "'store' is a column of all results: give another name",
        ),
        (
            {"axes": (*STUDY.axes, replace(EXECUTORS, name="rows"))},
            "'rows' is a column of all results: give another name",
        ),
        (
            {"metrics": (*STUDY.metrics, Metric("median", "median"))},
            "'median' is a column of all results: give another name",
        ),
        (
            {"axes": (*STUDY.axes, replace(EXECUTORS, name="rows_per_s"))},
            "rows_per_s: there is an axis and a metric of that name",
        ),
        (
            {"axes": (replace(BATCH, where={"executors": ("1",)}), EXECUTORS)},
            "the axis 'batch' depends on 'executors', which is no axis before it",
        ),
        (
            {"stores": ("mongodb",)},
            "the axis 'executors' is for the store 'delta-spark', which is not there",
        ),
        (
            {"dataset": replace(CSV50, axes=("width",))},
            "the dataset depends on 'width', which is no axis",
        ),
        ({"name": "My study"}, "'My study' is no name of a study: lower-case letters, digits and _"),
        (
            {"name": "s" * 56},
            "is no name of a study: lower-case letters, digits and _, a letter first, at most 55",
        ),
        ({"operations": (replace(WRITE, name="bulk-write"),)}, "'bulk-write' is no name of a operation"),
        ({"metrics": (*STUDY.metrics, Metric("2nd_s", "second"))}, "'2nd_s' is no name of a metric"),
        ({"axes": (*STUDY.axes, replace(EXECUTORS, name="Threads"))}, "'Threads' is no name of a axis"),
    ],
)
def test_a_study_that_contradicts_itself_is_refused_in_words(changes, problem):
    with pytest.raises(SpecError, match=f"^The study .*: .*{re.escape(problem)}"):
        replace(STUDY, **changes)


def test_the_names_that_the_results_have_are_those_of_their_tables_and_columns():
    files = [*SQL.glob("*.sql"), *SQL.glob("views/*.sql")]
    made = re.compile(r"CREATE (?:OR REPLACE )?(?:TABLE|VIEW) storebench\.(\w+)")
    names = {name for file in files for name in made.findall(file.read_text())}
    renamed = re.compile(r"ALTER TABLE storebench\.(\w+) RENAME TO (\w+)")
    for old, new in (pair for file in sorted(files) for pair in renamed.findall(file.read_text())):
        names = names - {old} | {new}
    assert names == TABLES
    columns = view_text(SQL / "views" / "1-results.sql").partition("FROM storebench.attempt AS a\n")[0]
    lines = [line.rstrip(",") for line in columns.splitlines() if re.search(r"^ +.*(,|attempt_id)$", line)]
    found = {re.split(r" AS |\.", line)[-1] for line in lines}
    # an expression in two lines has its name in the second line
    assert found <= COLUMNS
    summary = (SQL / "views" / "4-summary.sql").read_text().partition("FROM storebench.statistic")[0]
    lines = [line.rstrip(",") for line in summary.splitlines() if line.startswith("    ")]
    latest = (SQL / "views" / "2-latest.sql").read_text().partition("FROM storebench.cell")[0]
    found |= set(re.findall(r"^    \S.* AS (\w+),?$", latest, re.MULTILINE))
    assert found | {re.split(r" AS |\.", line)[-1] for line in lines} == COLUMNS


def test_every_mistake_is_named_at_once():
    with pytest.raises(SpecError) as caught:
        replace(STUDY, stores=(), axes=(BATCH,), charts=(Chart("speed", "store"),))
    assert str(caught.value) == (
        "The study 'bulk_write_read': it has no store; a chart shows 'speed', which is not among its metrics"
    )


def test_its_record_is_json_with_all_that_results_and_page_need():
    study = replace(
        STUDY,
        params={"cold": flag("Cold", "Empty the caches.")},
        presets={"small": Preset("A look.", {"rows": 10}, once={"batch": ["all"]})},
        method_version=3,
    )
    found = StudyRecord.of(study).as_json()
    assert json.loads(json.dumps(found)) == found
    assert list(found) == [
        "name",
        "title",
        "description",
        "method_version",
        "operations",
        "metrics",
        "axes",
        "stores",
        "charts",
        "tables",
        "params",
        "dataset",
        "rows",
        "presets",
        "claims",
        "default_stores",
    ]
    assert (found["name"], found["title"], found["method_version"]) == ("bulk_write_read", "Example", 3)
    figures = ["only_s", "rows_per_s", "source_s"]
    assert found["operations"] == [
        {"name": "write", "metrics": figures, "needs": [], "where": {}},
        {"name": "read", "metrics": figures, "needs": ["write"], "where": {}},
    ]
    assert found["metrics"][1] == {
        "name": "rows_per_s",
        "title": "dataset rows a second",
        "unit": "rows/s",
        "better": "higher",
        "kind": "scalar",
        "by_cover": False,
        "merge": None,
    }
    assert found["axes"][1] == {
        "name": "executors",
        "title": "Executors",
        "description": "",
        "numeric": True,
        "pattern": "[1-9][0-9]{0,2}",
        "hint": "a number of executors from 1 to 999",
        "default": ["1", "2"],
        "choices": ["1", "2", "4"],
        "grid": ["1", "2"],
        "where": {"store": ["delta-spark"]},
        "whole": None,
        "of_copies": False,
        "workload": False,
        "implied": "",
    }
    assert found["charts"] == [
        {
            "metric": "only_s",
            "colour": "batch",
            "operations": [],
            "panel": "operation",
            **dict.fromkeys(("over", "limit", "since", "beside"), ""),
            "band": None,
        }
    ]
    assert found["params"][0] == {
        "name": "cold",
        "title": "Cold",
        "description": "Empty the caches.",
        "rules": {"kind": "Flag", "default": False, "examples": [True, False]},
    }
    assert found["dataset"].items() >= {"name": "", "version": 1, "axes": []}.items()
    stores = {one["name"]: one for one in found["stores"]}
    assert list(stores) == list(STORES)
    assert stores["mongodb"] == {
        "name": "mongodb",
        "clients": ["reference", "tuned"],
        "operations": ["write", "maintain", "read"],
        "keeps_data": True,
        "floor": False,
        "server": "mongodb",
        "product": "MongoDB",
        "elsewhere": [],
        "filled_by": None,
        "provisioned_servers_only": "",
        "provisions": True,
        "options": [],
    }
    assert (stores["delta-kernel"]["operations"], stores["delta-kernel"]["filled_by"]) == (
        ["read"],
        "delta-spark",
    )
    assert stores["delta-rs"]["server"] is None and stores["null"]["keeps_data"] is False
    assert stores["null"]["floor"] is True
    assert found["presets"] == [
        {
            "name": "small",
            "description": "A look.",
            "params": {"rows": 10},
            "embedded": {},
            "once": {"batch": ["all"]},
        }
    ]
    assert StudyRecord.of(replace(STUDY, dataset=None)).dataset is None


def test_names_that_a_study_has_not_are_refused_with_those_that_were_perhaps_meant():
    assert STUDY.operation("read") is READ
    with pytest.raises(SpecError, match=r"Unknown operation 'reed'. Did you mean read\?"):
        STUDY.operation("reed")
    with pytest.raises(SpecError, match=r"Unknown preset 'quick'. There is none"):
        STUDY.preset("quick")
    assert STUDY.store("mongodb@v8") is STUDY.store("mongodb")
    with pytest.raises(SpecError, match=r"Unknown store 'mongo'. Did you mean mongodb\?"):
        STUDY.store("mongo@v8")


def test_a_store_has_the_operations_that_it_names_in_the_studys_order():
    assert [one.name for one in STUDY.operations_of("mongodb@v8")] == ["write", "read"]
    assert [one.name for one in STUDY.operations_of("delta-kernel")] == ["read"]


def test_a_store_cannot_have_an_operation_that_its_study_has_not():
    only_write = replace(STUDY, stores=("null",), axes=(), charts=(), operations=(WRITE,))
    problem, *_ = problems_of_stores(only_write)
    assert problem == "the store 'null' has the operation 'read', which is no operation of the study"


def test_a_cell_names_its_dataset():
    shaped = replace(STUDY, dataset=replace(CSV50, name="wide", version=2, axes=("batch",)))
    assert STUDY.dataset_of(cell(rows=20_000, seed=7)) == "v1/rows=20000/seed=7"
    assert shaped.dataset_of(cell(rows=20_000, seed=7)) == "wide/v2/batch=10/rows=20000/seed=7"
    assert replace(STUDY, dataset=None).dataset_of(cell()) is None


@pytest.mark.parametrize(
    ("changes", "numeric"),
    [
        ({}, True),
        ({"grid": ("1", "all")}, False),
        ({"choices": ("1", "1.5")}, False),
        ({"default": ("none",)}, False),
    ],
)
def test_an_axis_is_one_of_numbers_where_all_its_values_are(changes, numeric):
    assert replace(EXECUTORS, **changes).numeric is numeric


def test_a_value_that_is_none_of_an_axis_is_refused_with_what_would_be():
    assert isinstance(EXECUTORS, Axis) and EXECUTORS.check("999") == "999"
    with pytest.raises(SpecError, match="Executors: '1000' is not a number of executors from 1 to 999"):
        EXECUTORS.check("1000")


def test_an_axis_means_something_where_it_says():
    depth = replace(BATCH, name="depth", where={"store": ("mongodb",), "batch": ("10", "20")})
    assert depth.means_something("mongodb@v8", "tuned", {"batch": "20"})
    assert not depth.means_something("mongodb", "tuned", {"batch": "all"})
    assert not depth.means_something("null", "tuned", {"batch": "10"})
    assert not depth.means_something("mongodb", "tuned", {}), "the axis that it depends on means nothing"


def test_the_study_of_this_project_says_what_it_means():
    from dags.bulk_write_read import BULK_WRITE_READ

    assert isinstance(BULK_WRITE_READ, Study) and isinstance(BULK_WRITE_READ.operations[0], Operation)
    assert BULK_WRITE_READ.method_version == 3
    json.dumps(StudyRecord.of(BULK_WRITE_READ).as_json())


def test_the_type_of_an_attempt_s_row_has_only_columns_of_the_view():
    assert {*AttemptRow.__annotations__} < COLUMNS
