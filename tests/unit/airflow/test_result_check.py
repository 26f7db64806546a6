"""A result that contradicts its study is recorded as a row with the reason."""

import pytest

from storebench.airflow.outcome.result_check import ENVIRONMENT_BYTES, TEXT_CHARACTERS, check_result
from storebench.attempt.result import AttemptResult
from storebench.study.model import Metric, Operation, Study

PUT = Operation("put", ("puts_per_s", "latency_s", "done_bytes"))
STUDY = Study(
    name="toy",
    title="Toy",
    description="",
    stores=("toy",),
    operations=(PUT, Operation("get", ("gets_per_s",))),
    metrics=(
        Metric("puts_per_s", "puts", "higher"),
        Metric("gets_per_s", "gets", "higher"),
        Metric("latency_s", "latency", kind="histogram"),
        Metric("done_bytes", "done", "neither", "series"),
    ),
)
FIGURES = {
    "metrics": {"puts_per_s": 5.0},
    "histograms": {"latency_s": {"values": [0.5], "counts": [3]}},
    "series": {"done_bytes": {"at_s": [0.1], "values": [7]}},
}


def verified(**figures):
    return AttemptResult(status="verified", **{**FIGURES, **figures})


def test_a_result_that_is_as_its_study_says_stays_as_it_is():
    assert check_result(verified(), STUDY, PUT) == verified()


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (
            {"metrics": {"puts_per_s": 1.0, "speed": 2.0}},
            "the metric 'speed', which the study toy does not know",
        ),
        ({"metrics": {}}, "lacks 'puts_per_s', a metric of the operation put"),
        ({"histograms": {}}, "lacks 'latency_s', a metric of the operation put"),
        ({"series": {}}, "lacks 'done_bytes', a metric of the operation put"),
        (
            {"series": {**FIGURES["series"], "latency_s": {"at_s": [], "values": []}}},
            "is a histogram, and the result has it as a series",
        ),
        (
            {"histograms": {"latency_s": {"values": [1, 2], "counts": [1]}}},
            "histograms.latency_s has 2 values and 1 counts",
        ),
        ({"series": {"done_bytes": {"at_s": [1], "values": []}}}, "series.done_bytes has 1 at_s and 0"),
        (
            {"environment": {"x": "x" * ENVIRONMENT_BYTES}},
            "environment has 65,545 bytes, and may have 65,536",
        ),
        (
            {"usage": [{"role": "executor", "name": "1"}, {"role": "executor", "name": "1"}]},
            "usage has the executor '1' twice",
        ),
    ],
)
def test_what_cannot_be_is_a_row_with_its_reason(figures, words):
    found = check_result(verified(**figures), STUDY, PUT)
    assert (found.status, found.error_kind) == ("failed", "bad_result")
    assert words in found.error
    assert not found.metrics and not found.histograms and not found.series and not found.usage


def test_a_failure_keeps_its_own_reason_and_the_figures_that_are_known():
    failed = AttemptResult(error_kind="unreachable", error="down", metrics={"puts_per_s": 1.0, "speed": 2.0})
    found = check_result(failed, STUDY, PUT)
    assert (found.error_kind, found.error, found.metrics) == ("unreachable", "down", {"puts_per_s": 1.0})


def test_pods_of_several_roles_may_have_one_name():
    usage = [{"role": role, "name": "1"} for role in ("executor", "server")]
    assert check_result(verified(usage=usage), STUDY, PUT).usage == usage


def test_a_store_may_lack_a_metric_that_it_declares():
    bare = AttemptResult(status="verified", metrics={"puts_per_s": 5.0}, series=FIGURES["series"])
    assert check_result(bare, STUDY, PUT, ("latency_s",)) == bare
    for lacks in ((), ("done_bytes",)):
        assert "The result lacks 'latency_s'" in check_result(bare, STUDY, PUT, lacks).error


def test_a_failure_keeps_its_own_reason_where_the_database_takes_no_pod_twice():
    twice = AttemptResult(error_kind="unreachable", error="down", usage=[{"role": "server", "name": "1"}] * 2)
    found = check_result(twice, STUDY, PUT)
    assert (found.error_kind, found.error, found.usage) == ("unreachable", "down", [])


def test_a_failure_need_not_have_what_a_verified_attempt_reports():
    failed = AttemptResult(error_kind="unreachable", error="down")
    assert check_result(failed, STUDY, PUT) == failed


def test_texts_are_cut():
    long = dict.fromkeys(("verification", "perhaps_disturbed", "code_version", "delivers"), "v" * 9999)
    found = check_result(verified(**long), STUDY, PUT)
    assert found.status == "verified"
    assert {len(getattr(found, name)) for name in long} == {TEXT_CHARACTERS}
    failed = check_result(AttemptResult(error_kind="k" * 9999, error="e" * 9999), STUDY, PUT)
    assert {len(failed.error_kind), len(failed.error)} == {TEXT_CHARACTERS}
