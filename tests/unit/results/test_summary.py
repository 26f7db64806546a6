"""The statistics that are kept of cells' attempts."""

from dataclasses import replace
from types import SimpleNamespace

from storebench.results.runs.summary import GROUP, refresh
from storebench.study.model import Metric
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY, cell

CELL = cell(batch="10")
ROW = {
    **dict.fromkeys(GROUP),
    "cell_key": CELL.key,
    "study": STUDY.name,
    "operation": "write",
    "method_version": 1,
    "status": "verified",
    "disturbed": None,
    "metric": "only_s",
    "metrics": {"only_s": 2.0, "rows_per_s": 500.0},
    "work_total_s": 9.0,
    "all_memory_working_set_peak_bytes": 1,
    "all_cpu_s": 1.0,
    "figures_cover": "client",
}


def kept(*rows, studies):
    """Return the statistics that replace the cell's: metric, n, median."""
    found = []
    repository = SimpleNamespace(
        studies=lambda: studies,
        attempts_of_cells=lambda keys: list(rows),
        replace_statistics=lambda keys, statistics: found.extend(statistics),
    )
    refresh(repository, [CELL.key])
    return [(one["metric"], one["n"], one["median"]) for one in found]


def test_the_metric_that_ranks_an_operation_and_those_of_charts_are_kept():
    studies = {STUDY.name: StudyRecord.of(STUDY)}
    slower = {**ROW, "metrics": {"only_s": 4.0}}
    failed = {**ROW, "status": "failed", "metric": None, "metrics": {}}
    assert kept(ROW, slower, failed, studies=studies) == [("only_s", 2, 3.0)]


def test_what_ranked_older_attempts_is_kept_beside_what_ranks_the_operation_now():
    write, *others = STUDY.operations
    now = replace(write, metrics=("write_s", *write.metrics))
    metrics = (*STUDY.metrics, Metric("write_s", "time"))
    study = replace(STUDY, operations=(now, *others), metrics=metrics, charts=())
    studies = {STUDY.name: StudyRecord.of(study)}
    older = {**ROW, "metrics": {**ROW["metrics"], "write_s": 2.5}}
    assert kept(older, studies=studies) == [("write_s", 1, 2.5), ("only_s", 1, 2.0)]


def test_of_a_study_of_which_nothing_is_known_what_ranked_its_attempts_is_kept():
    assert kept(ROW, studies={}) == [("only_s", 1, 2.0)]
