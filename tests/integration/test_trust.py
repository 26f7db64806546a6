"""Comparisons, summaries and finished repeats of many attempts, in the real database."""

import json
from dataclasses import replace

import psycopg
import pytest
from click.testing import CliRunner

from storebench.attempt.result import AttemptResult
from storebench.cli import main
from storebench.errors import SpecError
from storebench.results.comparison.compare import compare, compare_arms
from storebench.results.comparison.repeats import plan_repeats
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.repository import run_id_of
from storebench.results.forecast.done import verified_repeats
from storebench.results.runs.summary import refresh
from tests.bulk import RANKED_BY, bulk_study
from tests.integration.recorded import ENVIRONMENT, PARAMS, POD, POD_PARAMS, STUDY, timed


def test_two_runs_are_compared_cell_by_cell_and_a_slowdown_is_found(queries, run, cells):
    before = run(cells, 8)
    after = run(cells, 8, lambda cell, turn: (1.2 if cell == cells[1] else 1) * (1 + turn.repeat / 100))
    found = compare(queries, before, after)
    labels = {(key, operation): verdict.label for (key, operation), verdict in found.verdicts.items()}
    assert labels == {
        (cells[0].key, "write"): "the same",
        (cells[0].key, "read"): "the same",
        (cells[1].key, "write"): "worse",
        (cells[1].key, "read"): "worse",
    }
    assert set(found.regressions(0.1)) == {(cells[1].key, "write"), (cells[1].key, "read")}
    assert found.regressions(0.5) == {}
    assert found.differences == []
    assert found.design.units == "repeats" and "a drift of the machine" in found.design.caution


def test_each_metric_is_compared_in_its_own_direction(queries, run, cells):
    before, after = run(cells, 8), run(cells, 8, lambda cell, turn: 1.2 * (1 + turn.repeat / 100))
    labels = {
        metric: {
            verdict.label for verdict in compare(queries, before, after, metric=metric).verdicts.values()
        }
        for metric in (None, "rows_per_s", "work_total_s")
    }
    assert labels == {None: {"worse"}, "rows_per_s": {"worse"}, "work_total_s": {"the same"}}
    rates = compare(queries, after, before, metric="rows_per_s")
    assert {verdict.label for verdict in rates.verdicts.values()} == {"better"} and rates.regressions(
        0.1
    ) == {}
    with pytest.raises(SpecError, match="Unknown metric 'rows'"):
        compare(queries, before, after, metric="rows")


def test_the_runs_of_two_sides_are_compared_turn_by_turn(queries, run, cells):
    before, after = [], []
    for drift in (1.0, 1.3, 1.1, 1.2, 1.4):  # of the machine, from one turn to the next
        before.append(run(cells, 2, lambda cell, turn, drift=drift: drift + turn.repeat / 1000))
        after.append(run(cells, 2, lambda cell, turn, drift=drift: 1.2 * drift + turn.repeat / 1000))
    found = compare(queries, ",".join([*before, before[0]]), ",".join(after))
    assert {
        (verdict.label, verdict.n_before, verdict.n_after, verdict.units_before, verdict.units_after)
        for verdict in found.verdicts.values()
    } == {("worse", 10, 10, 5, 5)}
    assert (found.design.units, found.design.caution) == ("turns", None)
    unmatched = compare(queries, ",".join(before), ",".join(after[:3]))
    assert unmatched.design.units == "runs"
    assert {verdict.label for verdict in unmatched.verdicts.values()} == {"cannot tell"}, "they drift"
    with pytest.raises(SpecError, match="There is no run 'nothing'"):
        compare(queries, before[0], f"{after[0]},nothing")


def noisy(factor, share):
    """Return seconds with this noise."""
    return lambda cell, turn: factor * (1 + share * (turn.repeat * 3 % 5))


@pytest.mark.parametrize(
    ("repeats", "factor", "share", "code", "said"),
    [
        (6, 1.0, 0.005, 0, ""),
        (6, 1.3, 0.005, 1, "4 operations are slower by more than 10 %"),
        (6, 1.0, 0.2, 6, "could hide a change for the worse of 10 %: write bulk_write_read/mongodb"),
        (4, 1.3, 0.005, 6, "too few repeats (A has 4, B 4; 5 at least)"),
    ],
)
def test_a_build_is_green_only_with_evidence(
    database, monkeypatch, run, cells, repeats, factor, share, code, said
):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    before, after = run(cells, repeats, noisy(1.0, share)), run(cells, repeats, noisy(factor, share))
    asked = ["compare", before, after, "--fail-over", "10"]
    found = CliRunner().invoke(main, [*asked, "--single-runs"])
    assert found.exit_code == code, found.output
    assert "a drift of the machine between the two runs looks like a difference" in found.stdout
    assert said in found.stderr and bool(said) == bool(found.stderr)
    unaware = CliRunner().invoke(main, asked)
    assert unaware.exit_code == 6 and "--single-runs" in unaware.stderr


