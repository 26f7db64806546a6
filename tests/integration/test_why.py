"""Figures that go along with a verdict, from recorded attempts: phases, pods, counters and settings, in the API and the command."""

from itertools import count

import pytest
from click.testing import CliRunner

from storebench.cli import main
from storebench.protocol.profiles import packed
from storebench.study.observing import WALL, disturbed_by
from tests.integration.recorded import ENVIRONMENT
from tests.integration.test_page import client, get

__all__ = ["client"]


def figures(refreshes, server_cpu_s, odd):
    """Return the figures of attempts. `odd`: a figure that differs by chance only."""
    turn = count()

    def of(cell, operation):
        n = next(turn) // 2  # of a write and a read
        grown = {
            "refreshes": ("", refreshes + n % 2),
            "gc_s": ("s", odd + n % 3),
            "restarted": ("", -5),
            "idle": ("", 0),
        }
        counters = {
            name: {"unit": unit, "kind": "counter", "before": 10, "after": 10 + value}
            for name, (unit, value) in grown.items()
        }
        counters["segments"] = {"unit": "", "kind": "gauge", "before": 50, "after": 20 + n % 4}
        counters["unread"] = {"unit": "", "kind": "counter", "unknown": "refused"}
        usage = [
            {"role": "server", "name": f"s-{pod}", "cpu_s": server_cpu_s + n % 5 / 100, "read_bytes": half}
            for pod, half in enumerate([5000 + n % 3, None])
        ]
        return {"counters": counters, "cpu_s": 0.5 + n % 7 / 100, "usage": usage}

    return of


def environment(refresh):
    return {**ENVIRONMENT, "server_settings": {"refresh": refresh}}


@pytest.fixture
def sides(run, cells):
    """Record two runs whose B takes twice as long: 0.8 s of the second more are in its barrier, and its server refreshes eightfold."""
    phases = (
        {"operation": 0.9, "barrier": 0.1, "verify": 1},
        {"operation": 1.1, "barrier": 0.9, "verify": 9},
    )
    return [
        run(
            cells[:1],
            6,
            lambda cell, turn, more=more: 1 + more + turn.repeat / 100,
            environment(interval),
            figures=figures(refreshes, cpu_s, odd=3),
            phases=phases[more],
        )
        for more, refreshes, cpu_s, interval in ((0, 0, 0.2, "30s"), (1, 8, 0.4, "1s"))
    ]


def test_a_verdict_names_what_goes_along_with_it(client, sides):
    before, after = sides
    (verdict,) = [
        one
        for one in get(client, "compare", before=before, after=after)["verdicts"]
        if one["operation"] == "write"
    ]
    why = verdict["why"]
    assert why["differences"] == [{"name": "server_settings.refresh", "before": ["30s"], "after": ["1s"]}]
    assert [(one["kind"], one["name"]) for one in why["figures"]] == [
        ("counter", "refreshes"),
        ("phase", "barrier"),
        ("pods", "servers_cpu_s"),
        ("phase", "operation"),
    ]
    refreshes, barrier, cpu, _ = why["figures"]
    assert (refreshes["ratio"], refreshes["median_before"], refreshes["share"]) == (None, 0.5, None)
    assert barrier["share"] == pytest.approx(0.8, abs=0.02) and barrier["ratio"] == pytest.approx(9)
    assert cpu["share"] == pytest.approx(0.4, abs=0.02), "of both servers"
    assert cpu["ratio_low"] < cpu["ratio"] < cpu["ratio_high"]
    # with the collections, the segments and the client's CPU time; without the read bytes, which are unknown of one server
    assert (why["looked_at"], why["too_few"]) == (7, 0)


def test_the_functions_of_profiled_runs_go_along_with_a_verdict(client, run, cells, sides):
    for refresh, samples in (("30s", 2), ("1s", 92)):
        stacks, _ = packed({"main (a.py);send (b.py)": samples, "main (a.py)": 10})
        taken = {"python_wall": {"sampler": "py-spy", "hz": 100, "samples": samples + 10, "stacks": stacks}}
        profiled = {"profiles": taken, "disturbed": disturbed_by(WALL)}
        run(cells[:1], 1, environment=environment(refresh), figures=lambda *of, found=profiled: found)
    before, after = sides
    verdicts = get(client, "compare", before=before, after=after)["verdicts"]
    assert len(verdicts) == 2, "the profiled attempts count nowhere"
    for verdict in verdicts:
        *tested, function = verdict["why"]["figures"]
        assert (function["kind"], function["name"], function["seen_in"]) == ("function", "send (b.py)", 2)
        assert (function["median_before"], function["median_after"]) == (0.02, 0.92)
        assert function["share"] == pytest.approx(0.9, abs=0.02)
        assert {one["seen_in"] for one in tested} == {None}


def test_no_difference_needs_no_explanation(client, run, cells):
    one, other = (run(cells[:1], 6, figures=figures(0, 0.2, odd=3)) for _ in "AB")
    verdicts = get(client, "compare", before=one, after=other)["verdicts"]
    assert {verdict["verdict"] for verdict in verdicts} == {"the same"}
    assert {verdict["why"] for verdict in verdicts} == {None}


def test_the_command_prints_at_most_five_lines_or_all(database, monkeypatch, sides):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    monkeypatch.setenv("COLUMNS", "200")

    def block(*arguments):
        done = CliRunner().invoke(main, ["compare", *sides, *arguments])
        assert done.exit_code == 0, done.output
        lines = done.stdout.splitlines()
        (start,) = [n for n, line in enumerate(lines) if line.startswith("slower: write ")]
        end = next(n for n in range(start + 1, len(lines)) if not lines[n].startswith("  "))
        return lines[start:end]

    short = block()
    assert len(short) == 5 and short[0].startswith("slower: write") and "(1 more with --why)" in short[0]
    assert short[1] == "  differs: server_settings.refresh: 30s -> 1s"
    assert short[2].startswith("  counter refreshes: 0.500 -> 8.50") and "B / A" not in short[2]
    assert (
        short[3].startswith("  phase barrier: 100 ms -> 900 ms, B / A 9.000") and "covers 80% of" in short[3]
    )
    whole = block("--why")
    assert any(line.startswith("  phase operation") for line in whole)
    assert whole[-1] == "  4 of 7 figures that vary differ"
