import json
import pkgutil
import stat
import subprocess
import sys
from dataclasses import replace

import pytest
import requests
import yaml
from urllib3 import ProxyManager

from local.stack import environment, parts, render
from local.stack.settings import OWN_SERVERS, Settings
from storebench.airflow.compat.executor import RestingExecutor
from storebench.connection import Connection
from storebench.http_client import by_environment

IMAGES = {"python": "localhost/storebench/python:1", "jvm": "localhost/storebench/jvm:1"}


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "steps").mkdir()
    return Settings(home=tmp_path, own=frozenset())


def test_every_template_has_a_value_for_every_name(settings):
    for path in render.TEMPLATES.iterdir():
        assert render.template(path.name, settings)
        if path.suffix == ".yaml":
            assert list(yaml.safe_load_all(render.template(path.name, settings)))


def test_every_process_logs_to_a_file_of_its_own_and_can_be_stopped(settings):
    for name, process in render.project(settings)["processes"].items():
        assert process["entrypoint"][3] == str(settings.log / f"{name}.log")
        assert process["shutdown"]["timeout_seconds"] > 0


def test_processes_wait_only_for_processes_that_there_are(settings):
    for part in OWN_SERVERS:
        processes = render.project(Settings(home=settings.home, own=frozenset({part})))["processes"]
        assert all(process["namespace"] != part for process in processes.values())
        for process in processes.values():
            assert set(process.get("depends_on", {})) <= set(processes)


def test_the_maker_of_volumes_waits_for_the_images_which_tell_its_helper(settings):
    processes = render.project(settings)["processes"]
    assert processes["local-path-provisioner"]["depends_on"]["images"] == {
        "condition": "process_completed_successfully"
    }


def test_the_fingerprint_changes_if_kubernetes_release_replaces_the_compiled_binary(settings):
    kubelet = settings.home / "bin" / render.CLUSTER["kubelet"]
    kubelet.parent.mkdir(parents=True)
    kubelet.symlink_to("kubernetes")
    compiled = render.fingerprint(settings)
    kubelet.unlink()
    kubelet.touch()
    assert render.fingerprint(settings) != compiled


def test_the_fingerprint_changes_with_what_runs_and_with_nothing_else(settings):
    first = render.fingerprint(settings)
    for name in ("checkout-1", "image-python-1", "requirements-1", ".python.lock"):
        (settings.home / "steps" / name).touch()
    assert render.fingerprint(settings) == first
    (settings.home / "steps" / "process-compose-1").touch()
    assert render.fingerprint(settings) != first


def test_what_the_running_airflow_has_loaded_is_in_the_fingerprint(settings, tmp_path):
    copy = tmp_path / "checkout"
    copy.mkdir()
    for entry in settings.checkout.iterdir():
        if entry.name != "src":
            (copy / entry.name).symlink_to(entry)
    here = replace(settings, checkout=copy)
    first = render.fingerprint(here)
    packages = {
        "web": True,
        "answers": True,
        "planning": True,
        "airflow/compat": True,
        "airflow/operators": False,
    }
    for package, changes in (*packages.items(), ("stores", False)):
        folder = copy / "src" / "storebench" / package
        folder.mkdir(parents=True)
        (folder / "new.py").touch()
        (folder / "new.py").write_text("A = 1")
        assert (render.fingerprint(here) != first) is changes, package
        first = render.fingerprint(here)


def test_a_server_that_no_store_needs_is_disabled_and_building_it_changes_nothing(settings):
    settings.run.mkdir()
    parts.record(settings, {"mongodb"})
    processes = render.project(settings)["processes"]
    assert {process["namespace"] for process in processes.values() if process["disabled"]} == {
        "elasticsearch",
        "services",
    }
    first = render.fingerprint(settings)
    (settings.home / "steps" / "elasticsearch-1").touch()
    assert render.fingerprint(settings) == first, "it does not run"
    (settings.home / "steps" / "ferretdb-1").touch()
    assert render.fingerprint(settings) != first


def test_servers_that_idle_are_looked_for_unless_they_are_never_to_be_stopped(settings):
    processes = render.project(settings)["processes"]
    assert processes["idle"]["environment"] == ["STOREBENCH_IDLE_MINUTES=30"]
    never = replace(settings, idle_minutes=0)
    assert set(processes) - set(render.project(never)["processes"]) == {"idle"}
    assert render.fingerprint(never) != render.fingerprint(settings)


def test_what_idles_needs_no_triggerer_and_no_controllers_of_what_there_is_not(settings):
    processes = render.project(settings)["processes"]
    assert {name for name in processes if name.startswith("airflow-")} == {
        "airflow-db",
        "airflow-api-server",
        "airflow-scheduler",
        "airflow-dag-processor",
    }
    (flag,) = [
        text
        for text in processes["kube-controller-manager"]["entrypoint"]
        if text.startswith("--controllers=")
    ]
    controllers = set(flag.partition("=")[2].split(","))
    # Spark's executors go with their driver, pods get their accounts and the certificate of the API, a node's end is seen.
    assert {
        "garbage-collector-controller",
        "serviceaccount-controller",
        "root-ca-certificate-publisher-controller",
        "node-lifecycle-controller",
    } <= controllers
    assert "*" not in controllers