def test_what_b_lacks_or_has_still_to_do_is_named_and_not_green(database, monkeypatch, run, cells):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    before, smaller = run(cells, 6, noisy(1.0, 0.005)), run(cells[:1], 6, noisy(1.0, 0.005))

    def gate(*sides):
        return CliRunner().invoke(main, ["compare", *sides, "--fail-over", "10", "--single-runs"])

    found = gate(before, smaller)
    assert found.exit_code == 6, found.output
    assert f"could hide a change for the worse of 10 %: read {cells[1].key}: B has none" in found.stderr
    assert cells[0].key not in found.stderr
    assert gate(smaller, before).exit_code == 0
    going_on = run(cells, 8, noisy(1.0, 0.005), so_far=12)
    found = gate(before, going_on)
    assert found.exit_code == 6, found.output
    for cell in cells:
        assert f"write {cell.key}: B: 2 to come, in a run that goes on" in found.stderr
    assert f"the run {going_on} still goes on" in found.stdout and going_on in found.stderr
    of_cells = CliRunner().invoke(main, ["compare", cells[0].key, cells[1].key])
    assert f"the run {going_on} still goes on" in of_cells.stdout


def test_a_comparison_as_json_names_the_metric(database, monkeypatch, run, cells):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    asked = ["compare", run(cells[:1], 3), run(cells[:1], 3), "--metric", "rows_per_s", "--format", "json"]
    found = json.loads(CliRunner().invoke(main, asked).stdout)
    assert {(one["metric"], one["unit"]) for one in found["verdicts"]} == {("rows_per_s", "rows/s")}


def test_a_plan_is_printed(database, monkeypatch, run, cells):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    name = run(cells, 6, noisy(1.0, 0.01))
    found = CliRunner().invoke(main, ["plan-repeats", name, "--difference", "20", "--pairs", "33"])
    assert found.exit_code == 0, found.output
    assert "tell a difference of 20 %" in found.stdout and "among 33 pairs" in found.stdout
    plan = json.loads(
        CliRunner().invoke(main, ["plan-repeats", name, "--difference", "20", "--format", "json"]).stdout
    )
    assert plan["units"] == "repeats" and len(plan["operations"]) == plan["pairs"] == 4


def test_a_plan_takes_the_noise_of_the_turns(queries, run, cells):
    runs = [run(cells, 2, lambda cell, turn, n=n: 1 + n / 10 + turn.repeat / 100) for n in (0, 1, 2, 3)]
    turns = plan_repeats(queries, ",".join(runs[::2]), ",".join(runs[1::2]), difference=0.2)
    alone = plan_repeats(queries, ",".join(runs), None, difference=0.2)
    assert (turns.units, alone.units) == ("turns", "runs")
    assert turns.units_needed < alone.units_needed
    assert {(one.cell, one.n) for one in turns.cells} == {(cell.key, 2) for cell in cells}


def test_what_is_unsound_is_said(queries, repository, run, cells):
    before, after = run(cells), run(cells)
    bound = timed(1.0, client_cpu_share=0.95, client_cores_usable=1)
    disturbed = timed(9.0, disturbed="throttled")
    failed = AttemptResult(status="failed", error_kind="store_failed", error="down")
    for name, repeat, result in (
        (before, 1, bound),
        (before, 2, disturbed),
        (after, 1, failed),
        (after, 2, failed),
    ):
        key = AttemptKey(run_id_of(STUDY, name), cells[0].key, repeat, "write", 2)
        repository.add_attempt(
            key, result, PodRecord(), phases={}, metric=RANKED_BY["write"], target=None, dataset=None
        )
    found = compare(queries, before, after)
    assert {key: lines for key, lines in found.remarks.items() if lines} == {
        (cells[0].key, "write"): ["A: 1 of 5 disturbed", "A: 1 of 5 client-bound", "B: 2 of 5 not verified"]
    }
    verdict = found.verdicts[cells[0].key, "write"]
    assert (verdict.n_before, verdict.n_after) == (4, 3)


