import pytest

from storebench import stores
from storebench.errors import SpecError
from storebench.stores.mongodb import MongoDB


def test_a_store_may_be_on_several_servers():
    assert stores.load("mongodb") is stores.load("mongodb@v8") is MongoDB
    assert stores.connection("mongodb") == "mongodb"
    assert stores.connection("mongodb@v8") == "mongodb_v8"
    assert stores.connection("delta-rs") == "s3"
    assert stores.connection("delta-rs@west") == "s3", "its tables are in the dataset's"
    assert stores.connection("null") is stores.connection("null@west") is None


@pytest.mark.parametrize("name", ["mongodb@", "mongodb@a-b", "mongodb@" + "x" * 31, "x@y"])
def test_a_server_that_cannot_be_is_refused(name):
    with pytest.raises(SpecError):
        stores.load(name)


@pytest.mark.parametrize("name", stores.REGISTRY)
def test_each_store_says_what_a_read_delivers_by_each_of_its_clients(name):
    store = stores.load(name)
    assert len(store.delivers) == len(store.clients) and all(store.delivers)
