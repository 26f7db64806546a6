"""The DAG files of docs/how-to/airflow.md, which Airflow loads beside the studies of dags/."""

import re
import sys
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from storebench.airflow.compat.priority import CellByCell
from storebench.airflow.compat.timetable import GridTimetable
from storebench.airflow.dags.study import study_dag
from storebench.study import studies

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "airflow.md"


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """Return the DAGs of the page by name."""
    from airflow.dag_processing.dagbag import DagBag

    folder = tmp_path_factory.mktemp("dags")
    for name, text in re.findall(r"```python\n# dags/(\w+\.py)\n(.*?)```", PAGE.read_text(), re.DOTALL):
        (folder / name).write_text(text)
    for name, text in re.findall(
        r"```python\n# at the end of dags/(\w+\.py)\n(.*?)```", PAGE.read_text(), re.DOTALL
    ):
        file = folder / name
        file.write_text((file if file.exists() else studies.folder() / name).read_text() + text)
    bag = DagBag(dag_folder=str(folder), bundle_name="dags-folder")
    assert bag.import_errors == {}
    return bag.dags


def test_a_dag_starts_after_a_study_and_reads_what_the_last_step_tells(examples, capsys):
    study = study_dag(studies.find("bulk_write_read"))
    (finished,) = study.get_task("aggregate").outlets
    dag = examples["after_bulk_write_read"]
    assert dag.timetable.asset_condition.objects == (finished,)
    event = SimpleNamespace(extra={"run": "bulk_write_read/manual__1", "verified": 4, "disturbed": 1})
    dag.get_task("tell").python_callable({finished: [event]})
    assert "bulk_write_read/manual__1: 4 verified operations, 1 of them disturbed" in capsys.readouterr().out


def test_the_scheduler_knows_that_a_failed_run_is_to_be_told(examples, monkeypatch):
    from airflow import plugins_manager
    from airflow.serialization.serialized_objects import DagSerialization

    for name, ours in (("timetables", GridTimetable), ("priority_weight_strategy", CellByCell)):
        known = {f"{ours.__module__}.{ours.__qualname__}": ours}
        monkeypatch.setattr(plugins_manager, f"get_{name}_plugins", lambda known=known: known)
    dag = examples["bulk_write_read"]
    assert DagSerialization.from_dict(DagSerialization.to_dict(dag)).has_on_failure_callback


def test_a_late_run_is_reported_by_airflows_deadline(examples, capsys):
    from airflow.serialization.decoders import decode_deadline_alert
    from airflow.serialization.encoders import encode_deadline_alert

    (alert,) = examples["bulk_write_read"].deadline
    stored = decode_deadline_alert(encode_deadline_alert(alert))  # as the scheduler reads it
    assert (
        stored.interval == timedelta(hours=6) and stored.reference.reference_name == "DagRunQueuedAtDeadline"
    )
    module, _, name = alert.callback.path.rpartition(".")
    tell = getattr(sys.modules[module], name)
    tell(
        context={"dag_run": {"dag_id": "bulk_write_read", "dag_run_id": "manual__1"}}, **alert.callback.kwargs
    )
    assert "bulk_write_read/manual__1 has not ended within 6 hours" in capsys.readouterr().out
