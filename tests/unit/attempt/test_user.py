"""The pod's program as a user without a name, as OpenShift runs it: a random number, in the group 0."""

import getpass
import os
import re
import tempfile
from pathlib import Path

import pytest

from storebench.attempt.user import NAME, give_name

UID = 1_000_620_000
IMAGES = Path(__file__).parents[3] / "images"
OF_PODS = sorted(path for path in IMAGES.glob("*/Dockerfile") if path.parent.name != "airflow")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")


def as_random_user(work):
    """Run the work in a process of a random user, and return its output."""
    reads, writes = os.pipe()
    if (child := os.fork()) == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(0)
            os.setuid(UID)
            os.write(writes, work().encode())
            code = 0
        except BaseException as error:  # noqa: BLE001 - told by the parent
            os.write(writes, repr(error).encode())
        finally:
            os._exit(code)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, said
    return said


@pytest.fixture
def scratch():
    """Yield a folder that every user can write, like a pod's /tmp, unlike pytest's folders."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@needs_root
def test_a_user_without_a_name_gets_one_and_a_home(scratch, monkeypatch):
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/")

    def nameless():
        try:
            return getpass.getuser()
        except (KeyError, OSError):
            return "none"

    def named():
        give_name(scratch=scratch)
        return f"{getpass.getuser()} {Path.home()}"

    assert as_random_user(nameless) == "none"
    assert as_random_user(named) == f"{NAME} {scratch}"


@needs_root
def test_where_the_image_has_the_library_the_system_tells_the_name_too(scratch):
    (scratch / "lib" / "any").mkdir(parents=True)
    library = scratch / "lib" / "any" / "libnss_wrapper.so"
    library.touch()

    def named():
        environment = {"HOME": "/"}
        give_name(environment, scratch=scratch, libraries=scratch / "lib")
        users = Path(environment["NSS_WRAPPER_PASSWD"]).read_text().splitlines()
        return f"{environment['LD_PRELOAD']} {users[0]} {users[-1]}"

    root = Path("/etc/passwd").read_text().splitlines()[0]
    assert as_random_user(named) == f"{library} {root} {NAME}:x:{UID}:0::{scratch}:/usr/sbin/nologin"


def test_a_user_with_a_name_keeps_it(tmp_path):
    environment = {"HOME": "/home/storebench"}
    give_name(environment, scratch=tmp_path)
    assert environment == {"HOME": "/home/storebench"} and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", OF_PODS, ids=lambda path: path.parent.name)
def test_an_image_begins_where_any_user_may_be(path):
    assert re.findall(r"^WORKDIR (.*)$", path.read_text(), re.MULTILINE)[-1] == "/tmp"


def test_images_with_a_jvm_have_the_library():
    for path in OF_PODS:
        text = path.read_text()
        assert ("jre" in text) <= ("libnss-wrapper" in text), path
