import httpx
import pytest

from storebench import trigger
from storebench.errors import SpecError, StoreUnreachable
from storebench.trigger import Airflow, conf_of, embedded_sizes

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


def test_options_override_the_preset():
    conf = conf_of("study", {**NOTHING, "rows": 1000})
    assert conf["rows"] == 1000
    assert conf["batch_sizes"] == ["10000", "100000", "all"]
    assert conf["executors"] == ["1", "2", "4"]


def test_a_machine_of_ones_own_gets_the_sizes_of_the_study_only_where_it_has_any():
    assert conf_of("study", NOTHING)["driver_memory"] == "4g"
    assert conf_of("study", NOTHING, embedded=True)["driver_memory"] == "2g"
    assert conf_of("quick", NOTHING, embedded=True) == {"full_grid": False}
    assert embedded_sizes("study") == {"executor_memory": "1g", "driver_memory": "2g"}
    assert embedded_sizes("quick") == embedded_sizes(None) == {}


def test_any_parameter_can_be_given_as_json():
    assert conf_of(None, NOTHING, ("startup_timeout_s=5",)) == {"startup_timeout_s": 5}


@pytest.mark.parametrize(("preset", "extra"), [("big", ()), (None, ("rows",)), (None, ("rows=many",))])
def test_bad_words_are_refused(preset, extra):
    with pytest.raises(SpecError):
        conf_of(preset, NOTHING, extra)


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
        return httpx.Response(200, json={"state": "success"})

    found = Airflow("http://airflow", "user", "password")
    found._http = httpx.Client(base_url=found.url, transport=httpx.MockTransport(answer))
    found.failures, found.lists = failures, lists
    monkeypatch.setattr(trigger, "POLL_INTERVAL_S", 0.01)
    monkeypatch.setattr(trigger, "PATIENCE_S", 0.5)
    return found


def test_a_run_is_followed_through_a_restart_of_airflow(airflow):
    airflow.failures += [httpx.ConnectError("refused"), None, 500, httpx.ReadTimeout("slow"), None, 503]
    assert airflow.follow("dag", "run", lambda _: None) == "success"
    assert airflow.failures == []


def test_an_airflow_that_stays_away_is_named(airflow):
    airflow.failures += [httpx.ConnectError("refused")] * 1000
    with pytest.raises(StoreUnreachable, match="Airflow at http://airflow does not answer: refused"):
        airflow.follow("dag", "run", lambda _: None)


def test_what_airflow_refuses_is_not_asked_again(airflow):
    airflow.failures += [None, 404]
    with pytest.raises(SpecError, match="404"):
        airflow.follow("dag", "run", lambda _: None)
    assert airflow.failures == []


def test_a_task_that_was_started_anew_is_one_task(airflow):
    task = {"task_id": "plan", "map_index": -1, "rendered_map_index": None, "task_display_name": "plan"}
    lost = {**task, "id": "1", "state": "running", "start_date": "1", "end_date": None, "duration": None}
    anew = {**task, "id": "2", "state": "success", "start_date": "2", "end_date": "3", "duration": 1.0}
    airflow.lists += [[lost], [], [anew]]
    said = []
    assert airflow.follow("dag", "run", said.append) == "success"
    assert said[:2] == ["[0/1] plan: running", "[1/1] plan: success after 1.0 s"]


@pytest.mark.parametrize("at_first", [None, "0"])
def test_a_turn_is_reported_once_it_has_its_name(airflow, at_first):
    task = {"id": "1", "task_id": "cell.write", "map_index": 0, "task_display_name": "cell.write"}
    task |= {"state": "running", "start_date": "1", "end_date": None, "duration": None}
    named = {**task, "rendered_map_index": "null #1"}
    ended = {**named, "state": "success", "end_date": "2", "duration": 1.0}
    airflow.lists += [[{**task, "rendered_map_index": at_first}], [named], [ended]]
    said = []
    assert airflow.follow("dag", "run", said.append) == "success"
    assert said[:2] == ["[0/1] cell.write null #1: running", "[1/1] cell.write null #1: success after 1.0 s"]


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
