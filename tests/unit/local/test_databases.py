"""Databases for users' stores: valid names, and the access of pods by the server's rules."""

import json

import pytest
from click.testing import CliRunner

from local.stack import databases, render
from local.stack.__main__ import main
from local.stack.settings import Settings, StackError
from storebench.cli.airflow_api import Airflow, NotFound

RULES = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"


@pytest.fixture
def settings(tmp_path, monkeypatch):
    (tmp_path / "steps").mkdir()
    monkeypatch.setenv("STOREBENCH_HOME", str(tmp_path))
    return Settings(home=tmp_path, own=frozenset())


def test_pods_get_one_rule_which_follows_the_network():
    first = databases.rules(RULES, "10.244.0.0/24")
    assert first.startswith(RULES) and len(first.splitlines()) == 3
    assert first.splitlines()[-1].split()[:5] == [
        "host",
        "/^store_",
        "/^store_",
        "10.244.0.0/24",
        "scram-sha-256",
    ]
    assert databases.rules(first, "10.244.0.0/24") == first
    assert databases.rules(first, "10.99.0.0/24") == first.replace("10.244", "10.99")


def test_the_server_listens_where_pods_find_it(settings):
    server = render.project(settings)["processes"]["postgres-results"]["entrypoint"]
    assert f"--listen_addresses=127.0.0.1,{settings.gateway}" in server


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "is no name of a database"),
        ("My", "is no name of a database"),
        ("a-b", "is no name of a database"),
        ("x'; --", "is no name of a database"),
        ("a" * 31, "at most 30"),
        ("results", "connections of the kind results are to other servers"),
        ("mongodb_v9", "connections of the kind mongodb are to other servers"),
        ("kubernetes", "connections of the kind kubernetes are to other servers"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(name, words):
    with pytest.raises(StackError, match=words):
        databases.check_name(name)


def test_names_of_stores_can_be_used():
    for name in ("postgresql", "my_store", "v2"):
        databases.check_name(name)


def test_without_a_stack_it_says_what_to_do(settings):
    done = CliRunner().invoke(main, ["database", "mine"])
    assert isinstance(done.exception, StackError) and "`make up` starts it" in str(done.exception)


@pytest.mark.parametrize("known", [True, False])
def test_the_connection_leads_to_the_database_whether_or_not_it_was_there(settings, monkeypatch, known):
    made, asked = [], []

    class Nowhere:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    monkeypatch.setattr(databases, "superuser", lambda *place: Nowhere())
    monkeypatch.setattr(databases, "ensure", lambda connection, *names: made.append(names))

    class Api(Airflow):
        def call(self, method, path, *, json):
            asked.append((method, path, json))
            if method == "PATCH" and not known:
                raise NotFound("no such connection")

    client = Api("http://127.0.0.1", "user", "password")
    secrets = {"results_password": "x"}
    assert databases.make_for_store(settings, secrets, "mine", client) == "storebench_mine"
    methods = ["PATCH"] if known else ["PATCH", "POST"]
    assert [method for method, _, _ in asked] == methods
    body = asked[-1][2]
    assert made == [("store_mine", databases.password_of(secrets, "mine"))]
    assert (body["connection_id"], body["login"], body["schema"]) == (
        "storebench_mine",
        "store_mine",
        "store_mine",
    )
    assert (body["host"], body["port"]) == (settings.gateway, settings.ports["results"])
    assert json.loads(body["extra"]) == {"usage_url": f"{settings.url('usage')}/results"}
