"""The script deploy/compose/prepare in a copy of the checkout, with a program in the place of docker that records what it is told."""

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from storebench.planning import images
from storebench.study import studies

ROOT = Path(__file__).resolve().parents[3]
COPIED = ("deploy/compose/prepare", "deploy/compose/env.template", "src/storebench/__init__.py")
PREPARE = "deploy/compose/prepare"
# It has the images that it has built. It runs `storebench` itself, as Airflow's image would. A build of $BROKEN fails.
DOCKER = f"""#!/bin/sh
cd "$(dirname "$0")"
last() {{ for last; do :; done; echo "$last"; }}
case $1 in
    build)
        tag=$(echo "$*" | sed 's/.*--tag \\([^ ]*\\).*/\\1/')
        case $tag in storebench/$BROKEN:*) exit 1 ;; esac
        echo "$tag" >> built ;;
    image) grep -qxF "$(last "$@")" built && echo sha256:1 ;;
    save) echo "$4" > "$3" ;;
    run) while [ "$1" != images ]; do shift; done; PYTHONPATH={ROOT}/src exec {sys.executable} -m storebench.cli "$@" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path):
    """Return a copy of the files that the script reads, in a folder whose name has a space and a dollar sign."""
    copy = tmp_path / "a $checkout"
    for name in COPIED:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    shutil.copytree(ROOT / "images", copy / "images", symlinks=True)
    shutil.copy(ROOT / ".dockerignore", copy)
    (tmp_path / "docker").write_text(DOCKER)
    (tmp_path / "docker").chmod(0o755)
    (tmp_path / "built").touch()
    return copy


def prepare(checkout, *options, broken="none", code=0):
    done = subprocess.run(
        [checkout / PREPARE, *options],
        env={**os.environ, "PATH": f"{checkout.parent}:{os.environ['PATH']}", "BROKEN": broken},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def variables(checkout):
    text = (checkout / "deploy/compose/images/images.env").read_text()
    return dict(line.split("=", 1) for line in text.splitlines())


def built(checkout):
    """Return the images that docker was told to build, without their version."""
    return [line.rpartition(":")[0] for line in (checkout.parent / "built").read_text().splitlines()]


def test_all_images_of_the_studies_are_built_once_for_each_version(checkout):
    needed = set().union(*(images.of_study(studies.find(name)) for name in studies.names()))
    names = {f"storebench/{name.replace('/', '-')}" for name in needed}
    text = prepare(checkout)
    assert set(built(checkout)) == {"storebench/airflow", *names}
    assert f"[{len(needed) + 1}/{len(needed) + 1}] " in text
    assert {value.rpartition(":")[0] for value in variables(checkout).values()} == names
    assert variables(checkout)["AIRFLOW_VAR_STOREBENCH_IMAGE_SERVERS_API"].startswith(
        "storebench/servers-api:"
    )

    first = built(checkout)
    text = prepare(checkout, "--images", "python,servers/agent")
    assert built(checkout) == first
    assert "[2/3] the image python is already built" in text
    assert len(variables(checkout)) == len(needed), "the other images of this version stay"

    (checkout / "images/python/Dockerfile").open("a").write("# changed\n")
    prepare(checkout, "--images", "python")
    assert built(checkout)[len(first) :] == ["storebench/airflow", "storebench/python"]
    assert len(variables(checkout)) == 1, "pods of another version are not compared"
    kept = {path.name for path in (checkout / "deploy/compose/images").glob("*.tar")}
    assert kept == {"python.tar"}


def test_only_the_images_of_a_study_are_built(checkout):
    prepare(checkout, "--study", "map_formats", "--images", "servers/mongodb")
    assert sorted(built(checkout)) == [
        f"storebench/{name}" for name in ("airflow", "formats", "servers-mongodb")
    ]


def test_a_failed_build_names_its_image_and_the_others_are_built(checkout):
    text = prepare(checkout, "--images", "jvm,python,servers/api", broken="jvm", code=1)
    assert "the image jvm could not be built; the lines above say why" in text
    assert "1 of 3 images could not be built: jvm." in text
    assert "To try again: deploy/compose/prepare --images jvm" in text
    assert len(variables(checkout)) == 2 and (checkout / ".env").exists()
    prepare(checkout, "--images", "jvm")
    assert len(variables(checkout)) == 3


def test_without_airflow_s_image_nothing_is_changed(checkout):
    text = prepare(checkout, "--images", "python", broken="airflow", code=2)
    assert "the image airflow could not be built" in text
    assert not (checkout / ".env").exists() and built(checkout) == []


@pytest.mark.parametrize("name", ["jvn", "airflow"])
def test_an_unknown_image_is_refused(checkout, name):
    assert f"no such image: {name}" in prepare(checkout, "--images", name, code=2)


OWN = """# my settings
STOREBENCH_AIRFLOW_PORT = 9090  # taken: 8080
export STOREBENCH_RESULTS_PORT=5555
STOREBENCH_READER_PASSWORD='with $ and # and "quotes"'
STOREBENCH_FERNET_KEY=

HTTP_PROXY=http://proxy:3128
STOREBENCH_VERSION=old
  # STOREBENCH_S3_MEMORY=9g
STOREBENCH_GONE=1
LAST=no newline"""


def test_each_line_of_the_user_s_stays_and_what_lacks_is_added(checkout):
    env = checkout.parent / "settings"
    env.write_text(OWN)
    (checkout / ".env").symlink_to(env)
    prepare(checkout, "--images", "python")
    assert (checkout / ".env").is_symlink(), "a link stays a link"
    text = env.read_text()
    kept, added = text[: text.index("LAST=")], text[text.index("LAST=") :]
    assert re.sub(r"(?m)^(STOREBENCH_VERSION=).+", r"\1old", kept) == OWN[: OWN.index("LAST=")]
    assert "STOREBENCH_VERSION=old" not in text
    for name in ("AIRFLOW_PORT", "RESULTS_PORT", "READER_PASSWORD", "FERNET_KEY", "VERSION"):
        assert f"STOREBENCH_{name}" not in added, name
    assert "\n# Limits of memory, in Docker's units" in added, "a setting comes with its comment"
    assert "STOREBENCH_S3_MEMORY=1g" in added, "a comment is no setting"
    assert f"STOREBENCH_IMAGES='{checkout}/deploy/compose/images'" in added
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    prepare(checkout, "--images", "python")
    assert env.read_text() == text


def test_a_new_file_is_the_template_with_random_secrets(checkout):
    prepare(checkout, "--images", "python")
    template = (ROOT / "deploy/compose/env.template").read_text().splitlines()
    made = (checkout / ".env").read_text().splitlines()
    assert [line.partition("=")[0] for line in made] == [line.partition("=")[0] for line in template]
    secrets = [one for one, line in zip(made, template, strict=True) if line.endswith(("@secret", "@fernet"))]
    assert len({line.partition("=")[2] for line in secrets}) == len(secrets) > 5
    assert "@" not in "".join(made)
