"""The attributes that all stores of the bulk study declare."""

import pytest

from tests.bulk import bulk_study

STUDY = bulk_study()
STORES = STUDY.stores


@pytest.mark.parametrize("name", STORES)
def test_each_store_says_what_a_read_delivers_by_each_of_its_clients(name):
    store = STUDY.store(name)
    assert len(store.delivers) == len(store.clients) and all(store.delivers)


@pytest.mark.parametrize("name", STORES)
def test_each_store_is_known_by_its_own_name_and_has_operations_of_the_study(name):
    store = STUDY.store(name)
    assert store.name == name
    assert set(store.operations) <= {operation.name for operation in STUDY.operations}


@pytest.mark.parametrize("name", STORES)
def test_what_a_store_needs_and_has_not_one_that_has_it_does(name):
    lacking = {
        needed
        for operation in STUDY.operations_of(name)
        for needed in operation.needs
        if needed not in {one.name for one in STUDY.operations_of(name)} and not STUDY.operation(needed).where
    }
    filler = STUDY.store(name).filled_by
    assert bool(lacking) == bool(filler)
    if filler:
        assert lacking <= {one.name for one in STUDY.operations_of(filler)}