@pytest.fixture
def again(repository):
    """Record another try of the first repeat of a cell's write in a run."""

    def record(name, cell, **figures):
        key = AttemptKey(run_id_of(STUDY, name), cell.key, 1, "write", 2)
        repository.add_attempt(
            key,
            timed(1.0, **figures),
            PodRecord(),
            phases={},
            metric=RANKED_BY["write"],
            target=None,
            dataset=None,
        )

    return record


def test_where_all_attempts_were_disturbed_there_is_no_verdict(queries, run, cells, again):
    before, after = run(cells[:1], 1), run(cells[:1], 1)
    again(after, cells[0], disturbed="throttled")
    found = compare(queries, before, after)
    assert found.without == {(cells[0].key, "write"): "B has only disturbed attempts"}


def test_sides_of_different_durability_are_marked(queries, run, cells, again):
    before, after = run(cells[:1], 1), run(cells[:1], 1)
    again(before, cells[0], durability="disk", durability_stated="j=true")
    again(after, cells[0], durability="disk", durability_stated="w=majority, j=true")
    found = compare(queries, before, after)
    assert found.remarks[cells[0].key, "write"] == []
    assert found.differences == ["mongodb: durability_stated: j=true -> w=majority, j=true"]
    other = run(cells[:1], 1)
    again(other, cells[0], durability="memory", durability_stated="j=false")
    assert compare(queries, before, other).remarks[cells[0].key, "write"] == ["durability: disk -> memory"]


def test_reads_that_deliver_different_things_are_marked(queries, repository, run, cells):
    before, after = run(cells), run(cells)

    def deliver(name, cell, texts):
        for repeat, delivers in enumerate(texts, 1):
            key = AttemptKey(run_id_of(STUDY, name), cell.key, repeat, "read", 2)
            result = timed(1.0, delivers=delivers)
            repository.add_attempt(
                key, result, PodRecord(), phases={}, metric=RANKED_BY["read"], target=None, dataset=None
            )

    deliver(before, cells[0], ["dicts"] * 5)
    deliver(after, cells[0], ["raw BSON"] * 4 + ["dicts"])
    deliver(before, cells[1], ["dicts"] * 5)  # of the other side's reads it is not known
    remarks = compare(queries, before, after).remarks
    assert {key: lines for key, lines in remarks.items() if lines} == {
        (cells[0].key, "read"): ["A delivers dicts, B dicts or raw BSON"]
    }
    assert compare(queries, before, before).remarks[cells[0].key, "read"] == []


def test_what_differs_beside_is_said(queries, run, cells):
    before = run(cells)
    after = run(cells, environment={**ENVIRONMENT, "kernel": "6.2", "packages": {"pymongo": "5"}})
    assert compare(queries, before, after).differences == [
        "mongodb: kernel: 6.1 -> 6.2",
        "mongodb: packages.pymongo: 4 -> 5",
    ]


def test_parameters_and_code_that_differ_are_said(queries, database, run, cells):
    before, after = run(cells), run(cells, params={**PARAMS, "cpu_limit": True, "pod_memory": "12Gi"})
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE storebench.attempt SET code_version = 'old' WHERE run_id = %s",
            (run_id_of(STUDY, before),),
        )
    code = queries.attempts_of_run(run_id_of(STUDY, after))[0]["code_version"]
    assert compare(queries, before, after).differences == [
        f"mongodb: code_version: old -> {code}",
        "mongodb: cpu_limit: False -> True",
        "mongodb: pod_memory: 8Gi -> 12Gi",
    ]


def test_stores_whose_images_were_built_at_different_commits_do_not_differ(queries, database, run, cells):
    others = [replace(cell, store="delta-rs") for cell in cells]
    before, after = run([*cells, *others]), run([*cells, *others])
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE storebench.attempt SET code_version = 'earlier' WHERE cell_key = ANY(%s)",
            ([cell.key for cell in others],),
        )
    assert compare(queries, before, after).differences == []


def test_a_cell_that_one_side_has_not_is_named(queries, run, cells):
    found = compare(queries, run(cells), run(cells[:1]))
    assert found.without == {(cells[1].key, operation): "B has none" for operation in ("write", "read")}


