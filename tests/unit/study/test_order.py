from collections import Counter
from itertools import pairwise

import pytest

from storebench.study.order import WARM_UP, Turn, turns
from tests.unit.example import cell


def cells(*names):
    return [cell(store, batch=batch) for store, batch in (name.split("/") for name in names)]


FOUR = cells("mongodb/10", "mongodb/20", "null/10", "null/20")


def test_each_round_visits_every_cell_once():
    order = turns(dict.fromkeys(FOUR, 5), 1)
    assert Counter(turn.cell for turn in order) == dict.fromkeys(FOUR, 5)
    for number in range(5):
        one_round = order[4 * number : 4 * number + 4]
        assert {turn.cell for turn in one_round} == set(FOUR)
        assert {turn.repeat for turn in one_round} == {number + 1}


def test_the_same_seed_gives_the_same_order_and_another_one_another():
    repeats = dict.fromkeys(FOUR, 3)
    assert turns(repeats, 7) == turns(repeats, 7)
    assert len({tuple(turns(repeats, seed)) for seed in range(20)}) > 10


@pytest.mark.parametrize("seed", range(50))
def test_no_cell_begins_the_round_after_one_that_it_has_ended(seed):
    order = turns(dict.fromkeys(FOUR[:2], 3), seed)
    assert all(one.cell != other.cell for one, other in pairwise(order))


def test_rounds_differ_in_their_order():
    order = turns(dict.fromkeys(FOUR, 20), 1)
    assert len({tuple(turn.cell for turn in order[n : n + 4]) for n in range(0, 80, 4)}) > 5


def test_an_order_that_is_not_random_is_the_one_given_in_each_round():
    order = turns(dict.fromkeys(FOUR, 2), 1, shuffled=False)
    assert [turn.cell for turn in order] == [*FOUR, *FOUR]


def test_a_cell_that_needs_fewer_repeats_takes_part_in_fewer_rounds():
    order = turns({FOUR[0]: 1, FOUR[1]: 3}, 1)
    assert Counter(turn.cell for turn in order) == {FOUR[0]: 1, FOUR[1]: 3}


def test_a_warm_up_of_each_store_comes_first_and_is_marked():
    order = turns(dict.fromkeys(FOUR, 2), 1, warm_up=True)
    assert [(turn.cell, turn.repeat) for turn in order[:2]] == [(FOUR[0], WARM_UP), (FOUR[2], WARM_UP)]
    assert all(turn.repeat > WARM_UP for turn in order[2:])
    assert order[0].label == "mongodb reference batch=10 warm-up"


def test_an_a_a_run_visits_each_cell_in_two_arms_in_each_round():
    order = turns(dict.fromkeys(FOUR, 3), 1, a_a=True)
    assert Counter(turn.arm for turn in order) == {"A": 12, "B": 12}
    for number in range(3):
        one_round = order[8 * number : 8 * number + 8]
        assert Counter((turn.cell, turn.arm) for turn in one_round) == {(c, a): 1 for c in FOUR for a in "AB"}
    numbers = [turn.repeat for turn in order if turn.cell == FOUR[0]]
    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]


def test_no_cell_no_turn():
    assert turns({}, 1, warm_up=True, a_a=True) == []


def test_a_label_tells_the_turns_of_a_cell_apart():
    assert Turn(FOUR[0], 3, "B").label == "mongodb reference batch=10 #3 (B)"


def by_store(cell):
    return cell.store


@pytest.mark.parametrize("seed", range(20))
def test_cells_that_belong_together_follow_one_another_with_all_their_rounds(seed):
    order = turns(dict.fromkeys(FOUR, 3), seed, together=by_store, warm_up=True)
    stores = [turn.cell.store for turn in order]
    assert stores in (["mongodb"] * 7 + ["null"] * 7, ["null"] * 7 + ["mongodb"] * 7)
    for half in (order[:7], order[7:]):
        assert [turn.repeat for turn in half] == [WARM_UP, 1, 1, 2, 2, 3, 3]


def test_groups_are_shuffled_too_unless_nothing_is():
    firsts = {turns(dict.fromkeys(FOUR, 1), seed, together=by_store)[0].cell.store for seed in range(20)}
    assert firsts == {"mongodb", "null"}
    given = turns(dict.fromkeys(FOUR, 1), 1, together=by_store, shuffled=False)
    assert [turn.cell for turn in given] == FOUR


def test_a_run_with_one_group_has_the_order_that_it_always_had():
    assert turns(dict.fromkeys(FOUR, 3), 7, together=lambda cell: "all") == turns(dict.fromkeys(FOUR, 3), 7)
