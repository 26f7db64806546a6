"""The parts of the stack that a run's stores need."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from local.stack import parts
from local.stack.__main__ import main
from local.stack.settings import Settings
from storebench.errors import SpecError
from storebench.stores.base import Pod, Store
from tests.unit.example import BATCH, STUDY

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("stores", "needed"),
    [
        (["mongodb"], {"mongodb"}),
        (["elasticsearch", "null"], {"elasticsearch"}),
        (["delta-rs"], set()),
        (["delta-spark", "mongodb"], {"jvm", "mongodb"}),
        (["mongodb@v8"], set()),  # a server of the user's own
        (["delta-kernel"], {"jvm"}),
        (None, {"mongodb", "elasticsearch", "jvm"}),
    ],
)
def test_a_part_is_needed_by_the_stores_of_its_server_or_image(stores, needed):
    assert parts.needed_by(STUDY, stores) == {"python", *needed}, "the dataset's pod has the image python"


@pytest.mark.parametrize("stores", ["delta-spark,mongodb", "delta-spark, mongodb", "mongodb , delta-spark,"])
def test_spaces_may_stand_between_the_stores_that_make_is_given(stores, tmp_path):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    environment |= {"STOREBENCH_HOME": str(tmp_path)}

    def dry(*arguments):
        command = ["make", "--dry-run", *arguments, f"VENV={sys.prefix}", f"STORES={stores}"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    needed = dry("--file=local/setup.mk", "needed")
    assert "ferretdb" in needed and "image jvm" in needed and "Elasticsearch" not in needed
    line = dry("--old-file=setup", "up").splitlines()[-1]
    names = shlex.split(line)[shlex.split(line).index("--stores") + 1 :]
    assert names == [stores], "they are one argument"


@pytest.fixture
def topology(monkeypatch, tmp_path):
    """Return a topology of Elasticsearch with its image."""
    (tmp_path / "elasticsearch" / "three").mkdir(parents=True)
    (tmp_path / "elasticsearch" / "three" / "kustomization.yaml").touch()
    monkeypatch.setattr(parts, "TOPOLOGIES", tmp_path)
    monkeypatch.delenv("AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH_THREE", raising=False)
    assert "servers-elasticsearch" in parts.SERVER_IMAGES


def test_servers_that_a_run_provisions_need_their_image_and_the_cluster_s_services(topology):
    needed = {"python", "services", "servers-agent", "servers-elasticsearch"}
    assert parts.needed_by(STUDY, ["elasticsearch@three"]) == needed
    assert parts.needed_by(STUDY, ["elasticsearch@three", "mongodb"]) == {*needed, "mongodb"}
    assert parts.needed_by(STUDY, ["elasticsearch@nine", "mongodb@three"]) == {"python"}, "no such topologies"


def test_tables_elsewhere_need_the_servers_that_their_name_means(monkeypatch):
    needed = {"jvm", "python", "services", "servers-agent", "servers-ozone"}
    assert parts.needed_by(STUDY, ["delta-spark@ozone_one"]) == needed
    assert parts.needed_by(STUDY, ["delta-spark@ozone"]) == {"jvm", "python"}, "the user's own"
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_OZONE_ONE", "http://10.1.2.3:9862")
    assert parts.needed_by(STUDY, ["delta-spark@ozone_one"]) == {"jvm", "python"}


def test_servers_that_the_stack_cannot_provision_are_refused_before_anything_is_built():
    assert "servers-mongodb" in parts.needed_by(STUDY, ["mongodb@one"])
    with pytest.raises(SpecError, match="cannot provision mongodb@sharded"):
        parts.needed_by(STUDY, ["mongodb@sharded"])


def test_a_connection_of_that_name_is_a_server_of_the_user_s_own(topology, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH_THREE", "http://10.1.2.3:9200")
    assert parts.needed_by(STUDY, ["elasticsearch@three"]) == {"python"}


@pytest.fixture
def checkout(tmp_path):
    """Return a copy of this checkout with links, except the folders of images, to which tests can add images."""
    made = tmp_path / "checkout"
    made.mkdir()
    for path in ROOT.iterdir():
        if path.name not in (".git", "images"):
            (made / path.name).symlink_to(path)
    shutil.copytree(ROOT / "images", made / "images")
    return made


def database_of(checkout, home, *targets):
    """Return make's database and its dry run for targets."""
    return subprocess.run(
        ["make", "--print-data-base", "--dry-run", "--file=local/setup.mk", *targets],
        cwd=checkout,
        env={**os.environ, "STOREBENCH_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_each_folder_under_images_is_a_target_of_the_set_up(tmp_path):
    database = database_of(ROOT, tmp_path, "servers-elasticsearch", "jvm")
    assert "local/images/pod.sh servers-elasticsearch " in database
    assert (
        '160 "building the image jvm: Spark, Delta Lake and Java readers" local/images/pod.sh jvm '
        in database
    )
    phony = next(line for line in database.splitlines() if line.startswith(".PHONY:"))
    assert set(phony.split()) >= parts.IMAGES | parts.SERVER_IMAGES | {"services"}
    assert "airflow" not in phony.split(), "it is of Docker Compose"


def steps_of_images(checkout, home, *targets):
    """Return the images that make would build for these targets, in order."""
    found = re.findall(r"/image-([\w-]+)-\w+ \d+ \"building", database_of(checkout, home, *targets))
    return list(dict.fromkeys(found))


def stamps(checkout, home):
    """Return the stamp of each image by name."""
    return dict(re.findall(r"^IMAGE_([\w-]+) := (\S+)$", database_of(checkout, home), re.MULTILINE))


def test_a_new_folder_under_images_is_built_once_a_store_needs_it(checkout, tmp_path):
    folder = checkout / "images" / "shiny"
    folder.mkdir()
    (folder / "Dockerfile").write_text(
        "FROM debian:bookworm-slim\nCOPY images/python requirements/pod-load.txt /tmp/\n"
    )
    assert steps_of_images(checkout, tmp_path, "shiny") == ["python", "shiny"]
    assert "shiny" not in steps_of_images(checkout, tmp_path, "jvm")
    first = stamps(checkout, tmp_path)["shiny"]
    (folder / "more").write_text("a file that is beside it")
    assert stamps(checkout, tmp_path)["shiny"] == first, "no build reads it"
    (checkout / "images" / "python" / "more").write_text("one that it copies")
    assert stamps(checkout, tmp_path)["shiny"] != first
    listed = subprocess.run(
        [sys.executable, "-c", "from local.stack import parts; print(*parts.IMAGES)"],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": f"{checkout}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert set(listed.split()) == parts.IMAGES | {"shiny"}


def test_an_edit_builds_the_images_that_a_run_needs_and_no_others(checkout, tmp_path):
    """All images were built before, the image `python` last: its newer stamp makes no other image old."""
    (tmp_path / "steps").mkdir()
    (tmp_path / "images").mkdir()
    built = stamps(checkout, tmp_path)
    for name in sorted(built, key=lambda name: name == "python"):
        Path(built[name]).touch()
        (tmp_path / "images" / f"{name}.txt").touch()
    os.utime(built["columns"], (1000, 1000))
    assert steps_of_images(checkout, tmp_path, "python", "jvm", "columns") == []
    edited = checkout / "src"
    edited.unlink()
    shutil.copytree(ROOT / "src", edited, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    with (edited / "storebench" / "stores" / "bulk_write_read" / "delta_rs.py").open("a") as module:
        module.write("EDITED = True\n")
    assert steps_of_images(checkout, tmp_path, "python") == ["python"]
    assert steps_of_images(checkout, tmp_path, "columns") == ["columns"], "python is not needed for it"
    rules = "--eval=.SECONDEXPANSION:\nplain: $$(ALL_STEPS)\nchosen: $$(STEPS) $$(BUILT)"
    assert sorted(steps_of_images(checkout, tmp_path, rules, "plain")) == ["jvm", "python"]
    assert steps_of_images(checkout, tmp_path, rules, "chosen") == [], (
        "the images of its stores come in addition"
    )


def test_an_image_that_a_store_names_is_a_part_that_it_needs(monkeypatch):
    monkeypatch.setattr(parts, "IMAGES", parts.IMAGES | {"shiny"})
    monkeypatch.setattr(STUDY.store("null"), "pod", Pod(image="shiny"))
    assert parts.needed_by(STUDY, ["null"]) == {"python", "shiny"}


def test_a_program_of_another_language_needs_the_agent_that_watches_its_node(monkeypatch):
    monkeypatch.setattr(STUDY.store("null"), "pod", Pod(command=("sh", "-c", "true")))
    assert parts.needed_by(STUDY, ["null"]) == {"python", "servers-agent"}


def test_with_a_cluster_of_the_user_s_own_its_services_are_not_the_stack_s(tmp_path):
    assert "services" in parts.left_out(Settings(home=tmp_path, own=frozenset({"kubernetes"})))
    assert "services" not in parts.left_out(Settings(home=tmp_path, own=frozenset({"mongodb"})))


def test_an_unknown_store_is_refused_before_anything_is_built():
    with pytest.raises(SpecError, match=r"Unknown store 'mongo'\. Did you mean mongodb"):
        parts.needed_by(STUDY, ["mongo"])


def test_what_fills_a_stores_table_is_needed_too():
    class Copied(Store):
        name = "copied"
        operations = ("read",)
        filled_by = "elasticsearch"

    study = replace(STUDY, stores=("copied", "elasticsearch"), axes=(BATCH,))
    found = {"copied": Copied, "elasticsearch": STUDY.store("elasticsearch")}
    object.__setattr__(study, "store", found.__getitem__)
    assert parts.needed_by(study, ["copied"]) == {"elasticsearch", "python"}


def test_a_study_is_found_by_its_name_and_an_unknown_one_is_refused():
    assert parts.study_named("bulk_write_read").name == "bulk_write_read"
    with pytest.raises(SpecError, match="Unknown study 'bulk'"):
        parts.study_named("bulk")


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        (["--study", "bulk_write_read", "--stores", "mongodb"], "mongodb python"),
        (["--study", "bulk_write_read"], "elasticsearch jvm mongodb python"),
        (["--study", "column_scan"], "columns servers-agent servers-mariadb servers-zeo services wendelin"),
        (["--study", "column_scan", "--stores", "duckdb"], "columns services"),
        (["--study", "column_scan", "--stores", "wendelin-numpy"], "columns wendelin"),
        (
            ["--study", "column_scan", "--stores", "wendelin-pandas@one"],
            "columns servers-agent servers-zeo services wendelin",
        ),
        (["--study", "parquet_copy"], "jvm python servers-agent servers-hdfs servers-ozone services"),
        (["--study", "map_formats"], "formats"),
        (["--study", "map_formats", "--stores", "null"], "formats"),
        (
            ["--study", "point_operations"],
            "load servers-agent servers-api servers-cassandra servers-mongodb services",
        ),
        (
            ["--study", "point_operations", "--stores", "mongodb,cassandra@one"],
            "load mongodb servers-agent servers-cassandra services",
        ),
        (
            ["--study", "point_operations", "--stores", "cassandra@rest"],
            "load servers-agent servers-api servers-cassandra services",
        ),
        (["--stores", "delta-kernel,null"], "jvm python"),  # of the study that a run without a name has
        ([], "chdb columns elasticsearch formats iceberg iceberg-spark jvm load mongodb python wendelin"),
    ],
)
def test_the_parts_of_a_study_or_of_some_of_its_stores_are_printed(monkeypatch, asked, needed):
    monkeypatch.delenv("STOREBENCH_STUDY", raising=False)
    result = CliRunner().invoke(main, ["needs", *asked])
    assert (result.exit_code, result.output) == (0, f"{needed}\n")


def test_what_is_started_is_known_to_the_next_start(tmp_path):
    settings = Settings(home=tmp_path, own=frozenset())
    assert parts.started(settings) == set()
    settings.run.mkdir()
    parts.record(settings, {"mongodb", "elasticsearch"})
    assert parts.started(settings) == {"mongodb", "elasticsearch"}
    parts.forget(settings, "elasticsearch")
    assert parts.started(settings) == {"mongodb"}


def test_a_server_that_is_asked_for_again_is_new_again(tmp_path):
    settings = Settings(home=tmp_path, own=frozenset())
    settings.run.mkdir()
    parts.record(settings, {"mongodb", "elasticsearch"})
    for server in ("mongodb", "elasticsearch"):
        os.utime(settings.run / "servers" / server, (1000, 1000))
    parts.record(settings, {"mongodb"})
    assert parts.asked_at(settings, "elasticsearch") == 1000 < parts.asked_at(settings, "mongodb")
    assert parts.started(settings) == {"mongodb", "elasticsearch"}
