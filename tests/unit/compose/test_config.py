"""The content of docker-compose.yaml, as Docker Compose reads it; `make e2e-compose` runs it."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = Path(os.environ.get("STOREBENCH_HOME", "/nowhere"), "bin", "docker-compose")
TEMPLATE = ROOT / "deploy" / "compose" / "env.template"
PUBLISHED = "docker-compose.yaml"
STANDINS = "deploy/compose/standins.yaml"
# Jobs that end, and the service that mounts file systems and makes network links.
NOT_LIMITED = {"airflow-init", "kubernetes-access", "bench"}
PRIVILEGED = "kubernetes"
IMAGE_HAS = {
    "AIRFLOW_HOME",
    "AIRFLOW__CORE__DAGS_FOLDER",
    "AIRFLOW__CORE__PLUGINS_FOLDER",
    "AIRFLOW__LOGGING__BASE_LOG_FOLDER",
}


def compose(*arguments, files=(PUBLISHED,), env=TEMPLATE):
    if not COMPOSE.exists():
        pytest.fail(f"{COMPOSE} is missing: run these tests with `make unit`")
    options = [text for file in files for text in ("--file", str(ROOT / file))]
    return subprocess.run(
        [str(COMPOSE), "--env-file", str(env), *options, *arguments],
        env={"PATH": os.environ["PATH"], "STOREBENCH_HOME": os.environ["STOREBENCH_HOME"]},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def configuration(*files):
    done = compose("--profile", "*", "config", files=files)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return yaml.safe_load(done.stdout)


@pytest.fixture(scope="module")
def published():
    return configuration(PUBLISHED)


def test_the_standins_change_images_and_rights_only(published):
    standins = configuration(PUBLISHED, STANDINS)
    assert set(standins["services"]) - set(published["services"]) == {"airflow"}
    for name, service in published["services"].items():
        for key in ("ports", "networks", "environment", "volumes", "command", "depends_on", "mem_limit"):
            assert standins["services"][name].get(key) == service.get(key), (name, key)
    assert not standins["services"][PRIVILEGED].get("privileged")


def test_without_its_settings_it_says_what_to_do(tmp_path):
    empty = tmp_path / ".env"
    empty.touch()
    done = compose("config", env=empty)
    assert done.returncode != 0
    assert "run deploy/compose/prepare" in done.stderr


def test_the_template_has_each_variable_and_no_other():
    used = set(re.findall(r"\$\{(STOREBENCH_\w+)", (ROOT / PUBLISHED).read_text()))
    made = set(re.findall(r"^(STOREBENCH_\w+)=", TEMPLATE.read_text(), re.MULTILINE))
    assert made == used


def test_nothing_is_published_beyond_this_machine(published):
    ports = [port for service in published["services"].values() for port in service.get("ports", [])]
    assert sorted(port["target"] for port in ports) == [5432, 8080]
    assert {port["host_ip"] for port in ports} == {"127.0.0.1"}


def test_containers_have_no_rights_they_do_not_need(published):
    for name, service in published["services"].items():
        if name == PRIVILEGED:
            continue
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert not service.get("privileged"), name


def test_what_stays_has_a_limit_and_a_health_check(published):
    for name, service in published["services"].items():
        assert service["logging"]["driver"] == "local", name
        if name not in NOT_LIMITED:
            assert int(service["mem_limit"]) > 0, name
            assert service["healthcheck"]["test"], name
            assert service["restart"] == "unless-stopped", name


def test_airflow_gives_way_to_what_is_measured(published):
    for name, service in published["services"].items():
        assert ("cpu_shares" in service) == (name.startswith("airflow-") or name == "bench"), name


def test_the_settings_are_those_of_the_embedded_stack(published, tmp_path):
    """Only places and secrets may differ."""
    from local.stack import environment
    from local.stack.settings import Settings

    names = [
        "airflow_password",
        "airflow_db_password",
        "results_password",
        "reader_password",
        "mongodb_password",
    ]
    names += ["s3_access_key", "s3_secret_key", "jwt_secret", "api_secret_key", "fernet_key"]
    embedded = environment.build(Settings(home=tmp_path, own=frozenset()), dict.fromkeys(names, "x"), {})
    here = published["services"]["airflow-scheduler"]["environment"]
    assert {name for name in embedded if name.startswith("AIRFLOW_")} - IMAGE_HAS <= set(here)
    places = re.compile(r"FOLDER|URL|CONN|SECRET|FERNET|PASSWORDS_FILE|_VAR_")
    for name, value in embedded.items():
        if name.startswith("AIRFLOW__") and not places.search(name):
            assert here[name] == value, name


def test_each_published_image_has_a_version_and_a_digest(published):
    images = {service["image"] for service in published["services"].values()}
    own = {image for image in images if image.startswith("storebench/")}
    assert len(own) == 1
    for image in images - own:
        assert re.fullmatch(r"[a-z0-9./-]+:v?\d+\.[\w.-]+@sha256:[0-9a-f]{64}", image), image


def test_airflow_and_kubernetes_know_the_images_that_prepare_has_built(published, tmp_path):
    """Kubernetes gets the names so that its container, which imports the images at its start, is replaced with them."""
    (tmp_path / "images.env").write_text(
        "AIRFLOW_VAR_STOREBENCH_IMAGE_SERVERS_API=storebench/servers-api:1\n"
    )
    env = tmp_path / "env"
    env.write_text(TEMPLATE.read_text().replace("./deploy/compose/images", str(tmp_path)))
    done = compose("--profile", "*", "config", env=env)
    services = yaml.safe_load(done.stdout)["services"]
    told = {
        name
        for name, one in services.items()
        if "storebench/servers-api:1" in (one.get("environment") or {}).values()
    }
    airflow = {
        name for name, one in published["services"].items() if one["image"].startswith("storebench/airflow")
    }
    assert told == {*airflow, PRIVILEGED}


def test_the_cluster_has_dns_and_volumes_and_a_node_for_both(published):
    command = published["services"][PRIVILEGED]["command"]
    (disabled,) = (
        option.partition("=")[2].split(",") for option in command if option.startswith("--disable=")
    )
    assert {"coredns", "local-storage"}.isdisjoint(disabled)
    assert not any(option.startswith("--node-taint") for option in command), "k3s' DNS would not tolerate it"


def test_prepare_says_what_it_takes():
    script = str(ROOT / "deploy" / "compose" / "prepare")
    done = subprocess.run([script, "--help"], check=True, capture_output=True, text=True)
    for option in ("--study", "--images", "--env", "--archives", "--base", "--pod-base", "--ca-bundle"):
        assert option in done.stdout
    wrong = subprocess.run([script, "--fast"], check=False, capture_output=True, text=True)
    assert (wrong.returncode, "unknown option --fast" in wrong.stderr) == (2, True)


def test_python_in_shell_scripts_imports_names_that_exist():
    """No linter reads such Python."""
    scripts = [
        *(ROOT / "images").rglob("*.sh"),
        *(ROOT / "deploy").rglob("*.sh"),
        *(ROOT / "local").rglob("*.sh"),
    ]
    imports = [
        line
        for script in scripts
        for line in re.findall(r"^from storebench.*", script.read_text(), re.MULTILINE)
    ]
    assert len(imports) >= 2
    for line in imports:
        exec(line, {})
