"""Refusals of a plan for parts that the embedded stack has not built or started."""

import json
import re
import socket
from pathlib import Path

import pytest

from local import image_keys
from local.stack import environment, parts, render
from local.stack.settings import Settings
from storebench.airflow import images, preflight
from storebench.attempt import disk
from storebench.errors import SpecError
from storebench.planning.checks import check_disk
from storebench.servers import stand_ins
from storebench.study import studies
from tests.unit.example import STUDY

ROOT = Path(__file__).parents[3]


@pytest.fixture
def embedded(monkeypatch):
    """Return a function that sets up the stack with only the image `python`, and Elasticsearch at a port."""
    monkeypatch.setenv("STOREBENCH_EMBEDDED", "kubernetes s3 mongodb elasticsearch")
    monkeypatch.setattr(images, "named", {"python": "localhost/storebench/python:1"}.get)
    monkeypatch.delenv(preflight.STALE, raising=False)

    def at(port):
        server = {"conn_type": "elasticsearch", "host": "127.0.0.1", "port": port}
        monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH", json.dumps(server))

    return at


def test_a_server_that_listens_is_started(embedded):
    with socket.create_server(("127.0.0.1", 0)) as server:
        embedded(server.getsockname()[1])
        preflight.check_embedded(STUDY, ["elasticsearch", "null"])


def test_stores_whose_server_or_image_is_not_there_are_refused_with_what_to_type(embedded, monkeypatch):
    monkeypatch.delenv(preflight.WAKE, raising=False)
    embedded(1)
    with pytest.raises(
        SpecError,
        match=r"delta-spark needs: it was not built yet. `make up STUDY=bulk_write_read STORES=delta-spark`",
    ):
        preflight.check_embedded(STUDY, ["elasticsearch", "delta-spark", "null"])
    with pytest.raises(
        SpecError,
        match=r"STOREBENCH_WAKE names no command.* `make up STUDY=bulk_write_read STORES=elasticsearch`",
    ):
        preflight.check_embedded(STUDY, ["elasticsearch", "null"])


def test_images_of_other_code_than_the_checkout_are_refused_before_a_server_is_woken(
    embedded, monkeypatch, tmp_path
):
    woken = tmp_path / "woken"
    monkeypatch.setenv(preflight.WAKE, f"touch {woken}")
    monkeypatch.setattr(
        images, "named", lambda name: f"localhost/storebench/{name.replace('_', '-')}:0123456789ab"
    )
    embedded(1)
    settings = Settings(home=tmp_path, own=frozenset())
    stale = environment.build(settings, render.secrets(settings), {})[preflight.STALE]
    monkeypatch.setenv(preflight.STALE, stale)
    with pytest.raises(
        SpecError,
        match=r"hold other code than this checkout: jvm, python, servers-agent, servers-elasticsearch\. .*"
        r"`make up STUDY=bulk_write_read STORES=delta-spark,elasticsearch@one`",
    ):
        preflight.check_embedded(
            STUDY, ["delta-spark", "elasticsearch@one"], {"elasticsearch@one": {"servers_elasticsearch"}}
        )
    assert not woken.exists()
    current = {name: f"localhost/storebench/{name}:{image_keys.key(name)}" for name in image_keys.names()}
    monkeypatch.setattr(images, "named", current.get)
    preflight.check_embedded(STUDY, ["delta-spark", "null"])
    monkeypatch.setattr(images, "named", lambda name: f"registry/{name}:0123456789ab")
    preflight.check_embedded(STUDY, ["delta-spark", "null"])


def test_images_that_cannot_be_compared_with_the_checkout_are_refused(embedded, monkeypatch):
    embedded(1)
    monkeypatch.setenv(preflight.STALE, "sh -c 'echo no such folder >&2; exit 125'")
    with pytest.raises(SpecError, match="cannot be compared with the checkout: no such folder"):
        preflight.check_embedded(STUDY, ["null"])


