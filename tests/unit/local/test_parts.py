"""Which parts of the stack a run's stores need."""

import os

import pytest

from local.stack import parts
from local.stack.settings import Settings
from storebench.errors import SpecError


@pytest.mark.parametrize(
    ("stores", "needed"),
    [
        (["mongodb"], {"mongodb"}),
        (["elasticsearch", "null"], {"elasticsearch"}),
        (["delta-rs"], set()),
        (["delta-spark", "mongodb"], {"jvm", "mongodb"}),
        (["mongodb@v8"], set()),  # a server of the user's own
    ],
)
def test_a_part_is_needed_by_the_stores_of_its_server_or_image(stores, needed):
    assert parts.needed_by(stores) == needed


def test_an_unknown_store_is_refused_before_anything_is_built():
    with pytest.raises(SpecError, match=r"Unknown store 'mongo'\. Did you mean mongodb"):
        parts.needed_by(["mongo"])


def test_what_is_started_is_known_to_the_next_start(tmp_path):
    settings = Settings(home=tmp_path, own=frozenset())
    assert parts.started(settings) == set()
    settings.run.mkdir()
    parts.record(settings, {"mongodb", "elasticsearch"})
    assert parts.started(settings) == {"mongodb", "elasticsearch"}
    parts.forget(settings, "elasticsearch")
    assert parts.started(settings) == {"mongodb"}


def test_a_server_that_is_asked_for_again_is_new_again(tmp_path):
    settings = Settings(home=tmp_path, own=frozenset())
    settings.run.mkdir()
    parts.record(settings, {"mongodb", "elasticsearch"})
    for server in ("mongodb", "elasticsearch"):
        os.utime(settings.run / "servers" / server, (1000, 1000))
    parts.record(settings, {"mongodb"})
    assert parts.asked_at(settings, "elasticsearch") == 1000 < parts.asked_at(settings, "mongodb")
    assert parts.started(settings) == {"mongodb", "elasticsearch"}


def test_a_server_has_the_stores_of_its_connection():
    assert {server: parts.stores_of(server) for server in parts.SERVERS} == {
        "mongodb": ["mongodb"],
        "elasticsearch": ["elasticsearch"],
    }
