"""Repeats, through the real Airflow: their order, warm-ups, arms, and when they stop."""

from tests.e2e.harness import run, storebench


def test_the_turns_of_an_a_a_run_are_interleaved_after_a_warm_up_compared_and_replayed():
    code, text, rows = run(
        *("--stores", "null", "--batches", "500", "--repeats", "2"),
        *("--param", "a_a=true", "--param", "warm_up=true", "--param", "order_seed=3"),
    )
    assert code == 0, text
    writes = [(row["repeat"], row["arm"], row["warm_up"]) for row in rows if row["operation"] == "write"]
    assert writes[0] == (0, None, True)
    arms = [arm for _, arm, _ in writes[1:]]
    assert [sorted(arms[n : n + 2]) for n in (0, 2)] == [["A", "B"]] * 2, "each round has both"
    compared = storebench("compare", rows[0]["run"], "--a-a")
    assert compared.returncode == 0 and "noise floor" in compared.stdout
    replayed = storebench("replay", rows[0]["run"])
    assert replayed.returncode == 0 and '"order_seed": 3' in replayed.stdout


def test_a_cell_is_repeated_until_it_is_known_well_enough():
    code, text, rows = run("--batches", "500", "--repeats", "8", "--param", "precision_percent=100")
    assert code == 0, text
    last = max(row["repeat"] for row in rows)
    assert 5 <= last < 8, "each looks at all before it, and five are the least"
    assert {row["repeat"] for row in rows} == set(range(1, last + 1)), "in order, none left out between them"
    assert "skipped" in text