def test_the_controllers_of_servers_are_others_than_those_that_every_run_has(settings):
    processes = render.project(settings)["processes"]

    def controllers(process):
        (flag,) = [text for text in processes[process]["entrypoint"] if text.startswith("--controllers=")]
        return set(flag.partition("=")[2].split(","))

    for_servers = controllers("services-controllers")
    assert {
        "statefulset-controller",
        "endpointslice-controller",
        "persistentvolume-binder-controller",
    } <= for_servers
    assert not for_servers & controllers("kube-controller-manager"), (
        "two of one kind would work against each other"
    )


def test_a_cluster_of_the_user_s_own_gets_no_services(settings):
    own = replace(settings, own=frozenset({"kubernetes"}))
    assert not [
        name
        for name, process in render.project(own)["processes"].items()
        if process["namespace"] == "services"
    ]


def test_images_of_servers_are_there_once_they_were_built(settings):
    (settings.home / "images").mkdir()
    (settings.home / "images" / "python.txt").write_text(
        "image=localhost/storebench/python:1\ndigest=sha256:1\n"
    )
    assert render.images(settings) == {"python": "localhost/storebench/python:1"}
    image = "localhost/storebench/servers-elasticsearch:2"
    (settings.home / "images" / "servers-elasticsearch.txt").write_text(f"image={image}\ndigest=sha256:2\n")
    assert render.images(settings)["servers-elasticsearch"] == image
    built = environment.build(settings, render.secrets(settings), render.images(settings))
    assert built["STOREBENCH_IMAGE_SERVERS_ELASTICSEARCH"] == image


@pytest.mark.parametrize(
    ("command", "loads"), [("scheduler", True), ("dag-processor", True), ("api-server", False)]
)
def test_only_what_forks_tasks_or_readers_of_dags_loads_their_modules(settings, command, loads):
    code = render.template("airflow_local_settings.py", settings) + "\nprint('boto3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, command], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == str(loads)


def test_the_environment_file_is_read_as_it_was_written_and_by_its_owner_alone(settings):
    variables = {"A": 'it\'s "quoted" $HOME', "B": '{"json": 1}', "C": ""}
    environment.write(settings.env_file, variables)
    assert environment.read(settings.env_file) == variables
    assert stat.S_IMODE(settings.env_file.stat().st_mode) == 0o600


def test_a_connection_of_the_users_own_is_handed_on_as_it_is(settings, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_S3", "aws://key:secret@")
    own = Settings(home=settings.home, own=frozenset({"s3"}))
    built = environment.build(own, render.secrets(own), IMAGES)
    assert built["AIRFLOW_CONN_STOREBENCH_S3"] == "aws://key:secret@"
    assert built["STOREBENCH_EMBEDDED"] == "kubernetes mongodb elasticsearch postgresql"


def test_the_store_postgresql_has_a_database_of_its_own_or_the_users(settings, monkeypatch):
    secrets = render.secrets(settings)
    embedded = json.loads(environment.build(settings, secrets, IMAGES)["AIRFLOW_CONN_STOREBENCH_POSTGRESQL"])
    assert (embedded["host"], embedded["schema"]) == (settings.gateway, "store_postgresql")
    assert Connection.from_json("postgresql", json.dumps(embedded)).login == "store_postgresql"
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_POSTGRESQL", "postgres://u:p@db/bench")
    own = Settings(home=settings.home, own=frozenset({"postgresql"}))
    built = environment.build(own, secrets, IMAGES)
    assert built["AIRFLOW_CONN_STOREBENCH_POSTGRESQL"] == "postgres://u:p@db/bench"


def test_nothing_of_the_stack_is_asked_through_a_proxy(settings, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.net:3128")
    monkeypatch.setenv("NO_PROXY", "intranet.example.net")
    built = environment.build(settings, render.secrets(settings), IMAGES)
    monkeypatch.setenv("NO_PROXY", built["NO_PROXY"])
    monkeypatch.setenv("no_proxy", built["no_proxy"])
    assert requests.utils.should_bypass_proxies("https://intranet.example.net", None)
    assert not requests.utils.should_bypass_proxies("https://pypi.example.net", None)
    for host in ("localhost", "127.0.0.1", settings.gateway, "10.244.0.77", "a.storebench.svc.cluster.local"):
        assert requests.utils.should_bypass_proxies(f"http://{host}:9200", None), host
    for name in ("s3", "airflow", "kubernetes"):
        assert not isinstance(by_environment(settings.url(name)), ProxyManager), name
    assert isinstance(by_environment("http://pypi.example.net"), ProxyManager)


def test_the_scheduler_rests_while_there_is_no_run(settings):
    built = environment.build(settings, render.secrets(settings), IMAGES)
    assert pkgutil.resolve_name(built["AIRFLOW__CORE__EXECUTOR"]) is RestingExecutor


def test_secrets_are_made_once(settings):
    first = render.secrets(settings)
    assert render.secrets(settings) == first
    assert len(set(first.values())) == len(first)
