import http.server
import json
import re
import threading
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from urllib3 import ProxyManager

from storebench import http_client, patience
from storebench.cli import airflow_api
from storebench.cli.airflow_api import Airflow
from storebench.errors import SpecError, StoreUnreachable
from storebench.planning.conf import axis_values_of, conf_of, replaced
from storebench.planning.params import grid_of, run_values
from storebench.study import studies
from storebench.study.model import Preset
from tests.unit.example import STUDY

NOTHING = dict.fromkeys(["rows", "seed", "stores", "clients", "repeats", "keep_data"])


def test_what_is_not_given_is_left_to_the_dag():
    assert conf_of(None, NOTHING) == {}


def test_what_is_given_is_left_to_the_dag_to_read():
    given = {**NOTHING, "stores": "mongodb, null", "rows": 20000, "batch": ["100", "all"]}
    assert conf_of(None, given) == {"stores": "mongodb, null", "rows": 20000, "batch": ["100", "all"]}


def test_values_of_axes_come_as_one_text():
    assert axis_values_of("batch=1000,all executors=2", STUDY) == {
        "batch": ["1000", "all"],
        "executors": ["2"],
    }
    assert axis_values_of(" executors=1,2,  batch=10 ", STUDY) == {"executors": ["1", "2"], "batch": ["10"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("batches=1", "Unknown axis 'batches'. Did you mean batch? There are batch, executors"),
        ("batch", "--axis 'batch' is not AXIS=VALUE,VALUE, such as batch=1"),
        ("batch=", "--axis 'batch=' is not AXIS=VALUE,VALUE"),
        ("batch=,", "--axis 'batch=,' is not AXIS=VALUE,VALUE"),
        ("batch=10, all", "--axis 'all' is not AXIS=VALUE,VALUE"),
    ],
)
def test_a_text_that_names_no_places_is_refused(text, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        axis_values_of(text, STUDY)


def test_a_study_without_axes_says_so():
    with pytest.raises(SpecError, match=r"Unknown axis 'batch'. There is none"):
        axis_values_of("batch=1", replace(STUDY, axes=(), charts=()))


@pytest.fixture(scope="module")
def study():
    return studies.find("bulk_write_read")


def test_options_override_the_preset(study):
    conf = conf_of(study.preset("study"), {**NOTHING, "rows": 1000})
    assert conf["rows"] == 1000
    assert conf["batch"] == ["10000", "100000", "all"]
    assert conf["executors"] == ["1", "2", "4"]


@pytest.mark.parametrize(
    ("repeats", "extra", "random"),
    [
        (None, (), False),
        (1, (), False),
        (6, (), True),
        (None, ("repeats=6",), True),
        (None, ("a_a=true",), True),
        (None, ("random_order=true",), True),
        (6, ("random_order=false",), False),
    ],
)
def test_the_first_preset_keeps_the_order_of_its_stores_only_where_each_cell_is_measured_once(
    study, repeats, extra, random
):
    quick = study.preset(next(iter(study.presets)))
    conf = conf_of(quick, {**NOTHING, "stores": "mongodb,elasticsearch", "repeats": repeats}, extra)
    assert run_values(study, conf)["random_order"] is random


def test_a_machine_of_ones_own_gets_the_sizes_of_the_study_only_where_it_has_any(study):
    own, embedded = (conf_of(study.preset("study"), NOTHING, embedded=there) for there in (False, True))
    assert own["stores"][2:] == ["mongodb@sharded", "elasticsearch@three"]
    assert embedded["stores"][2:] == ["mongodb", "elasticsearch"]
    memory = ("driver_memory", "executor_memory")
    assert [[conf[name] for name in memory] for conf in (own, embedded)] == [["2g", "4g"], ["2g", "1g"]]
    assert conf_of(study.preset("tour"), NOTHING, embedded=True) == {"full_grid": False}


def test_what_a_preset_has_on_the_embedded_cluster_is_said_with_what_it_replaces(study):
    preset = study.preset("study")
    conf = conf_of(preset, NOTHING, embedded=True)
    stores = "stores: mongodb instead of mongodb@sharded, elasticsearch instead of elasticsearch@three"
    assert replaced(preset, conf) == f"{stores}; executor_memory: 1g instead of 4g"
    asked = conf_of(preset, {**NOTHING, "stores": "mongodb"}, embedded=True)
    assert replaced(preset, asked) == "executor_memory: 1g instead of 4g"
    assert replaced(preset, conf_of(preset, NOTHING)) == ""
    other = Preset("", {"batch": ["10", "20"]}, {"batch": ["10"], "rows": 5})
    assert replaced(other, other.embedded) == "batch: 10 instead of 10, 20; rows: 5 instead of the default"
    without = Preset("", {"server_cpu": "2"}, embedded={"server_cpu": None})
    assert replaced(without, without.embedded) == "server_cpu: the default instead of 2"


def test_the_first_preset_has_each_default_store_once_at_two_batches_that_differ_in_the_order_of_their_parts(
    study,
):
    quick = conf_of(study.preset(next(iter(study.presets))), NOTHING)
    cells = grid_of(study, run_values(study, quick)).cells
    stores = list(dict.fromkeys(cell.store for cell in cells))
    assert set(stores) == set(study.default_stores)
    assert stores[:2] == ["mongodb", "elasticsearch"] and stores[-1] == "delta-spark"
    for store in stores:
        own = [cell for cell in cells if cell.store == store]
        assert {cell.client for cell in own} == {"reference"}
        calls = {-(-cell.rows // int(value)) for cell in own if (value := cell.value("batch")) != "all"}
        assert len(own) == 2 and min(calls) >= 10
    assert {cell.value("executors") for cell in cells} == {"1", None}


def test_any_parameter_can_be_given_as_json():
    assert conf_of(None, NOTHING, ("startup_timeout_s=5",)) == {"startup_timeout_s": 5}


@pytest.mark.parametrize(
    "extra",
    ["rows", "rows=many", "rows=NaN", r'stores=["\u0000"]', pytest.param("rows=" + "[" * 9_000, id="deep")],
)
def test_what_is_no_json_is_refused(extra):
    with pytest.raises(SpecError, match="is not NAME=JSON"):
        conf_of(None, NOTHING, (extra,))


@pytest.mark.parametrize(
    ("extra", "typed"),
    [
        ("cache=banana", """--param 'cache="banana"'"""),
        ("banana", """--param 'banana="text"'"""),
        ('cache="hot', """--param 'cache="\\"hot"'"""),
        ("note=it's", """--param 'note="it'"'"'s"'"""),
    ],
)
def test_a_text_without_quotes_is_told_how_to_be_typed(extra, typed):
    with pytest.raises(SpecError, match=re.escape(f"In a shell, a text is typed so: {typed}")):
        conf_of(None, NOTHING, (extra,))


def test_an_unknown_preset_is_refused_with_those_that_there_are(study):
    with pytest.raises(
        SpecError, match=r"Unknown preset 'quik'. Did you mean quick\? There are quick, tour, study"
    ):
        study.preset("quik")


@pytest.fixture
def airflow(monkeypatch):
    """Return an Airflow whose run has ended. Tests can set failures of answers, and lists of tasks."""
    failures: list = []
    lists: list = []
    asked: list = []
    paths: list = []

    def response(status, content):
        return http_client.Answer(status, "", {}, json.dumps(content).encode())

    def answer(method, address, *, http, body=None, headers, timeout_s):
        url = urlsplit(address)
        paths.append(url.path)
        if failures and (failure := failures.pop(0)):
            if isinstance(failure, int):
                return response(failure, {"detail": "its database is away"})
            raise failure
        if url.path == "/auth/token":
            return response(201, {"access_token": "t"})
        if url.path.endswith("/taskInstances"):
            tasks = lists.pop(0) if lists else []
            return response(200, {"task_instances": tasks, "total_entries": len(tasks)})
        if url.path.endswith("/dagRuns") and method == "GET":
            asked.append(url)
            return response(200, {"dag_runs": [{"dag_run_id": name} for name in "abc"]})
        if url.path.endswith("/dagRuns"):
            return response(200, {"dag_run_id": "manual__1"})
        if "/logs/" in url.path:
            return response(200, {"content": found.log})
        return response(200, {"state": "success", "end_date": "2026-01-01T12:00:00Z"})

    found = Airflow("http://airflow", "user", "password")
    monkeypatch.setattr(http_client, "ask", answer)
    found.failures, found.lists, found.asked, found.paths = failures, lists, asked, paths
    monkeypatch.setattr(airflow_api, "POLL_INTERVAL_S", 0.01)
    monkeypatch.setattr(patience, "LONGEST_WAIT_S", 0.01)
    monkeypatch.setattr(airflow_api, "PATIENCE_S", 0.5)
    return found


class Api(http.server.BaseHTTPRequestHandler):
    """Airflow's API for a login and a new run."""

    def do_POST(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        token = self.headers.get("Authorization")
        self.server.requests.append((self.path, self.headers["Content-Type"], token, json.loads(content)))
        self.send_response(201)
        self.end_headers()
        self.wfile.write(json.dumps({"access_token": "t", "dag_run_id": "manual__1"}).encode())

    def log_message(self, *_):
        pass


def test_a_run_is_triggered_over_http():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        server.requests = []
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        airflow = Airflow(f"http://127.0.0.1:{server.server_port}/", "user", "password")
        assert airflow.trigger("dag", {"rows": 5}) == "manual__1"
        server.shutdown()
    login = {"username": "user", "password": "password"}
    assert server.requests == [
        ("/auth/token", "application/json", None, login),
        (
            "/api/v2/dags/dag/dagRuns",
            "application/json",
            "Bearer t",
            {"logical_date": None, "conf": {"rows": 5}},
        ),
    ]


def test_a_run_is_followed_through_a_restart_of_airflow(airflow):
    airflow.failures += [http_client.NoAnswer("refused"), None, 500, http_client.NoAnswer("slow"), None, 503]
    assert airflow.wait("dag", "run", lambda _: None) == "success"
    assert airflow.failures == []


def test_the_runs_before_one_are_those_of_its_dag_that_are_older_and_go_on(airflow):
    assert airflow.runs_before("dag", "c") == ["a", "b"]
    assert airflow.runs_before("dag", "a") == []
    assert airflow.asked[0].path == "/api/v2/dags/dag/dagRuns"
    assert parse_qs(airflow.asked[0].query)["state"] == ["queued", "running"]


def test_the_runs_in_a_pool_are_those_of_its_running_tasks(airflow):
    task = {"dag_id": "other", "dag_run_id": "r", "start_date": None}
    airflow.lists.append([task, task])
    assert airflow.runs_in_pool("benchmark") == [("other", "r")]


def test_an_airflow_that_stays_away_is_named(airflow):
    airflow.failures += [http_client.NoAnswer("refused")] * 1000
    with pytest.raises(StoreUnreachable, match="Airflow at http://airflow does not answer: refused"):
        airflow.wait("dag", "run", lambda _: None)


def test_what_airflow_refuses_is_not_asked_again(airflow):
    airflow.failures += [None, 404]
    with pytest.raises(SpecError, match="404"):
        airflow.wait("dag", "run", lambda _: None)
    assert airflow.failures == []


def test_a_study_whose_file_is_new_is_waited_for(airflow):
    said = []
    airflow._token = "t"
    airflow.failures += [404, 404]
    assert airflow.trigger_when_known("new", {}, said.append) == "manual__1"
    assert airflow.failures == []
    assert said == ["Airflow does not know new yet: waiting until it has found the file"]


def test_a_study_that_airflow_never_finds_is_refused(airflow, monkeypatch):
    monkeypatch.setattr(airflow_api, "KNOWN_WITHIN_S", 0.1)
    airflow._token = "t"
    airflow.failures += [404] * 1000
    with pytest.raises(SpecError, match=r"Airflow refused \(404\)"):
        airflow.trigger_when_known("new", {}, lambda _: None)


def test_a_run_that_airflow_refuses_is_not_waited_for(airflow):
    airflow._token = "t"
    airflow.failures += [422, None]
    with pytest.raises(SpecError, match=r"Airflow refused \(422\)"):
        airflow.trigger_when_known("new", {}, lambda _: None)
    assert airflow.failures == [None]


def test_a_token_that_has_expired_is_renewed(airflow):
    airflow._token = "old"
    airflow.failures += [401]
    assert airflow.run_state("dag", "run") == "success"
    assert airflow._token == "t"


def test_a_login_that_is_refused_is_no_token_that_has_expired(airflow):
    airflow.failures += [None, 401, None]
    with pytest.raises(SpecError, match="401"):
        airflow.run_state("dag", "run")
    assert airflow.failures == [None], "a token that is new is not renewed"


@pytest.mark.parametrize(
    ("url", "proxied"),
    [
        ("http://127.0.0.1:18080", False),
        ("http://localhost:18080", False),
        ("http://[::1]:18080", False),
        ("https://airflow.example.net", True),
    ],
)
def test_airflow_on_this_machine_is_not_asked_through_a_proxy(url, proxied, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.net:3128")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.net:3128")
    used = Airflow(url, "user", "password")._http
    assert isinstance(used, ProxyManager) is proxied


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


def test_the_end_of_a_run_is_airflows(airflow):
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert airflow.run_ended_at("dag", "run") == noon
    assert [look.ended_at for look in airflow.watch("dag", "run")] == [noon]
    airflow.failures += [404]
    assert airflow.run_ended_at("dag", "run") is None


def test_the_state_of_a_run_is_airflows_and_none_where_it_was_deleted(airflow):
    assert airflow.run_state("dag", "manual__2026-01-01T00:00:00+00:00") == "success"
    airflow.failures += [404]
    assert airflow.run_state("dag", "run") is None
    airflow.failures += [403]
    with pytest.raises(SpecError, match="403"):
        airflow.run_state("dag", "run")


def test_the_id_of_a_run_may_have_any_character_in_every_request(airflow):
    task = {"id": "1", "task_id": "plan", "map_index": -1, "try_number": 1, "state": "failed"}
    task |= {"rendered_map_index": None, "task_display_name": "plan", "start_date": "1", "end_date": "2"}
    airflow.lists += [[task], []]
    airflow.log = []
    run = "manual__2026-01-01T00:00:00+00:00/a b?#"
    airflow.wait("dag", run, lambda _: None)
    airflow.run_state("dag", run)
    quoted = "/api/v2/dags/dag/dagRuns/manual__2026-01-01T00%3A00%3A00%2B00%3A00%2Fa%20b%3F%23"
    asked = set(airflow.paths) - {"/auth/token"}
    assert asked == {quoted, f"{quoted}/taskInstances", f"{quoted}/taskInstances/plan/logs/1"}


def test_a_state_is_not_waited_for_where_airflow_does_not_answer(airflow):
    airflow.failures += [None, http_client.NoAnswer("refused"), None]
    with pytest.raises(StoreUnreachable):
        airflow.run_state("dag", "run")
    assert airflow.failures == [None], "the request is not repeated"


def test_a_variable_that_there_is_not_is_none(airflow):
    airflow.failures += [None, 404]
    assert airflow.variable("storebench_airflow_id") is None
