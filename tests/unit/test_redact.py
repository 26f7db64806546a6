"""No text that leaves a pod or a task has a secret of a connection."""

import json
import os
import subprocess
import sys
from urllib.parse import quote, quote_plus

import pytest

from storebench import redact
from storebench.airflow.outcome.result_check import check_result
from storebench.attempt.result import AttemptResult
from storebench.connection import Connection
from storebench.connection.forms import FORMS
from storebench.errors import SpecError, StorebenchError, StoreRefused
from storebench.study.studies import find

SECRET = "S3cr3t '\"\\@/:%#?é"
TOKEN = "T0ken+/=="


@pytest.mark.parametrize(
    "form", [str, quote, quote_plus, lambda text: quote(text, safe=""), json.dumps, repr]
)
def test_a_secret_is_cut_out_in_every_form(form):
    Connection(
        "toy", login="bench", password=SECRET, extra={"aws_session_token": TOKEN, "api_key": "k3y-of-api"}
    )
    text = f"server said {form(SECRET)}, {form(TOKEN)} and {form('k3y-of-api')} of bench"
    found = redact.redacted(text)
    assert found.count(redact.MASK) == 3, found
    assert "S3cr3t" not in found and "T0ken" not in found and "k3y" not in found and "bench" in found


def test_quoted_in_small_letters_too():
    Connection("toy", password="p/w:d@word")
    assert redact.redacted("mongodb://u:p%2fw%3ad%40word@db") == f"mongodb://u:{redact.MASK}@db"


def test_a_login_of_http_is_cut_out():
    Connection("toy", login="elastic", password=SECRET)
    assert redact.redacted(f"Basic {redact.basic('elastic', SECRET)}") == f"Basic {redact.MASK}"


def test_a_password_in_an_address_is_a_secret_even_where_the_connection_is_refused():
    with pytest.raises(SpecError):
        Connection("mongodb", host="mongodb://u:p%40ssw0rd@db/app")
    with pytest.raises(SpecError):
        Connection("s3", extra={"endpoint_url": "http://k:0therSecret@s3"})
    assert redact.redacted("p%40ssw0rd p@ssw0rd 0therSecret") == " ".join([redact.MASK] * 3)


def test_a_short_password_is_cut_out_as_a_word_and_cuts_no_word_apart():
    Connection("toy", password="a")
    assert redact.redacted("a bad password: 'a'") == f"{redact.MASK} bad password: '{redact.MASK}'"


@pytest.mark.parametrize("name", FORMS)
def test_an_error_has_no_secret_of_any_stores_connection(name):
    """Whatever a client says: the error that its store makes of it is a StorebenchError, or becomes a result's text."""
    place = {} if name == "s3" else {"host": "db"}
    place |= {"schema": "bench"} if name == "postgresql" else {}
    extra = {"aws_session_token": TOKEN} if name == "s3" else {}
    try:
        Connection(name, **place, login="bench", password=SECRET, extra=extra)
    except SpecError as error:  # of a kind without passwords
        assert name in ("hdfs", "ozone", "zeo") and "S3cr3t" not in str(error)
    assert "S3cr3t" not in str(
        StoreRefused(f"the client said {SECRET}, {quote(SECRET, safe='')} and {TOKEN}")
    )
    result = AttemptResult(error=f"ValueError: {SECRET} {TOKEN}", disturbed=SECRET)
    result.without_secrets()
    assert "S3cr3t" not in result.to_json()


def test_a_row_has_none_where_the_pod_has_said_one():
    """The pod runs another program, which does not remove secrets itself."""
    Connection("toy", password=SECRET)
    study = find("bulk_write_read")
    said = AttemptResult(error_kind="store_failed", error=f"login failed: {SECRET}")
    assert check_result(said, study, study.operations[0]).error == f"login failed: {redact.MASK}"


STORES = [
    ("bulk_write_read", "mongodb", {"host": "127.0.0.1", "port": 1}),
    ("bulk_write_read", "elasticsearch", {"host": "127.0.0.1", "port": 1}),
    ("bulk_write_read", "delta-rs", None),
    ("point_operations", "mongodb", {"host": "127.0.0.1", "port": 1}),
    ("point_operations", "cassandra", {"host": "127.0.0.1", "port": 1}),
    ("column_scan", "mariadb", {"host": "127.0.0.1", "port": 1}),
]


@pytest.mark.parametrize(("study", "store", "place"), STORES)
def test_the_pod_of_a_store_hands_back_and_prints_no_secret(study, store, place, tmp_path):
    """The whole attempt, in a process of its own, with a client that says the password of the connection in its error."""
    login = {"login": "bench", "password": SECRET}
    s3 = {**login, "extra": {"endpoint_url": "http://127.0.0.1:1", "aws_session_token": TOKEN}}
    axes = {"batch": "10"} if study == "bulk_write_read" else {"consistency": "one"}
    spec = {
        "study": study, "store": store, "client": "reference", "operation": "drop", "rows": 10, "seed": 1,
        "cell_key": "k", "target": "t", "bucket": "b", "dataset": "d", "results": "r", "axes": axes, "options": {},
        "version": 1,
    }  # fmt: skip
    program = tmp_path / "attempt.py"
    program.write_text(
        "import sys\n"
        "from storebench.attempt import run\n"
        "from storebench.stores import load\n"
        f"store = load({study!r}, {store!r})\n"
        "connect = store.connect\n"
        "def broken(self):\n"
        "    connection = self.server\n"
        "    raise ValueError(f'the client says {connection.password!r} and {connection.extra} of {connection}')\n"
        "store.connect = broken\n"
        "sys.exit(run.main())\n"
    )
    left = tmp_path / "message"
    variable = (store if place else "s3").upper()
    done = subprocess.run(
        [sys.executable, str(program)],
        env={
            **os.environ,
            "STOREBENCH_ATTEMPT": json.dumps(spec),
            "STOREBENCH_TERMINATION_LOG": str(left),
            "STOREBENCH_CONN_S3": json.dumps(s3),
            f"STOREBENCH_CONN_{variable}": json.dumps({**place, **login} if place else s3),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    texts = done.stdout + done.stderr + left.read_text()
    assert "the client says" in left.read_text(), texts
    assert redact.MASK in texts and "S3cr3t" not in texts and "T0ken" not in texts


def test_every_error_of_the_project_is_redacted():
    Connection("toy", password=SECRET)
    for kind in (StorebenchError, *StorebenchError.__subclasses__()):
        assert str(kind(f"with {SECRET}")) == f"with {redact.MASK}"
