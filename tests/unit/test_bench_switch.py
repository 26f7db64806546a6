import pytest
from click.testing import CliRunner

from bench import switch
from bench.switch import TURN, Key, main, ratios, table, values_of


def rows(operation, *seconds):
    return [
        {
            "store": "one",
            "operation": operation,
            "value": s,
            "all_cpu_s": 2 * s,
            "status": "verified",
            "disturbed": None,
        }
        for s in seconds
    ]


def test_the_ratio_is_of_the_medians_with_the_switch_on_and_off():
    key = Key("one", "all", "read")
    found = {(key, True): rows("read", 1.0, 1.5, 9.0), (key, False): rows("read", 1.0, 1.2, 1.1)}
    assert ratios(found) == {key: pytest.approx(1.5 / 1.1)}
    assert table("counters", "title", key, found).row_count == 2


def test_a_steady_drift_falls_on_both_alike():
    places = {on: sum(place for place, each in enumerate(TURN) if each is on) for on in (True, False)}
    assert places[True] == places[False]


class Stack:
    """A fake `Bench` on a machine that disturbs the first run of each turn, whose switch is on, or all runs with the switch on."""

    def __init__(self, disturbs):
        self.runs, self.disturbs = 0, disturbs

    def run(self, **conf):
        self.runs += 1
        on = {"on": True, "off": False}[conf["counters"]]
        disturbed = on and (self.disturbs == "all" or self.runs % len(TURN) == 1)
        seconds = 9.0 if disturbed else 1.5 if on else 1.0
        return [
            {**row, "store": store, "axes": {"batch": "all"}, "disturbed": "throttled" if disturbed else None}
            for store in conf["stores"]
            for row in rows("read", seconds)
        ], []


@pytest.fixture
def bench(monkeypatch):
    def run(*options, disturbs="the first", parameter="counters"):
        monkeypatch.setattr(switch, "Bench", lambda: Stack(disturbs))
        given = ["--stores", "one", "--axis", "batch=all", "--repeats", "2", *options]
        return CliRunner().invoke(main, [parameter, *given])

    return run


def test_disturbed_attempts_are_in_no_figure_and_their_number_is_said(bench):
    found = bench()
    assert found.exit_code == 0, found.output
    lines = found.output.splitlines()
    assert lines[0] == "turn 1 of 2: ratio_read_all=1.500 (1 disturbed, excluded)"
    assert "max_ratio=1.500 store=one " in lines[-1] and lines[-1].endswith("repeats=4 disturbed=2")


def test_of_several_stores_each_has_its_ratio(bench):
    found = bench("--stores", "one,two")
    assert "ratio_read_one_all=1.500 ratio_read_two_all=1.500 " in found.output.splitlines()[-1]


def test_where_all_of_a_kind_were_disturbed_there_is_nothing_to_compare(bench):
    found = bench(disturbs="all")
    assert found.exit_code == 1
    assert "each attempt of these was disturbed: [('one', 'all', 'read', 'counters', True)]" in found.output


def test_only_a_parameter_that_is_on_or_off_is_a_switch(bench):
    assert values_of("executor_encryption") == {True: True, False: False}
    assert values_of("counters") == {True: "on", False: "off"}
    for parameter in ("profile", "rows", "none"):
        found = bench(parameter=parameter)
        assert found.exit_code == 2 and f"{parameter} is no parameter that is on or off" in found.output


def test_an_axis_other_than_the_batch_has_one_value(bench):
    found = bench("--axis", "executors=2,3")
    assert found.exit_code == 2 and "one value of executors, not several" in found.output
