"""The disk space that a set-up checks before it begins."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from local import progress, space

ROOT = Path(__file__).parents[3]
# What the texts give a number of GB for, as targets of the Makefile.
PLAIN = "$$(ALL_STEPS)"
TUTORIAL = "$$(REQUIREMENTS) $$(STEPS) mongodb elasticsearch $$(PROGRAMS)"
TESTS = "$$(TEST_STEPS)"
ALL_STORES = "$$(ALL_STEPS) $$(OTHER_IMAGES) $$(SERVER_IMAGES) services"


@pytest.fixture
def variables(tmp_path):
    """Return the environment of a `make` with its own home, separate from the tests' make."""
    names = ("MAKE", "MFLAGS", "STOREBENCH_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    return kept | {"STOREBENCH_HOME": str(tmp_path / "home")}


def run(command, folder, variables, seconds=60):
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=seconds, check=False
    )


def steps_of(target, variables):
    """Return the steps of a target of the Makefile in a new home."""
    rule = f".SECONDEXPANSION:\nthese: {target}"
    dry = run(["make", "--silent", "--dry-run", f"--eval={rule}", "these"], ROOT, variables)
    assert dry.returncode == 0, dry.stderr
    return set(progress.missing(dry.stdout, Path(variables["STOREBENCH_HOME"])))


def test_no_step_needs_no_space_and_a_step_needs_room_beside_its_own():
    assert space.needed_gb([]) == 0
    assert space.needed_gb(["image-python"]) == pytest.approx(space.kept_gb("image-python") + space.ROOM_GB)
    assert space.refusal("This set-up", [], Path("/")) is None


def test_each_step_with_a_size_of_its_own_is_one_of_the_set_up(variables):
    assert set(space.KEPT_GB) <= steps_of(ALL_STORES, variables)


@pytest.fixture
def too_large(tmp_path):
    """Return a Makefile of more images than fit on this machine's disk. A build leaves a mark."""
    images = int(space.free_gb(tmp_path) / space.IMAGE_GB) + 1
    names = " ".join(f"$(STOREBENCH_HOME)/steps/image-{number}-1a" for number in range(images))
    (tmp_path / "local").symlink_to(ROOT / "local")
    (tmp_path / "Makefile").write_text(
        f'all: {names}\n{names}:\n\t@touch built; : local/step $@ 9 "building it"\n'
    )
    return images


def test_a_set_up_that_the_disk_lacks_the_space_for_builds_nothing(too_large, tmp_path, variables):
    done = run(["python3", "-B", "-m", "local.progress", "make", "--jobs=2", "all"], tmp_path, variables)
    assert done.returncode == 1 and not (tmp_path / "built").exists()
    needed = too_large * space.IMAGE_GB + space.ROOM_GB
    assert done.stderr.startswith(
        f"This set-up needs {needed:.1f} GB of free disk, and {tmp_path / 'home'} has "
    )
    assert "STOREBENCH_HOME=..." in done.stderr


def test_steps_that_were_done_here_before_have_their_space(too_large, tmp_path, variables):
    logs = tmp_path / "home" / "log" / "setup"
    logs.mkdir(parents=True)
    for number in range(too_large):
        (logs / f"image-{number}.seconds").write_text("9\n")
    done = run(["python3", "-B", "-m", "local.progress", "make", "--jobs=2", "all"], tmp_path, variables)
    assert (done.returncode, done.stderr) == (0, "") and (tmp_path / "built").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a small disk")
@pytest.mark.parametrize(("target", "told"), [("test", "make test"), ("setup", "This set-up")])
def test_make_ends_at_once_on_a_small_disk(target, told, tmp_path, variables):
    home = tmp_path / "home"
    home.mkdir()
    script = f'mount -t tmpfs -o size=64m none "$0" && make {target}; code=$?; find "$0" -type f; exit $code'
    done = run(["unshare", "--mount", "sh", "-c", script, str(home)], ROOT, variables)
    assert done.returncode == 2
    assert re.search(
        rf"^{told} needs [\d.]+ GB of free disk, and {home} has 0\.1 GB", done.stderr, re.MULTILINE
    )
    assert done.stdout == "", "no step has begun, and no file was written"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a small disk")
def test_the_parts_that_only_the_environment_tells_are_compared_once_it_is_there(tmp_path, variables):
    home = tmp_path / "home"
    home.mkdir()
    rule = ".SECONDEXPANSION:\nthese: $$(CHECKOUT)"
    dry = run(["make", "--silent", "--dry-run", f"--eval={rule}", "these"], ROOT, variables)
    done = re.findall(r"local/step (\S+)", dry.stdout)
    assert len(done) == 3, "the packages, the environment and the checkout"
    make = f"make --file=local/setup.mk needed STORES=delta-spark VENV={sys.prefix}"
    script = f'mount -t tmpfs -o size=64m none "$0" && mkdir "$0/steps" && touch {" ".join(done)} && {make}'
    refused = run(["unshare", "--mount", "sh", "-c", script, str(home)], ROOT, variables)
    assert refused.returncode == 2 and "local/step" not in refused.stdout
    assert "This set-up needs" in refused.stderr and "image-jvm 1.7" in refused.stderr


@pytest.mark.parametrize(
    ("target", "texts"),
    [
        (
            PLAIN,
            {
                "README.md": "{} GB of free disk",
                "Makefile": "make run {} GB",
                "docs/how-to/embedded-stack.md": "- `make run`: {} GB",
            },
        ),
        (TUTORIAL, {"docs/tutorials/first-result.md": "{} GB of free disk"}),
        (
            TESTS,
            {
                "README.md": "`make test` needs {} GB of free disk",
                "Makefile": "make test {} GB",
                "docs/how-to/embedded-stack.md": "- `make test`: {} GB",
            },
        ),
        (
            ALL_STORES,
            {
                "README.md": "all stores of all studies need {} GB",
                "Makefile": "all stores of all studies {} GB",
                "docs/how-to/embedded-stack.md": "- all stores of all studies: {} GB",
            },
        ),
    ],
)
def test_the_texts_say_the_space_that_is_checked(target, texts, variables):
    needed = math.ceil(space.needed_gb(steps_of(target, variables)))
    lacking = [
        f"{name}: {text.format(needed)}"
        for name, text in texts.items()
        if text.format(needed) not in (ROOT / name).read_text()
    ]
    assert lacking == []
