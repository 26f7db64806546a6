"""Entities, the entities that reads request, and the comparison of a table."""

import itertools
from collections import Counter
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebench.errors import VerificationFailed
from storebench.stores.point_operations.check import PROBE, Written, check_table, compare_table
from storebench.stores.point_operations.entities import BITS, entity, number_of
from storebench.stores.point_operations.keys import drawn, kinds

ROWS, SEED = 50, 3


@given(seed=st.integers(0, 2**31), number=st.integers(0, 2**BITS - 1))
def test_an_id_tells_its_number_and_is_a_random_uuid(seed, number):
    found = entity(seed, number)
    assert number_of(seed, found.id) == number and (found.id.version, found.id.variant) == (
        4,
        "specified in RFC 4122",
    )
    assert found == entity(seed, number)


def test_an_entity_never_changes():
    assert entity(42, 1) == (
        UUID("abbcac5a-ddc9-49bf-ab37-78c613b344c3"),
        "Carla Popa",
        18,
        "The new office waits for two tickets. The supplier compares the last invoice.",
        "178 Market Street, 66726 Ghent",
        "+18 326134261",
        "carla.popa6585@example.com",
    )


def test_entities_of_other_seeds_are_others():
    assert len({entity(seed, number).id for seed in range(5) for number in range(1_000)}) == 5_000


def test_uniform_keys_ask_for_each_as_often_and_zipf_for_few():
    counts = {}
    for name in ("uniform", "zipf"):
        keys = list(itertools.islice(drawn(name, 1_000, 1, 0), 200_000))
        assert (min(keys), max(keys)) == (0, 999)
        counts[name] = sorted(Counter(keys).values(), reverse=True)
    assert counts["uniform"][0] < 1.5 * 200
    shares = np.arange(1, 1_001, dtype=float) ** -0.99
    for rank in (0, 1, 9):
        assert counts["zipf"][rank] == pytest.approx(200_000 * shares[rank] / shares.sum(), rel=0.05)


def test_keys_are_the_same_each_time_and_others_in_each_stream():
    first = list(itertools.islice(drawn("zipf", 500, 1, 0), 100))
    assert first == list(itertools.islice(drawn("zipf", 500, 1, 0), 100))
    assert first != list(itertools.islice(drawn("zipf", 500, 1, 1), 100))
    assert set(itertools.islice(drawn("uniform", 1, 1, 0), 100)) == {0}


def test_a_mix_has_its_share_of_reads_the_same_ones_each_time():
    first = list(itertools.islice(kinds(0.95, 1, 0), 100_000))
    assert sum(first) / len(first) == pytest.approx(0.95, abs=0.005)
    assert first == list(itertools.islice(kinds(0.95, 1, 0), 100_000))
    assert first[:1_000] != list(itertools.islice(kinds(0.95, 1, 1), 1_000))


def table():
    return [tuple(entity(SEED, number)) for number in range(ROWS)]


def test_a_whole_table_in_any_order_is_right():
    assert check_table(reversed(table()), SEED, Written.of(ROWS, ())).startswith("50 acknowledged entities")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows[1:], "1 of 50 acknowledged entities are not in the table"),
        (lambda rows: [*rows, rows[0]], "twice"),
        (lambda rows: [*rows, tuple(entity(SEED, ROWS))], "which nobody has written"),
        (lambda rows: [*rows, tuple(entity(SEED + 1, 0))], "which nobody has written"),
        (lambda rows: [(*rows[0][:6], "x@y"), *rows[1:]], "has other fields than were written"),
        (lambda rows: [(*rows[0][:2], None, *rows[0][3:]), *rows[1:]], "has other fields than were written"),
        (lambda rows: [], "50 of 50"),
    ],
)
def test_a_table_that_is_not_right_is_found(change, says):
    with pytest.raises(VerificationFailed, match=says):
        check_table(change(table()), SEED, Written.of(ROWS, ()))


def test_what_is_lost_and_what_is_doubled_after_a_fault_is_counted():
    rows = [*table()[3:], *table()[10:12], tuple(entity(SEED, PROBE + 7))]
    found = compare_table(rows, SEED, Written.of(ROWS, ()))
    assert (found.acknowledged, found.lost, found.doubled, found.unsure) == (ROWS, 3, 2, 0)
    assert found.first_lost == entity(SEED, 0).id and found.first_doubled == entity(SEED, 10).id


@pytest.mark.parametrize("change", [(None,), ("x@y",)])
def test_a_probe_with_other_fields_is_an_entity_that_nobody_wrote(change):
    with pytest.raises(VerificationFailed, match="which nobody has written"):
        check_table([(*entity(SEED, PROBE)[:6], *change)], SEED, Written.of(ROWS, ()))
