import pytest

from storebench.connection import Connection
from storebench.errors import SpecError


def test_airflows_json_is_read():
    text = '{"host": "h", "port": "27017", "login": "u", "password": "p", "extra": "{\\"a\\": 1}"}'
    found = Connection.from_json("toy", text)
    assert (found.host, found.port, found.login, found.password, found.extra) == (
        "h",
        27017,
        "u",
        "p",
        {"a": 1},
    )


def test_a_password_is_never_shown():
    assert "hunter2" not in repr(
        Connection.from_json("toy", '{"password": "hunter2", "extra": {"key": "hunter2"}}')
    )


@pytest.mark.parametrize(
    "text", ["hunter2", '["hunter2"]', '{"port": "hunter2"}', '{"extra": "hunter2"}', "[" * 100_000]
)
def test_a_malformed_connection_is_an_error_that_does_not_repeat_it(text):
    with pytest.raises(SpecError) as caught:
        Connection.from_json("s3", text)
    assert "hunter2" not in str(caught.value)


def test_a_missing_secret_is_named(monkeypatch):
    monkeypatch.delenv("STOREBENCH_CONN_MONGODB", raising=False)
    with pytest.raises(SpecError, match="STOREBENCH_CONN_MONGODB is not set"):
        Connection.from_environment("mongodb")
