"""The system of docker-compose.yaml from its first start to its removal, in this order."""

import stat

import httpx
import psycopg
import pytest

from storebench.study import studies

DEFAULT_ROWS = 20_000
DEFAULT_STORES = (
    *("mongodb", "elasticsearch", "delta-rs", "delta-spark"),
    *("delta-standalone", "delta-kernel", "null"),
)
ONLY_READ = ("delta-standalone", "delta-kernel")
DEFAULT_STUDY = "bulk_write_read"
# Volumes of the default size need 64 GiB of free disk together.
OPTIONS = {"parquet_copy": ("--param", 'server_disk="1Gi"')}
pytestmark = pytest.mark.timeout(5400)  # the first one waits for builds, the start and the default run


def results(compose, study=DEFAULT_STUDY):
    """Return the rows of a study in the results database through its published port."""
    settings = compose.settings()
    with psycopg.connect(
        host="127.0.0.1",
        port=settings["STOREBENCH_RESULTS_PORT"],
        user="storebench_reader",
        password=settings["STOREBENCH_READER_PASSWORD"],
        dbname="storebench",
    ) as connection:
        return connection.execute(
            "SELECT store, operation, rows, status, error FROM storebench.results WHERE study = %s ORDER BY started_at",
            [study],
        ).fetchall()


def test_each_row_of_the_default_run_is_verified(compose):
    done = compose("run", "--rm", "bench", timeout=3000)
    assert "run success" in done.stdout
    rows = results(compose)
    assert {(row[0], row[1]) for row in rows} == {
        (store, operation)
        for store in DEFAULT_STORES
        for operation in (("read",) if store in ONLY_READ else ("read", "write"))
    }
    assert {row[2:] for row in rows} == {(DEFAULT_ROWS, "verified", None)}


@pytest.mark.parametrize("study", sorted(set(studies.names()) - {DEFAULT_STUDY}))
def test_each_row_of_a_study_s_quick_run_is_verified(compose, study):
    """The runs use volumes, the cluster's DNS, and provisioned servers from the stand-ins of publishers' images."""
    done = compose(
        "run",
        "--rm",
        "bench",
        "run",
        "--study",
        study,
        "--preset",
        "quick",
        *OPTIONS.get(study, ()),
        timeout=3600,
    )
    assert "run success" in done.stdout
    rows = results(compose, study)
    known = studies.find(study)
    assert {row[0] for row in rows} == set(known.preset("quick").params.get("stores", known.unnamed_stores))
    assert {row[3:] for row in rows} == {("verified", None)}


def test_the_results_page_is_served(compose):
    settings = compose.settings()
    with httpx.Client(base_url=f"http://127.0.0.1:{settings['STOREBENCH_AIRFLOW_PORT']}") as client:
        login = {"username": "admin", "password": settings["STOREBENCH_AIRFLOW_PASSWORD"]}
        token = client.post("/auth/token", json=login).raise_for_status().json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        assert "ReactRouterDOM" in client.get("/storebench/static/page.js").raise_for_status().text
        assert client.get("/storebench/api/runs").raise_for_status().json()["items"]


def test_containers_hold_no_capability(compose):
    servers = ("postgres", "s3", "mongodb", "elasticsearch", "store-postgresql")
    for service in (*servers, "airflow-api-server", "airflow-scheduler"):
        lines = compose("exec", "--no-TTY", service, "cat", "/proc/1/status").stdout.splitlines()
        status = dict(line.split(":", 1) for line in lines)
        assert (int(status["CapEff"], 16), int(status["NoNewPrivs"])) == (0, 1), service


def test_pods_do_not_reach_the_results(compose):
    """Pods leave the cluster with their node's address, and the node is only in the stores' network."""

    def reaches(address, port):
        connect = ("timeout", "5", "bash", "-c", f"exec 3<> /dev/tcp/{address}/{port}")
        return compose("exec", "--no-TTY", "kubernetes", *connect, check=False).returncode == 0

    postgres = compose("ps", "--quiet", "postgres").stdout.strip()
    template = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
    address = compose.run("docker", "inspect", "--format", template, postgres).stdout.strip()
    assert reaches(f"{compose.settings()['STOREBENCH_SUBNET_PREFIX']}.11", 7070)
    assert not reaches(address, 5432)


def test_airflow_s_image_lists_the_images_of_a_study(compose):
    """The image of Airflow lists the images without any setting, as `prepare` needs."""
    image = f"storebench/airflow:{compose.settings()['STOREBENCH_VERSION']}"
    alone = ("docker", "run", "--rm", "--network", "none", "--entrypoint", "storebench", image)
    assert compose.run(*alone, "images", "--study", "map_formats").stdout == "formats\n"


def test_settings_are_private(compose):
    assert stat.S_IMODE(compose.env.stat().st_mode) == 0o600


def test_an_update_keeps_results_and_secrets(compose):
    before, settings = results(compose), compose.settings()
    compose("down", "--timeout", "10")
    compose.prepare()
    assert compose.settings() == settings
    compose.up()
    assert results(compose) == before
    asked = ("--rows", "2000", "--stores", "null,postgresql", "--axis", "batch=all")
    done = compose("run", "--rm", "bench", "run", *asked)
    assert "run success" in done.stdout


def test_down_leaves_nothing(compose):
    compose("--profile", "*", "down", "--volumes", "--timeout", "10")
    assert compose.left() == []
