import pytest

from storebench.errors import unknown

STORES = ["delta-kernel", "delta-rs", "elasticsearch", "mongodb", "null"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mongo", "Did you mean mongodb?"),
        ("Elastic", "Did you mean elasticsearch?"),
        ("delta-r", "Did you mean delta-rs or delta-kernel?"),
    ],
)
def test_what_was_perhaps_meant_is_named(name, meant):
    text = str(unknown("store", name, STORES))
    assert text == f"Unknown store {name!r}. {meant} There are {', '.join(STORES)}"


def test_nothing_is_guessed_where_nothing_is_near():
    assert str(unknown("store", "mysql", ["null"])) == "Unknown store 'mysql'. There is null"
    assert str(unknown("run", "x", [])) == "Unknown run 'x'. There is none"
