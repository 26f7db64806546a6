import httpx
import pytest

from storebench import studies, trigger
from storebench.airflow.params import defaults_of, grid_of
from storebench.errors import SpecError, StoreUnreachable
from storebench.trigger import Airflow, conf_of

NOTHING = dict.fromkeys(["rows", "seed", "stores", "clients", "batches", "executors", "repeats", "keep_data"])


def test_what_is_not_given_is_left_to_the_dag():
    assert conf_of(None, NOTHING) == {}


def test_lists_are_split_and_named_as_the_dag_names_them():
    given = {**NOTHING, "stores": "mongodb, null", "batches": "100,all", "rows": 20000}
    assert conf_of(None, given) == {
        "stores": ["mongodb", "null"],
        "batch_sizes": ["100", "all"],
        "rows": 20000,
    }


@pytest.fixture(scope="module")
def study():
    return studies.find("bulk_write_read")


def test_options_override_the_preset(study):
    conf = conf_of(study.preset("study"), {**NOTHING, "rows": 1000})
    assert conf["rows"] == 1000
    assert conf["batch_sizes"] == ["10000", "100000", "all"]
    assert conf["executors"] == ["1", "2", "4"]


def test_a_machine_of_ones_own_gets_the_sizes_of_the_study_only_where_it_has_any(study):
    assert conf_of(study.preset("study"), NOTHING)["driver_memory"] == "4g"
    assert conf_of(study.preset("study"), NOTHING, embedded=True)["driver_memory"] == "2g"
    assert conf_of(study.preset("tour"), NOTHING, embedded=True) == {"full_grid": False}


def test_the_first_preset_has_each_store_once_at_two_batch_sizes_that_differ_in_the_order_of_their_parts(
    study,
):
    quick = conf_of(study.preset(next(iter(study.presets))), NOTHING)
    cells = grid_of(study, defaults_of(study, quick)).cells
    stores = list(dict.fromkeys(cell.store for cell in cells))
    assert set(stores) == set(study.stores)
    assert stores[:2] == ["mongodb", "elasticsearch"] and stores[-1] == "delta-spark"
    for store in stores:
        own = [cell for cell in cells if cell.store == store]
        assert {cell.client for cell in own} == {"reference"}
        calls = {-(-cell.rows // int(value)) for cell in own if (value := cell.value("batch")) != "all"}
        assert len(own) == 2 and min(calls) >= 10
    assert {cell.value("executors") for cell in cells} == {"1", None}


def test_any_parameter_can_be_given_as_json():
    assert conf_of(None, NOTHING, ("startup_timeout_s=5",)) == {"startup_timeout_s": 5}


@pytest.mark.parametrize("extra", ["rows", "rows=many"])
def test_what_is_no_json_is_refused(extra):
    with pytest.raises(SpecError, match="is not NAME=JSON"):
        conf_of(None, NOTHING, (extra,))


def test_an_unknown_preset_is_refused_with_those_that_there_are(study):
    with pytest.raises(
        SpecError, match=r"Unknown preset 'quik'. Did you mean quick\? There are quick, tour, study"
    ):
        study.preset("quik")


@pytest.fixture
def airflow(monkeypatch):
    """An Airflow whose run has ended; its next answers' failures and its next lists of tasks can be set."""
    failures: list = []
    lists: list = []

    def answer(request):
        if failures and (failure := failures.pop(0)):
            if isinstance(failure, int):
                return httpx.Response(failure, json={"detail": "its database is away"})
            raise failure
        if request.url.path == "/auth/token":
            return httpx.Response(201, json={"access_token": "t"})
        if request.url.path.endswith("/taskInstances"):
            tasks = lists.pop(0) if lists else []
            return httpx.Response(200, json={"task_instances": tasks, "total_entries": len(tasks)})
        if "/logs/" in request.url.path:
            return httpx.Response(200, json={"content": found.log})
        return httpx.Response(200, json={"state": "success"})

    found = Airflow("http://airflow", "user", "password")
    found._http = httpx.Client(base_url=found.url, transport=httpx.MockTransport(answer))
    found.failures, found.lists = failures, lists
    monkeypatch.setattr(trigger, "POLL_INTERVAL_S", 0.01)
    monkeypatch.setattr(trigger, "PATIENCE_S", 0.5)
    return found


def test_a_run_is_followed_through_a_restart_of_airflow(airflow):
    airflow.failures += [httpx.ConnectError("refused"), None, 500, httpx.ReadTimeout("slow"), None, 503]
    assert airflow.wait("dag", "run", lambda _: None) == "success"
    assert airflow.failures == []


def test_an_airflow_that_stays_away_is_named(airflow):
    airflow.failures += [httpx.ConnectError("refused")] * 1000
    with pytest.raises(StoreUnreachable, match="Airflow at http://airflow does not answer: refused"):
        airflow.wait("dag", "run", lambda _: None)


def test_what_airflow_refuses_is_not_asked_again(airflow):
    airflow.failures += [None, 404]
    with pytest.raises(SpecError, match="404"):
        airflow.wait("dag", "run", lambda _: None)
    assert airflow.failures == []


def test_a_task_that_was_started_anew_is_one_task(airflow):
    task = {"task_id": "plan", "map_index": -1, "rendered_map_index": None, "task_display_name": "plan"}
    lost = {**task, "id": "1", "state": "running", "start_date": "1", "end_date": None, "duration": None}
    anew = {**task, "id": "2", "state": "success", "start_date": "2", "end_date": "3", "duration": 1.0}
    airflow.lists += [[lost], [], [anew]]
    said = []
    assert airflow.wait("dag", "run", said.append) == "success"
    assert said == ["[1/1] plan: success"]


def test_a_task_that_failed_is_reported_with_its_reason(airflow):
    task = {
        "id": "1",
        "task_id": "cell.write",
        "map_index": 0,
        "task_display_name": "cell.write",
        "try_number": 1,
    }
    task |= {"rendered_map_index": "null #1", "state": "failed", "start_date": "1", "end_date": "2"}
    airflow.lists += [[task], [task]]
    airflow.log = [{"error_detail": [{"exc_value": "out of memory"}]}]
    said = []
    airflow.wait("dag", "run", said.append)
    assert said == ["[1/1] cell.write null #1: failed: out of memory"]


def test_the_state_of_a_run_is_airflows_and_none_where_it_was_deleted(airflow):
    assert airflow.run_state("dag", "manual__2026-01-01T00:00:00+00:00") == "success"
    airflow.failures += [404]
    assert airflow.run_state("dag", "run") is None
    airflow.failures += [403]
    with pytest.raises(SpecError, match="403"):
        airflow.run_state("dag", "run")


def test_a_variable_that_there_is_not_is_none(airflow):
    airflow.failures += [None, 404]
    assert airflow.variable("storebench_airflow_id") is None
