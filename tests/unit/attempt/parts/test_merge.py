import pytest

from storebench.attempt.parts.merge import PartResult, merge
from storebench.attempt.parts.spans import Span, Spans
from storebench.attempt.result import AttemptResult
from storebench.errors import BadResult


def spans(*delays_s, error_s=0.001, wall_s=10.0):
    """The spans of parts that began late by these seconds."""
    return Spans(
        [Span(100.0 + delay_s, 100.0 + delay_s + wall_s, 2.0, "here") for delay_s in delays_s], 100.0, error_s
    )


def merged(whole, *parts, rules=None, spans=None):
    results = [PartResult(n, f"pod-{n}", f"node-{n}", part) for n, part in enumerate(parts, 1)]
    merge(whole, results, rules or {}, spans)
    return whole


@pytest.mark.parametrize(("rule", "value"), [("sum", 6.0), ("max", 3.0), ("span", 3.5), ("leader", 1.0)])
def test_a_metric_is_merged_by_its_rule(rule, value):
    found = merged(
        *(AttemptResult(metrics={"x": number}) for number in (1.0, 2.0, 3.0)),
        rules={"x": rule},
        spans=spans(0.0, 1.5, 0.25),
    )
    assert found.metrics == {"x": value}


def test_a_figure_that_one_part_lacks_is_that_of_the_others():
    found = merged(AttemptResult(), AttemptResult(metrics={"x": 2.0}), rules={"x": "sum"})
    assert found.metrics == {"x": 2.0}


def test_counts_of_histograms_are_added():
    first = AttemptResult(histograms={"h": {"values": [0.1, 0.3], "counts": [1, 2]}})
    second = AttemptResult(histograms={"h": {"values": [0.2, 0.3], "counts": [5, 7]}})
    assert merged(first, second).histograms == {"h": {"values": [0.1, 0.2, 0.3], "counts": [1, 5, 9]}}


@pytest.mark.parametrize(("rule", "values"), [("sum", [1, 5, 4]), ("max", [1, 3, 4]), ("leader", [1, 2])])
def test_a_series_is_merged_second_by_second(rule, values):
    first = AttemptResult(series={"s": {"at_s": [0, 1], "values": [1, 2]}})
    second = AttemptResult(series={"s": {"at_s": [1, 2], "values": [3, 4]}})
    found = merged(first, second, rules={"s": rule}).series["s"]
    assert found == {"at_s": [0, 1, 2][: len(values)], "values": values}


@pytest.mark.parametrize(
    ("part", "rules", "why"),
    [
        ({"metrics": {"x": 1.0}}, {}, "'x' has no rule"),
        ({"series": {"s": {"at_s": [], "values": []}}}, {}, "'s' has no rule"),
        ({"series": {"s": {"at_s": [], "values": []}}}, {"s": "span"}, "merges no series"),
        ({"metrics": {"x": 1.0}}, {"x": "mean"}, "merges no numbers"),
    ],
)
def test_a_figure_without_a_fitting_rule_is_refused(part, rules, why):
    with pytest.raises(BadResult, match=why):
        merged(AttemptResult(), AttemptResult(**part), rules=rules)


def test_disturbances_name_the_part_and_its_pod():
    found = merged(
        AttemptResult(disturbed="throttled in 3 periods"),
        AttemptResult(disturbed="others kept 2.0 cores busy", not_judged="too short"),
        AttemptResult(perhaps_disturbed="a cache"),
    )
    assert found.disturbed == "throttled in 3 periods; part 1 (pod pod-1): others kept 2.0 cores busy"
    assert found.perhaps_disturbed == "part 2 (pod pod-2): a cache"
    assert found.not_judged == "part 1 (pod pod-1): too short"


def test_a_part_is_a_row_and_servers_are_not_counted_again():
    server = {"role": "server", "name": "s-0", "cpu_s": 1.0}
    part = AttemptResult(cpu_s=3.0, client_cpu_share=0.9, usage=[server])
    found = merged(AttemptResult(usage=[dict(server)]), part, spans=spans(0.0, 0.25))
    assert [(row["role"], row["name"]) for row in found.usage] == [("server", "s-0"), ("client", "pod-1")]
    row = found.usage[1]
    assert (row["part"], row["node"], row["cpu_s"], row["client_cpu_share"]) == (1, "node-1", 3.0, 0.9)
    assert row["start_delay_s"] == pytest.approx(0.25)
    assert row["waited_s"] == 0.0, "it ended last"
    early = merged(AttemptResult(), AttemptResult(), AttemptResult(), spans=spans(0.5, 0.25, 0.0)).usage
    assert [row["waited_s"] for row in early] == [0.25, 0.5], "the leader ended last"


@pytest.mark.parametrize(("late_s", "doubted"), [(0.05, False), (0.2, True)])
def test_begins_that_lie_more_than_a_hundredth_apart_are_doubted(late_s, doubted):
    found = merged(AttemptResult(), AttemptResult(), spans=spans(0.0, late_s))
    assert found.start_skew_s == pytest.approx(late_s + 0.001)
    assert bool(found.perhaps_disturbed) is doubted


def test_the_error_of_the_clocks_is_part_of_the_skew():
    assert spans(0.0, 0.0, error_s=0.3).skew_s() == 0.3
    assert spans(0.0, 0.0, error_s=0.3).doubt() is not None
