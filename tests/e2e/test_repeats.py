"""Repeats, through the real Airflow: their order, warm-ups and arms. When they stop: drills/test_repeats.py."""

from tests.e2e.harness import finished_one_by_one, run, storebench


def test_the_turns_of_an_a_a_run_are_interleaved_after_a_warm_up_compared_and_replayed():
    code, text, rows = run(
        *("--stores", "null", "--axis", "batch=500", "--repeats", "2"),
        *("--param", "a_a=true", "--param", "warm_up=true", "--param", "order_seed=3"),
    )
    assert code == 0, text
    assert finished_one_by_one(rows) == {("null", "500", repeat) for repeat in range(5)}
    writes = [(row["repeat"], row["arm"], row["warm_up"]) for row in rows if row["operation"] == "write"]
    assert writes[0] == (0, None, True)
    assert sorted((repeat, arm) for repeat, arm, _ in writes[1:]) == [
        (number, "BA"[number % 2]) for number in range(1, 5)
    ]
    arms = [arm for _, arm, _ in writes[1:]]
    assert [sorted(arms[n : n + 2]) for n in (0, 2)] == [["A", "B"]] * 2, "each round has both"
    compared = storebench("compare", rows[0]["run"], "--a-a")
    assert compared.returncode == 0 and "noise floor" in compared.stdout
    replayed = storebench("replay", rows[0]["run"])
    assert replayed.returncode == 0 and '"order_seed": 3' in replayed.stdout
