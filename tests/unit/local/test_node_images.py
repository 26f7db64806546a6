"""Images that a node gets from the builder's store, with a real builder and a real containerd."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from local.stack import node_images
from local.stack.settings import Settings, StackError

ROOT = Path(__file__).parents[3]
NAME = f"{node_images.OWN}tiny:0123456789ab"
OTHER = f"{node_images.OWN}tiny:ba9876543210"
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to run containerd"),
    pytest.mark.skipif(not (shutil.which("buildah") and shutil.which("ctr")), reason="needs the programs"),
]
# The second layer removes a file, empties a folder and fills it anew, and has a link.
BASE = """
. local/images/storage.sh
exec local/isolated sh -euc '
    container=$(buildah from scratch) && cd "$(buildah mount "$container")"
    mkdir -p data/old && echo 0 > data/gone && echo 0 > data/old/before && echo 0 > data/kept
    cd / && buildah commit --quiet --rm "$container" localhost/first:1
    container=$(buildah from localhost/first:1) && cd "$(buildah mount "$container")/data"
    rm gone && rm -r old && mkdir old && echo 1 > old/new && ln -s new old/link && chmod 600 kept
    cd / && buildah commit --quiet --rm "$container" localhost/second:1
'
"""
BUILD = """
. local/images/storage.sh
local/isolated buildah bud --quiet --layers --isolation chroot --tag "$1" --file "$2/Dockerfile" "$2"
"""
DOCKERFILE = "FROM localhost/second:1\nCOPY code /code/\n"
LISTING = r"find . -mindepth 1 -printf '%p %y %m %U %G %l\n' -type f -exec sha256sum {} + | sort"
CONFIG = """
version = 2
root = "{folder}/root"
state = "{folder}/state"
[grpc]
  address = "{folder}/run/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  disable_apparmor = true
  tolerate_missing_hugetlb_controller = true
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    conf_dir = "{folder}/cni"
"""


@pytest.fixture
def home(monkeypatch):
    """Make the home of a builder, with its temporary files. Its path is short: a socket's path has at most 107 bytes."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        home = Path(folder)
        for name in ("tmp", "run"):
            (home / name).mkdir()
        monkeypatch.setenv("STOREBENCH_HOME", folder)
        monkeypatch.setenv("TMPDIR", str(home / "tmp"))
        yield home


@pytest.fixture
def build(home):
    """Build the image `name` with this text as its code."""
    run("sh", "-euc", BASE)
    context = home / "context"
    (context / "code").mkdir(parents=True)
    (context / "Dockerfile").write_text(DOCKERFILE)

    def image(name, code):
        (context / "code" / "module.py").write_text(code)
        run("sh", "-euc", BUILD, "build", name, str(context))

    return image


@pytest.fixture
def containerd(home):
    """Start a containerd for the test."""
    (home / "containerd.toml").write_text(CONFIG.format(folder=home))
    process = subprocess.Popen(
        ["containerd", "--config", str(home / "containerd.toml"), "--log-level", "warn"]
    )
    found = node_images.Containerd(home / "run" / "containerd.sock")
    try:
        for _ in range(100):
            try:
                found.version()
                break
            except StackError:
                time.sleep(0.1)
        yield found
    finally:
        process.terminate()
        process.wait(10)


def run(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files_of_build(name):
    script = f". local/images/storage.sh; exec local/isolated sh -euc 'cd \"$(buildah mount $(buildah from {name}))\"; {LISTING.replace(chr(39), chr(34))}'"
    return run("sh", "-euc", script).splitlines()


def files_on_node(containerd, image, home):
    (home / "seen").mkdir(exist_ok=True)
    view = f"view-{time.monotonic_ns()}"
    mount = containerd._ctr(
        "snapshots", "view", "--target", str(home / "seen"), view, image.layers[-1].snapshot
    )
    try:
        return run(
            "unshare", "--mount", "sh", "-euc", f"{mount.strip()}; cd {home}/seen; {LISTING}"
        ).splitlines()
    finally:
        # containerd's garbage collection may have removed the view already, as no image refers to it
        with contextlib.suppress(StackError):
            containerd._ctr("snapshots", "remove", view)


def kubelet_knows(containerd, name):
    """Wait until the image has its second name, by which a kubelet knows it, and no other image is there."""
    for _ in range(100):
        images = containerd.images()
        if len(images) == 2:
            break
        time.sleep(0.1)
    assert len(set(images.values())) == 1 and sorted(images) == [name, max(images)]
    assert max(images).startswith(node_images.ID)


def snapshots(containerd):
    return {line.split()[0] for line in containerd._ctr("snapshots", "list").splitlines()[1:]}


def test_a_node_has_the_files_of_the_build_and_they_lie_on_the_disk_once(home, build, containerd):
    build(NAME, "one")
    settings = Settings(home=home, own=frozenset())
    node_images.update(settings, containerd, [NAME])
    image = node_images.built(settings, NAME)
    kubelet_knows(containerd, NAME)
    files = files_on_node(containerd, image, home)
    assert files == files_of_build(NAME)
    assert any(line.endswith("./data/old/new") for line in files) and "gone" not in "".join(files)
    inodes = {
        path.stat().st_ino for layer in image.layers for path in layer.folder.rglob("*") if path.is_file()
    }
    linked = [
        path
        for path in (home / "root").rglob("snapshots/*/fs/**/*")
        if path.is_file() and not path.is_symlink()
    ]
    assert len(linked) > 3 and {path.stat().st_ino for path in linked} <= inodes


def test_an_edit_adds_one_layer_and_the_layers_of_an_earlier_image_go(home, build, containerd):
    settings = Settings(home=home, own=frozenset())
    build(NAME, "one")
    node_images.update(settings, containerd, [NAME])
    kubelet_knows(containerd, NAME)
    before = snapshots(containerd)
    build(OTHER, "two")
    node_images.update(settings, containerd, [OTHER])
    kubelet_knows(containerd, OTHER)
    (new,) = {layer.snapshot for layer in node_images.built(settings, OTHER).layers} - before
    for _ in range(100):
        if len(left := snapshots(containerd)) == len(before):
            break
        time.sleep(0.1)
    assert left == {layer.snapshot for layer in node_images.built(settings, OTHER).layers} and new in left
    assert any(
        "module.py" in line for line in files_on_node(containerd, node_images.built(settings, OTHER), home)
    )


def test_an_addition_that_was_interrupted_begins_again(home, build, containerd):
    settings = Settings(home=home, own=frozenset())
    build(NAME, "one")
    image = node_images.built(settings, NAME)
    containerd._ctr("snapshots", "prepare", f"storebench-{image.layers[0].snapshot}")
    containerd.add(image)
    assert files_on_node(containerd, image, home) == files_of_build(NAME)
    assert snapshots(containerd) == {layer.snapshot for layer in image.layers}


def test_an_image_that_the_builder_lacks_is_refused_with_what_to_type(home):
    stamp = home / "steps" / "image-tiny-0123456789ab"
    with pytest.raises(StackError, match=f"has no image {NAME}: `rm -f {stamp}`, then `make setup`"):
        node_images.built(Settings(home=home, own=frozenset()), NAME)
