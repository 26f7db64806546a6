import pytest
from click.testing import CliRunner

from bench import encryption
from bench.encryption import TURN, main, ratios, table


def rows(operation, *seconds):
    return [
        {
            "operation": operation,
            "value": s,
            "all_cpu_s": 2 * s,
            "status": "verified",
            "disturbed": None,
        }
        for s in seconds
    ]


def test_the_ratio_is_of_the_medians_with_encryption_and_without():
    key = ("all", "read")
    found = {(key, True): rows("read", 1.0, 1.5, 9.0), (key, False): rows("read", 1.0, 1.2, 1.1)}
    assert ratios(found) == {key: pytest.approx(1.5 / 1.1)}
    assert table("title", key, found).row_count == 2


def test_a_steady_drift_falls_on_both_alike():
    places = {on: sum(place for place, each in enumerate(TURN) if each is on) for on in (True, False)}
    assert places[True] == places[False]


class Stack:
    """A fake `Bench` on a machine that disturbs the first run of each turn, which has encryption, or all encrypted runs."""

    def __init__(self, disturbs):
        self.runs, self.disturbs = 0, disturbs

    def run(self, **conf):
        self.runs += 1
        on = conf[encryption.ENCRYPTION]
        disturbed = on and (self.disturbs == "all" or self.runs % len(TURN) == 1)
        seconds = 9.0 if disturbed else 1.5 if on else 1.0
        return [
            {**row, "axes": {"batch": "all"}, "disturbed": "throttled" if disturbed else None}
            for row in rows("read", seconds)
        ], []


@pytest.fixture
def bench(monkeypatch):
    def run(disturbs):
        monkeypatch.setattr(encryption, "Bench", lambda: Stack(disturbs))
        return CliRunner().invoke(main, ["--axis", "batch=all", "--repeats", "2"])

    return run


def test_disturbed_attempts_are_in_no_figure_and_their_number_is_said(bench):
    found = bench("the first")
    assert found.exit_code == 0, found.output
    lines = found.output.splitlines()
    assert lines[0] == "turn 1 of 2: ratio_read_all=1.500 (1 disturbed, excluded)"
    assert "max_ratio=1.500 " in lines[-1] and lines[-1].endswith("repeats=4 disturbed=2")


def test_where_all_of_a_kind_were_disturbed_there_is_nothing_to_compare(bench):
    found = bench("all")
    assert found.exit_code == 1
    assert (
        "each attempt of these was disturbed: [('all', 'read', 'executor_encryption', True)]" in found.output
    )