def test_two_cells_are_compared_over_all_runs(queries, run, cells):
    for _ in range(5):
        run(cells, 4, lambda cell, turn: (2 if cell == cells[1] else 1) * (1 + turn.repeat / 100))
    found = compare(queries, cells[0].key, cells[1].key)
    verdict = found.verdicts["", "write"]
    assert (verdict.label, verdict.n_before, verdict.n_after) == ("worse", 20, 20)
    assert (found.design.units, found.design.matched, verdict.units_after) == ("runs", True, 5)


def test_a_run_and_a_cell_or_an_unknown_run_are_refused(queries, run, cells):
    name = run(cells)
    with pytest.raises(SpecError, match="not a run and a cell"):
        compare(queries, name, cells[0].key)
    with pytest.raises(SpecError, match="There is no run 'nothing'"):
        compare(queries, name, "nothing")


def test_the_arms_of_an_a_a_run_cannot_be_told_apart(queries, run, cells):
    found = compare_arms(queries, run(cells, 8, a_a=True))
    assert {verdict.label for verdict in found.verdicts.values()} == {"the same"}
    assert {(verdict.n_before, verdict.n_after) for verdict in found.verdicts.values()} == {(8, 8)}
    assert (found.design.units, found.design.caution) == ("rounds", None)


def test_a_baseline_is_a_name_for_a_run(queries, repository, run, cells):
    name = run(cells)
    repository.set_baseline("first", run_id_of(STUDY, name))
    assert queries.run_named("baseline:first")["airflow_run_id"] == name


def test_baselines_are_names_for_the_turns_of_a_gate(database, monkeypatch, queries, repository, run, cells):
    """The tutorial's script sets such baselines."""
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    for n in range(1, 6):
        for side in ("old", "new"):
            name = run(cells, 2, lambda cell, turn, n=n: 1 + n / 5 + turn.repeat / 1000)
            repository.set_baseline(f"{side}{n}", run_id_of(STUDY, name))
    sides = [",".join(f"baseline:{side}{n}" for n in range(1, 6)) for side in ("old", "new")]
    found = CliRunner().invoke(main, ["compare", *sides, "--fail-over", "10"])
    assert found.exit_code == 0 and "4 compared: 4 the same" in found.stdout, found.output
    assert compare(queries, *sides).design.units == "turns"


def test_warm_ups_count_nowhere(queries, repository, run, cells):
    name = run(cells, 3, lambda cell, turn: 100.0 if turn.repeat == 0 else 1.0, warm_up=True)
    assert max(row["value"] for row in queries.attempts_of_run(run_id_of(STUDY, name))) == 1.0
    assert any(row["warm_up"] for row in queries.results(run=name))


def test_the_summary_has_an_interval_for_each_environment(queries, repository, database, run, cells):
    run(cells, 7)
    run(cells, 5, environment={**ENVIRONMENT, "kernel": "6.2"})
    refresh(repository, [cell.key for cell in cells])
    refresh(repository, [cell.key for cell in cells])  # again: the same
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT n, median, interval_low, interval_high, interval_coverage FROM storebench.summary"
            " WHERE cell_key = %s AND operation = 'write' AND metric = 'write_s' ORDER BY n",
            (cells[0].key,),
        ).fetchall()
    assert found == [(5, 1.03, None, None, None), (7, 1.04, 1.01, 1.07, 1 - 2 / 2**7)]


def test_the_summary_has_a_line_for_each_metric(repository, database, run, cells):
    run(cells[:1], 6)
    refresh(repository, [cells[0].key])
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT metric, unit, n, median FROM storebench.summary"
            " WHERE cell_key = %s AND operation = 'read' ORDER BY metric",
            (cells[0].key,),
        ).fetchall()
    # Those that the study's charts show; nothing has measured the memory
    assert found == [
        (RANKED_BY["read"], "s", 6, pytest.approx(1.035)),
        ("rows_per_s", "rows/s", 6, pytest.approx(1000 / 1.035, rel=1e-3)),
        ("work_total_s", "s", 6, 7.0),
    ]


def test_an_interval_of_unknown_coverage_is_not_shown(queries, repository, database, run, cells):
    run(cells[:1], 7)
    refresh(repository, [cells[0].key])
    with psycopg.connect(database) as connection:  # as an earlier version left it
        connection.execute(
            "UPDATE storebench.statistic SET interval_coverage = NULL WHERE cell_key = %s", (cells[0].key,)
        )
        found = connection.execute(
            "SELECT n, interval_low, interval_high FROM storebench.summary WHERE cell_key = %s AND metric IN ('write_s', 'only_s')",
            (cells[0].key,),
        ).fetchall()
    assert found == [(7, None, None)] * 2


