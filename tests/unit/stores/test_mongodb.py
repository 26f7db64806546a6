import pytest

from storebench.connection import Connection
from storebench.stores.mongodb import identify, uri


@pytest.mark.parametrize(
    ("build", "status", "name", "version"),
    [
        (
            {
                "version": "7.0.77",
                "gitVersion": "b" * 40,
                "storageEngines": ["x"],
                "ferretdb": {"version": "v2.7.0"},
            },
            {"ferretdb": {"postgresql": "18.1", "documentdb": "1.0.0"}},
            "FerretDB",
            "v2.7.0",
        ),
        ({"version": "6.0.42", "ferretdbVersion": "v1.24.0"}, {}, "FerretDB", "v1.24.0"),
        (
            {
                "version": "8.0.4",
                "gitVersion": "bc35ab4305d9920d9d0491c1c9ef9b72383d31f9",
                "storageEngines": ["wt"],
            },
            {"storageEngine": {"name": "wiredTiger"}},
            "MongoDB",
            "8.0.4",
        ),
        ({"version": "5.0.0"}, {}, "unknown server of the MongoDB protocol", "5.0.0"),
    ],
)
def test_the_server_that_answered_is_named(build, status, name, version):
    server = identify(build, status, {"system": {"numCores": 4}})
    assert (server.name, server.version, server.settings["cores"]) == (name, version, 4)
    unknown = identify(build, "not permitted", "not permitted")
    assert (unknown.name, unknown.version) == (name, version)
    assert {"serverStatus": "not permitted", "hostInfo": "not permitted"}.items() <= unknown.settings.items()
    assert not {"cores", "storage_engine"} & unknown.settings.keys(), "what is unknown is not guessed"


def test_a_mongod_may_use_fewer_cores_than_its_machine_has():
    host = {"system": {"numCores": 64, "numCoresAvailableToProcess": 2}}
    assert identify({"version": "5"}, {}, host).settings == {"cores": 2}


def test_login_and_password_are_escaped_in_the_uri():
    server = Connection("mongodb", host="db", port=27018, login="a@b", password="p/w:d")
    assert uri(server) == "mongodb://a%40b:p%2Fw%3Ad@db:27018/?"


def test_options_and_scheme_come_from_the_connection():
    server = Connection("mongodb", host="db", extra={"scheme": "mongodb+srv", "options": "tls=true"})
    assert uri(server) == "mongodb+srv://db/?tls=true"