def test_a_server_that_the_stack_has_stopped_is_woken(embedded, monkeypatch, capsys, tmp_path):
    """The command that the stack names is given the server, and has started it when it ends."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        embedded(server.getsockname()[1])
        told = tmp_path / "told"
        monkeypatch.setenv("STOREBENCH_WAKE", f"sh -c 'echo $0 $* > {told}; echo ready'")
        run = preflight.subprocess.run

        def waking(*command, **options):
            done = run(*command, **options)
            server.listen()
            return done

        monkeypatch.setattr(preflight.subprocess, "run", waking)
        preflight.check_embedded(STUDY, ["elasticsearch", "null"])
    assert told.read_text() == "elasticsearch\n"
    assert capsys.readouterr().out.splitlines() == [
        "Starting elasticsearch, which the stack has stopped as no run needed it",
        "ready",
    ]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("sh -c 'echo elasticsearch was not built yet. >&2; exit 1'", "elasticsearch was not built yet"),
        ("true", "it was started, and does not answer"),
        ("/nonesuch/wake", "it could not be started: .*No such file"),
    ],
)
def test_a_server_that_does_not_wake_is_refused_with_the_reason_and_what_to_type(
    embedded, monkeypatch, command, why
):
    embedded(1)
    monkeypatch.setenv("STOREBENCH_WAKE", command)
    with pytest.raises(
        SpecError,
        match=rf"elasticsearch needs: {why}.*\. `make up STUDY=bulk_write_read STORES=elasticsearch`",
    ):
        preflight.check_embedded(STUDY, ["elasticsearch"])


def test_servers_that_a_run_provisions_have_their_services_woken(embedded, monkeypatch, tmp_path):
    embedded(1)
    told = tmp_path / "told"
    monkeypatch.setenv("STOREBENCH_WAKE", f"sh -c 'echo $0 $* > {told}'")
    monkeypatch.setattr(preflight.images, "named", lambda name: "there:1")
    preflight.check_embedded(STUDY, ["elasticsearch@one"], {"elasticsearch@one": {"servers_elasticsearch"}})
    assert told.read_text() == "services\n"


def test_pods_that_have_a_volume_have_the_services_woken_and_others_do_not(embedded, monkeypatch, tmp_path):
    embedded(1)
    told = tmp_path / "told"
    monkeypatch.setenv("STOREBENCH_WAKE", f"sh -c 'echo $0 $* > {told}'")
    monkeypatch.setattr(preflight.images, "named", lambda name: "there:1")
    study = parts.study_named("column_scan")
    preflight.check_embedded(study, ["numpy-memory"])
    assert not told.exists()
    preflight.check_embedded(study, ["numpy-memory", "numpy-memmap"])
    assert told.read_text() == "services\n"


def test_servers_that_cannot_have_their_services_are_refused_with_the_reason(embedded, monkeypatch):
    embedded(1)
    monkeypatch.setenv("STOREBENCH_WAKE", "sh -c 'exit 3'")
    monkeypatch.setattr(preflight.images, "named", lambda name: "there:1")
    with pytest.raises(
        SpecError, match=r"elasticsearch@one needs: the command ended with exit code 3\. `make up"
    ):
        preflight.check_embedded(STUDY, ["elasticsearch@one"], {"elasticsearch@one": set()})


def test_servers_whose_image_was_not_built_are_refused_with_what_to_type(embedded, monkeypatch, tmp_path):
    embedded(1)
    (tmp_path / "elasticsearch").mkdir()
    monkeypatch.setattr(stand_ins, "SERVER_IMAGES", tmp_path)
    there = lambda name: None if name == "servers_elasticsearch" else "there:1"
    monkeypatch.setattr(preflight.images, "named", there)
    with pytest.raises(SpecError, match=r"not built yet\. `make up STUDY=\w+ STORES=elasticsearch@one`"):
        preflight.check_embedded(
            STUDY, ["elasticsearch@one"], {"elasticsearch@one": {"servers_elasticsearch"}}
        )


def test_servers_whose_image_the_stack_cannot_build_are_refused_with_what_would_help(
    embedded, monkeypatch, tmp_path
):
    embedded(1)
    monkeypatch.setattr(stand_ins, "SERVER_IMAGES", tmp_path)
    monkeypatch.setattr(preflight.images, "named", lambda name: None if "servers" in name else "there:1")
    with pytest.raises(
        SpecError, match=r"no image of the server mongodb: .* storebench_image_servers_mongodb$"
    ):
        preflight.check_embedded(STUDY, ["mongodb@one"], {"mongodb@one": {"servers_mongodb"}})


@pytest.mark.parametrize("image", [None, "localhost/storebench/servers-mongodb:1"])
def test_servers_for_which_the_stack_has_only_a_stand_in_are_refused_with_what_would_help(
    embedded, monkeypatch, image
):
    embedded(1)
    monkeypatch.setattr(
        preflight.images, "named", lambda name: image if name == "servers_mongodb" else "there:1"
    )
    with pytest.raises(
        SpecError,
        match=r"cannot provision mongodb@sharded: .* only in mongodb@one and mongodb@rest\. .*Variable",
    ):
        preflight.check_embedded(STUDY, ["mongodb@sharded"], {"mongodb@sharded": {"servers_mongodb"}})


def test_an_image_of_the_user_s_own_can_be_any_server(embedded, monkeypatch):
    embedded(1)
    monkeypatch.setenv("STOREBENCH_WAKE", "true")
    monkeypatch.setattr(preflight.images, "named", lambda name: "registry/mongo:8")
    preflight.check_embedded(STUDY, ["mongodb@sharded"], {"mongodb@sharded": {"servers_mongodb"}})


def test_a_server_of_the_users_own_is_not_looked_at(embedded, monkeypatch):
    embedded(1)
    monkeypatch.setenv("STOREBENCH_EMBEDDED", "kubernetes s3")
    preflight.check_embedded(STUDY, ["elasticsearch", "elasticsearch@v9"])


def test_a_store_in_the_datasets_s3_needs_no_server_of_its_own(embedded, monkeypatch):
    embedded(1)
    s3 = {"conn_type": "aws", "login": "key", "extra": {"endpoint_url": "http://127.0.0.1:1"}}
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_S3", json.dumps(s3))
    preflight.check_embedded(STUDY, ["delta-rs"])


@pytest.mark.parametrize(("dataset_bytes", "fits"), [(10**6, True), (10**18, False)])
def test_a_dataset_that_the_disk_cannot_hold_is_refused(monkeypatch, tmp_path, dataset_bytes, fits):
    monkeypatch.setenv("STOREBENCH_DISK_PATH", str(tmp_path))
    if fits:
        check_disk(dataset_bytes)
        return
    with pytest.raises(SpecError, match=r"needs about 4,000,000,000 GB of disk .*Choose a smaller one"):
        check_disk(dataset_bytes)


def test_a_rate_of_the_disk_that_is_no_number_is_refused_before_any_work(monkeypatch):
    monkeypatch.setenv(f"AIRFLOW_VAR_{disk.VARIABLE}", "2 GB/s")
    with pytest.raises(
        SpecError, match=r"storebench_uncached_mb_per_s is not a number .*'2 GB/s'.*`storebench disk`"
    ):
        preflight.check(STUDY, 1000)


def test_images_that_no_variable_names_are_refused_before_a_pod_is_made(monkeypatch):
    known = {"storebench_image_python": "registry.example.com/python:1"}
    monkeypatch.setattr(images.Variable, "get", lambda name, default=None: known.get(name, default))
    preflight.check_images(STUDY, ["mongodb", "null"])
    with pytest.raises(SpecError, match=r"No image is known for jvm, servers/api\."):
        preflight.check_images(STUDY, ["mongodb", "delta-spark"], {"servers_api"})
    monkeypatch.setenv("STOREBENCH_EMBEDDED", "compose")
    with pytest.raises(SpecError, match=r"`deploy/compose/prepare --images jvm,servers/api`, then"):
        preflight.check_images(STUDY, ["mongodb", "delta-spark"], {"servers_api"})


def test_docker_compose_starts_volumes_and_servers_without_a_program_that_wakes_them(monkeypatch):
    monkeypatch.delenv(preflight.WAKE, raising=False)
    monkeypatch.setattr(images, "named", {"servers_agent": "storebench/servers-agent:1"}.get)
    asked = (
        studies.find("column_scan"),
        ["mariadb@one", "numpy-memmap"],
        {"mariadb@one": {"servers_mariadb"}},
    )
    monkeypatch.setenv("STOREBENCH_EMBEDDED", "compose")
    preflight.check_embedded(*asked)
    monkeypatch.setenv("STOREBENCH_EMBEDDED", "kubernetes")
    with pytest.raises(SpecError, match="make up"):
        preflight.check_embedded(*asked)


@pytest.mark.parametrize("manifest", sorted((ROOT / "deploy" / "servers").glob("*/*/*.yaml")), ids=str)
def test_a_manifest_names_an_image_of_a_publisher_or_one_that_no_registry_can_have(manifest):
    images_named = re.findall(r"^ *image: (\S+)", manifest.read_text(), re.MULTILINE)
    assert not [one for one in images_named if one.startswith("storebench/")]
