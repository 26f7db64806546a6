"""The key of an image depends on exactly the files that its build reads."""

import shutil
import subprocess
from pathlib import Path

import pytest

from local import image_keys

ROOT = Path(__file__).parents[3]
# The images that copy all code of pods.
PODS = {"chdb", "columns", "formats", "iceberg", "iceberg-spark", "jvm", "load", "python", "wendelin"}
LEFT = shutil.ignore_patterns("node_modules", "static", "__pycache__")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Return a copy of all files that images are built from."""
    made = tmp_path_factory.mktemp("images") / "checkout"
    for name in ("agent", "dags", "docs", "images", "local", "requirements", "src"):
        shutil.copytree(ROOT / name, made / name, ignore=LEFT, symlinks=True)
    shutil.copy(ROOT / ".dockerignore", made)
    return made


@pytest.fixture
def checkout(original):
    """Yield the copy, and undo a test's changes afterwards."""
    before = {path: path.read_bytes() for path in original.rglob("*") if path.is_file()}
    modes = {path: path.stat().st_mode for path in before}
    yield original
    for path in original.rglob("*"):
        if path.is_file() and path not in before:
            path.unlink()
    for path, content in before.items():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
        path.chmod(modes[path])


def keys(checkout):
    return {name: image_keys.key(name, checkout) for name in image_keys.names(checkout)}


def changed(checkout, before):
    return {name for name, key in keys(checkout).items() if before.get(name) != key}


@pytest.fixture(scope="module")
def original_keys(original):
    """Return the keys of all images before a test changes a file."""
    return keys(original)


@pytest.mark.parametrize(
    ("edited", "images"),
    [
        ("src/storebench/stores/bulk_write_read/mongodb.py", PODS),
        ("src/storebench/stores/point_operations/new.py", {*PODS, "servers-api"}),
        ("src/storebench/protocol/result.txt", PODS),  # copied, whatever it is called
        ("src/storebench/web/api.py", set()),  # .dockerignore
        ("src/storebench/stores/__pycache__/base.cpython-311.pyc", set()),
        ("images/jvm/reader/target/reader.jar", set()),
        ("images/jvm/reader/src/main/java/storebench/reader/New.java", {"jvm"}),
        ("images/jvm/Dockerfile", {"iceberg-spark", "jvm"}),  # which share the file
        ("images/iceberg-spark/spark/pom.xml", {"iceberg-spark"}),
        ("images/formats/compiled/generate/main.go", {"formats"}),
        ("images/formats/compiled/rows/rows.pb.go", set()),  # made anew by the image's build
        ("docs/stores.md", set()),
        ("dags/bulk_write_read.py", set()),
        ("images/build", set()),
        ("images/python/notes", set()),  # beside the Dockerfile, and not copied
        (
            "images/python/Dockerfile",
            {"chdb", "columns", "iceberg", "load", "python"},
        ),  # which share the file
        ("requirements/pod-python.txt", {"python"}),
        ("requirements/pod-load.txt", {"load"}),
        ("requirements/pod-go.txt", {"formats", "servers-agent", "servers-api", "servers-mongodb"}),
        (
            "images/jvm/check-jars",
            {"iceberg-spark", "jvm", "servers-cassandra", "servers-hdfs", "servers-ozone"},
        ),
        ("agent/main.go", {"servers-agent"}),
        ("agent/api_test.go", set()),  # the image's build runs no tests
        ("images/servers/mongodb/topologies.txt", set()),  # the plan reads it
    ],
)
def test_an_edit_changes_the_keys_of_the_images_that_copy_the_file(original_keys, checkout, edited, images):
    file = checkout / edited
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as end:
        end.write("\n# edited\n")
    assert changed(checkout, original_keys) == images


def test_a_file_that_is_renamed_or_made_executable_is_another_image(checkout):
    before = keys(checkout)
    (checkout / "requirements" / "pod-python.txt").chmod(0o755)
    assert changed(checkout, before) == {"python"}
    before = keys(checkout)
    (checkout / "src/storebench/patience.py").rename(checkout / "src/storebench/waiting.py")
    assert changed(checkout, before) == PODS


def test_the_recipe_of_the_base_image_and_the_version_are_of_the_key(checkout):
    before = keys(checkout)
    with (checkout / "local" / "images" / "base.sh").open("a") as recipe:
        recipe.write("# edited\n")
    assert changed(checkout, before) == set(before)
    before = keys(checkout)
    (checkout / image_keys.VERSION).write_text('__version__ = "99.0"\n')
    assert changed(checkout, before) == set(before), "each Dockerfile has a label with it"