def test_repeats_with_other_parameters_are_another_line_of_the_summary(repository, database, run, cells):
    run(cells, 3)
    run(cells, 2, params={**PARAMS, "cpu_limit": True})
    refresh(repository, [cell.key for cell in cells])
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT n, parameters ->> 'cpu_limit' FROM storebench.summary"
            " WHERE cell_key = %s AND operation = 'write' AND metric = 'write_s' ORDER BY n",
            (cells[0].key,),
        ).fetchall()
    assert found == [(2, "true"), (3, "false")]


def test_each_attempt_shows_its_parameters(queries, run, cells):
    name = run(cells, 1)
    assert [row["parameters"] for row in queries.results(run=name)] == [POD_PARAMS] * 4


def test_repeats_count_as_done_in_the_same_environment_only(queries, run, cells):
    run(cells, 2)
    run(cells[:1], 3, pod=replace(POD, node="another, alike"))
    assert verified_repeats(bulk_study(), queries, cells, PARAMS) == {cells[0]: 5, cells[1]: 2}
    assert verified_repeats(bulk_study(), queries, cells, PARAMS, lambda store, operation: "i") == {
        cells[0]: 5,
        cells[1]: 2,
    }
    assert verified_repeats(
        bulk_study(), queries, cells, PARAMS, lambda store, operation: "new"
    ) == dict.fromkeys(cells, 0)
    run(cells[:1], 1, environment={**ENVIRONMENT, "server_version": "8"})
    assert verified_repeats(bulk_study(), queries, cells, PARAMS) == {cells[0]: 1, cells[1]: 0}, (
        "the server was upgraded"
    )


def test_repeats_count_as_done_with_the_parameters_asked_for_only(queries, run, cells):
    limited = {**PARAMS, "cpu_limit": True}
    run(cells, 2)
    # a client may make something else of the same server, in another pod
    run(cells[:1], 1, params=limited, environment={**ENVIRONMENT, "client_settings": {"workers": 4}})
    assert verified_repeats(bulk_study(), queries, cells, PARAMS) == {cells[0]: 2, cells[1]: 2}
    assert verified_repeats(bulk_study(), queries, cells, limited) == {cells[0]: 1, cells[1]: 0}
    assert verified_repeats(bulk_study(), queries, cells, {**PARAMS, "pod_memory": "1Gi"}) == dict.fromkeys(
        cells, 0
    )


def test_an_attempt_that_did_not_reach_the_server_says_nothing_of_today(queries, repository, run, cells):
    name = run(cells, 1)
    key = AttemptKey(run_id_of(STUDY, name), cells[0].key, 1, "write", 0)
    unreachable = AttemptResult(error_kind="unreachable", error="x", environment={"kernel": "6.1"})
    repository.add_attempt(
        key, unreachable, PodRecord(), phases={}, metric=RANKED_BY["write"], target=None, dataset=None
    )
    assert verified_repeats(bulk_study(), queries, cells, PARAMS) == {cells[0]: 1, cells[1]: 1}


def test_a_repeat_that_was_disturbed_is_not_done(queries, run, cells, database):
    name = run(cells, 2)
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE storebench.attempt SET disturbed = 'throttled'"
            " WHERE run_id = %s AND cell_key = %s AND repeat = 1 AND operation = 'read'",
            (run_id_of(STUDY, name), cells[0].key),
        )
    assert verified_repeats(bulk_study(), queries, cells, PARAMS) == {cells[0]: 1, cells[1]: 2}


def test_a_repeat_without_a_server_is_done(queries, run, cells):
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "server_name"}
    cells = [
        replace(cell, client=cell.axes[0][1]) for cell in cells
    ]  # each of a client that no other test has
    run(cells, 2, environment=environment)
    assert verified_repeats(bulk_study(), queries, cells, PARAMS) == {cells[0]: 2, cells[1]: 2}


def test_a_repeat_of_other_code_is_not_done(queries, database, run, cells):
    name = run(cells, 1)
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE storebench.attempt SET code_version = 'another' WHERE run_id = %s AND operation = 'read'",
            (run_id_of(STUDY, name),),
        )
    assert verified_repeats(bulk_study(), queries, cells, PARAMS) == {cells[0]: 1, cells[1]: 1}, (
        "what the newest ran is today's"
    )
    run(cells[:1], 1)
    assert verified_repeats(bulk_study(), queries, cells, PARAMS) == {cells[0]: 1, cells[1]: 0}
