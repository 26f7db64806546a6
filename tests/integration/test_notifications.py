"""The notifications of docs/how-to/airflow.md: real messages about runs in the real database, to a mail server of the test."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from airflow.sdk import DAG, Asset

from storebench.results.database.repository import run_id_of
from storebench.results.statistics.changes import MIN_LEVEL
from tests.integration.mail_server import mail_server
from tests.integration.recorded import STUDY

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "airflow.md").read_text()
BEFORE = 12  # runs before the change


@pytest.fixture
def mailbox(database, monkeypatch):
    """Yield the messages that the connection `smtp_default` has sent."""
    with mail_server() as server:
        extra = {"disable_ssl": True, "disable_tls": True, "retry_limit": 1}
        mail = {"conn_type": "smtp", "host": "127.0.0.1", "port": server.server_address[1], "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_SMTP_DEFAULT", json.dumps(mail))
        monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
        yield server.messages


def example(heading):
    """Return the names of the Python file below a heading of the page."""
    _, _, section = PAGE.partition(f"## {heading}\n")
    (text,) = re.findall(r"```python\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    return text


def test_a_mail_tells_of_each_finished_run_and_once_of_a_regression(run, cells, mailbox):
    cell, *_ = cells
    runs, names = [], {}
    exec(example("Be told of a finished run, and of a regression"), names)
    mail = names["dag"].get_task("mail").python_callable
    for number in range(BEFORE + 2 * MIN_LEVEL):
        level = 1.5 if number >= BEFORE else 1.0
        name = run([cell], 1, lambda *_, n=number, level=level: level + n * 7 % 11 / 1000)
        runs.append(run_id_of(STUDY, name))
        if number >= BEFORE:
            event = SimpleNamespace(extra={"run": runs[-1], "verified": 2, "disturbed": 0})
            mail({Asset(f"storebench://{STUDY}"): [event]})
    sent = dict(zip(runs[BEFORE:], mailbox, strict=True))
    (found,) = [run_id for run_id in sent if "regressions" in sent[run_id]["Subject"]]
    assert runs.index(found) - BEFORE + 1 in (MIN_LEVEL - 1, MIN_LEVEL), (
        "about the fifth run after the change"
    )
    message = sent.pop(found)
    assert message["Subject"] == f"{found}: 2 regressions", "of the write and of the read"
    assert (message["To"], message["From"]) == ("team@example.com", "storebench@example.com")
    line = (
        re.escape(f"{cell.key}, write: worse since the run ")
        + r"(\S+), write_s 1 s before and 1.5\d* s after"
    )
    (since,) = re.findall(line, message.get_body().get_content())
    assert since in runs[BEFORE - 1 : BEFORE + 1]
    for run_id, other in sent.items():
        assert other["Subject"] == f"{run_id} has finished"
        assert "No change." in other.get_body().get_content()


def test_a_mail_tells_of_a_failed_run(mailbox):
    dag = DAG(STUDY, schedule=None)
    exec(example("Be told of a failed run"), {"dag": dag})
    dag.on_failure_callback({"dag": dag, "run_id": "manual__1", "reason": "task_failure"})
    (message,) = mailbox
    assert message["Subject"] == f"{STUDY}/manual__1 has failed"
    assert "task_failure" in message.get_body().get_content()