def test_an_image_of_ones_own_that_copies_no_code_keeps_its_key(checkout):
    folder = checkout / "images" / "kvgo"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM debian:bookworm-slim\nCOPY images/kvgo/main.go /build/\n")
    (folder / "main.go").write_text("package main")
    before = keys(checkout)
    with (checkout / "src/storebench/stores/base.py").open("a") as module:
        module.write("EDITED = True\n")
    (checkout / image_keys.VERSION).write_text('__version__ = "99.0"\n')
    assert "kvgo" not in changed(checkout, before)
    before = keys(checkout)
    (folder / "main.go").write_text("package other")
    assert changed(checkout, before) == {"kvgo"}


def test_images_that_share_a_dockerfile_have_different_keys(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "images" / name).mkdir(parents=True)
        (tmp_path / "images" / name / "Dockerfile").write_text(
            "FROM scratch\nARG IMAGE\nLABEL title=$IMAGE\n"
        )
    assert image_keys.key("one", tmp_path) != image_keys.key("two", tmp_path)


@pytest.mark.parametrize(
    ("line", "copies"),
    [
        ("COPY a/one.txt /tmp/", {"a/one.txt"}),
        ("COPY --chown=1:1 --chmod=755 ./a /tmp/", {"a/one.txt", "a/two.py", "a/b/three.py"}),
        ("copy a/*.py \\\n    c /tmp/", {"a/two.py", "c/four.txt"}),
        ('COPY ["a/one.txt", "c/four.txt", "/tmp/"]', {"a/one.txt", "c/four.txt"}),
        ("COPY --from=build /a/one.txt /tmp/", set()),
        ("COPY <<END /tmp/here\nEND", set()),
        ("ADD https://example.org/a c /tmp/", {"c/four.txt"}),
        ("RUN --mount=type=bind,source=c,target=/c --mount=type=secret,id=a true", {"c/four.txt"}),
        ("RUN --mount=target=/all true", {"a/one.txt", "a/two.py", "a/b/three.py", "c/four.txt"}),
        ("RUN --mount=from=build,source=a,target=/a true", set()),
        ("# COPY a /tmp/", set()),
        ("COPY nonesuch /tmp/", set()),
    ],
)
def test_the_files_that_a_dockerfile_reads_are_of_its_key(tmp_path, line, copies):
    files = {"a/one.txt", "a/two.py", "a/b/three.py", "c/four.txt"}
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    if line.startswith("RUN"):  # its source may be the whole checkout
        (tmp_path / ".dockerignore").write_text("images\n.dockerignore\n")
    (tmp_path / "images" / "own").mkdir(parents=True)
    (tmp_path / "images" / "own" / "Dockerfile").write_text(f"FROM scratch\n{line}\n")
    first = image_keys.key("own", tmp_path)
    found = set()
    for name in files:
        (tmp_path / name).write_text("edited")
        if image_keys.key("own", tmp_path) != first:
            found.add(name)
        (tmp_path / name).write_text("text")
    assert found == copies


@pytest.mark.parametrize(
    ("ignored", "kept"),
    [
        ("a\n", {"c/four.txt", "c/b/five.txt"}),
        ("/a/\n# c\n", {"c/four.txt", "c/b/five.txt"}),
        ("**/b\n", {"a/one.txt", "c/four.txt"}),
        ("**/*.txt\n", {"a/b/three.py"}),
        ("*/*.txt\n", {"a/b/three.py", "c/b/five.txt"}),
        ("*\n!c\nc/b\n", {"c/four.txt"}),
        ("a/**\n!a/b/*.py\n", {"a/b/three.py", "c/four.txt", "c/b/five.txt"}),
        ("?/[a-m]*.txt\n", {"a/one.txt", "a/b/three.py", "c/b/five.txt"}),
    ],
)
def test_patterns_of_a_dockerignore_exclude_as_a_build_does(ignored, kept):
    files = {"a/one.txt", "a/b/three.py", "c/four.txt", "c/b/five.txt"}
    excluded = image_keys._Ignored(ignored)
    assert {name for name in files if name not in excluded} == kept


def test_an_image_is_stale_where_this_checkout_has_another_key_for_it(checkout):
    now = keys(checkout)
    current = [f"localhost/storebench/{name}:{key}" for name, key in now.items()]
    assert image_keys.stale(current, checkout) == []
    with (checkout / "agent" / "main.go").open("a") as program:
        program.write("// edited\n")
    assert image_keys.stale(current, checkout) == ["servers-agent"]
    others = ["registry/python:0123456789ab", "localhost/storebench/python:variant-0123456789ab"]
    assert image_keys.stale([*others, "localhost/storebench/removed:0123456789ab"], checkout) == []


def test_the_command_prints_the_keys_that_make_reads_and_the_images_that_are_stale(checkout):
    def printed(*arguments):
        command = ["/usr/bin/python3", "-B", "-m", "local.image_keys", *arguments]
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
        return done.stdout.split()

    shutil.copy(ROOT / "local" / "__init__.py", checkout / "local")
    assert dict(word.split("=") for word in printed()) == keys(checkout)
    assert printed("stale", "localhost/storebench/python:0123456789ab") == ["python"]
