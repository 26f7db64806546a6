"""Real processes do one operation together."""

from collections import Counter

import pytest

from storebench import protocol
from tests.unit.attempt.parts.planted import DELAY_S, DELAYED, MERGES, REQUESTS


@pytest.fixture
def together(pods):
    """Return a function that runs the parts of an operation to their end, and returns the leader's result and the followers' results."""

    def run(count, **more):
        ends = {number: pod.ended() for number, pod in pods("asking", count, **more).items()}
        assert [code for code, _ in ends.values()] == [0] * count, ends
        _, whole = ends.pop(0)
        return whole, [result for _, result in ends.values()]

    return run


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_figures_of_all_parts_are_those_of_a_log_of_all_requests(together, logs, count):
    whole, others = together(count)
    parts = logs()
    log = [request for part in parts for request in part["log"]]
    assert sorted(n for n, *_ in log) == list(range(REQUESTS)), "each request was asked once"
    assert (whole.status, whole.verification) == ("verified", "all numbers are there")
    assert whole.metrics["asked_bytes"] == sum(size for *_, size in log)
    assert whole.metrics["slowest_s"] == max(latency_s for _, latency_s, _, _ in log)
    delays_s = [part["began"] - part["begin"] if count > 1 else 0.0 for part in parts]
    last_s = max(delay_s + part["asking_s"] for delay_s, part in zip(delays_s, parts, strict=True))
    assert whole.metrics["asking_s"] == pytest.approx(last_s, abs=0.02)
    assert whole.metrics["requests_per_s"] == pytest.approx(REQUESTS / whole.metrics["asking_s"])
    counts = Counter(latency_s for _, latency_s, _, _ in log)
    assert whole.histograms["latency_s"] == {
        "values": sorted(counts),
        "counts": [counts[value] for value in sorted(counts)],
    }
    rates = Counter(at_s for _, _, at_s, _ in log)
    assert dict(zip(*whole.series["rate"].values(), strict=True)) == rates
    largest = {at_s: max(size for _, _, other_s, size in log if other_s == at_s) for at_s in rates}
    assert dict(zip(*whole.series["largest"].values(), strict=True)) == largest
    assert [part["agreed"] for part in parts] == [5] * count, "the leader decides for all parts"
    assert [other.verification for other in others] == [
        f"part {number} of {count}: left with the leader" for number in range(1, count)
    ]


def test_the_leader_reports_each_other_pod(together):
    whole, _ = together(4)
    rows = [row for row in whole.usage if row["role"] == "client"]
    assert [(row["part"], row["name"], row["node"]) for row in rows] == [
        (number, f"pod-{number}", f"node-{number}") for number in (1, 2, 3)
    ]
    assert all(0 < row["client_cpu_share"] < 1 and row["client_cores_usable"] == 1 for row in rows)
    assert all(0 <= row["start_delay_s"] < 1 for row in rows)
    assert protocol.problem("result", vars(whole)) is None
    assert "parts" in whole.phases and whole.phases["operation"] > 0


def test_an_operation_of_one_pod_knows_no_parts(together):
    whole, _ = together(1, merges={})
    assert (whole.start_skew_s, whole.usage) == (None, [])
    assert "parts" not in whole.phases


def test_parts_begin_together_and_a_late_part_shows(together, logs):
    whole, _ = together(2)
    begins_s = [part["begin"] for part in logs()]
    assert max(begins_s) - min(begins_s) < 0.005, "all processes of a machine have one clock"
    prompt_s = whole.start_skew_s
    assert prompt_s < DELAY_S / 2

    whole, _ = together(2, **{DELAYED: 1})
    assert DELAY_S - 0.05 < whole.start_skew_s < DELAY_S + 0.2  # the other part also begins a little late
    (row,) = [row for row in whole.usage if row["role"] == "client"]
    assert DELAY_S <= row["start_delay_s"] < DELAY_S + 0.2
    assert "the 2 parts began up to 3" in whole.perhaps_disturbed
    late = logs()[1]
    assert whole.metrics["asking_s"] == pytest.approx(
        late["began"] - late["begin"] + late["asking_s"], abs=0.02
    ), "the span ends with the late part"


def test_a_metric_without_a_rule_cannot_be_merged(pods):
    rules = {name: rule for name, rule in MERGES.items() if name != "slowest_s"}
    running = pods("asking", 2, merges=rules)
    code, whole = running[0].ended()
    assert (code, whole.error_kind) == (1, "bad_result")
    assert "The metric 'slowest_s' has no rule" in whole.error
    _, other = running[1].ended()
    assert other.status == "failed" and "The metric 'slowest_s' has no rule" in other.error
