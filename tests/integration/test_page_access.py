"""The page's API for a user who may read the DAG of one study, while another study has runs, too."""

import uuid
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from storebench.airflow.compat import api_server
from storebench.airflow.compat.api_server import get_user
from storebench.results.leftovers.stopped import RunStates
from storebench.study.cell import Cell
from storebench.study.studies import find
from storebench.web import access
from storebench.web.access import run_states
from storebench.web.api import app
from storebench.web.reading import Reading
from storebench.web.report import content_of
from tests.integration.recorded import STUDY

OTHER = "column_scan"
UNKNOWN = "unheard_of"


@pytest.fixture(autouse=True)
def both(repository, run, cells):
    """Record a run of each study."""
    run(cells, 1)
    repository.start_run(
        study=find(OTHER),
        dag_id=OTHER,
        airflow_run_id=f"manual__{uuid.uuid4().hex}",
        params={},
        turns=[],
        order_seed=1,
        skipped={},
    )


@pytest.fixture
def reader_of(database, monkeypatch):
    """Yield the API for a user who may only read these DAGs. Airflow's own tests cover its users."""

    def client(*dags):
        asked = []

        def authorized(*, method, details, user):
            assert (method, user) == ("GET", "somebody")
            asked.append(details.id)
            return details.id in dags

        manager = SimpleNamespace(is_authorized_dag=authorized)
        monkeypatch.setattr(api_server, "get_auth_manager", lambda: manager)
        monkeypatch.setattr(access.connections, "reader_dsn", lambda: database)
        app.dependency_overrides = {
            get_user: lambda: "somebody",
            run_states: lambda: RunStates(lambda *_: "running", lambda *_: None, lambda: None),
        }
        return TestClient(app)

    yield client
    app.dependency_overrides = {}


def answer(client, path, **query):
    found = client.get(f"/api/{path}", params=query)
    return found.status_code, found.json()


def asked_of(study):
    """Return every request of the API that names a study or one of its cells."""
    cell = Cell(study, "null", "reference", (), 1000, 7).key
    return {
        "study": {"name": study},
        "claims": {"study": study},
        "ranking": {"study": study},
        "history": {"cell": cell, "operation": "write"},
        "server-sizes": {"study": study},
    }


def test_a_studys_definition_is_for_those_who_may_read_its_dag(reader_of):
    client = reader_of(STUDY)
    assert answer(client, "study", name=STUDY)[0] == 200
    assert answer(reader_of(OTHER, STUDY), "study", name=OTHER)[1]["name"] == OTHER
    client = reader_of(STUDY)
    for path, query in asked_of(OTHER).items():
        status, found = answer(client, path, **query)
        unknown = answer(client, path, **asked_of(UNKNOWN)[path])
        assert status == 404, path
        # As for a study that is not there, also in what it says that there is.
        assert found["detail"].replace(OTHER, UNKNOWN) == unknown[1]["detail"], path
        assert found["detail"].count(OTHER) == 1, path


def test_only_studies_whose_dags_one_may_read_are_listed(reader_of, cells):
    seed = cells[0].seed
    listed = answer(reader_of(STUDY), "ranking", study=STUDY, seed=seed)[1]["studies"]
    assert listed == [STUDY]
    both = answer(reader_of(STUDY, OTHER), "ranking", study=STUDY, seed=seed)[1]["studies"]
    assert {STUDY, OTHER} <= set(both)


def test_who_may_read_no_dag_is_told_nothing(reader_of):
    client = reader_of()
    for path, query in (asked_of(STUDY) | asked_of(OTHER)).items():
        assert answer(client, path, **query)[0] == 403, path


def test_reading_for_all_dags_has_all_studies(database):
    dags = Reading(database, []).dags()
    read = Reading(database, dags)
    assert {STUDY, OTHER} <= set(read.studies()) == set(read.study_names())
    assert Reading(database, []).studies() == {}
    assert content_of(read, read.run_named("latest", STUDY)["id"])["study"].name == STUDY
