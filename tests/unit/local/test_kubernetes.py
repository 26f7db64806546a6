"""The step that downloads or compiles Kubernetes, with an HTTP server on this machine as the site of releases."""

import hashlib
import http.server
import io
import os
import re
import shutil
import socket
import subprocess
import tarfile
import threading
from pathlib import Path

import pytest

from tests.dry_make import dry_make

ROOT = Path(__file__).parents[3]
PARTS = ("kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubelet")
RELEASE = "v1.34.4/kubernetes-server-linux-amd64.tar.gz"
# Compiling takes minutes. This program has the interface of local/go-build, and its result tells the name of its link.
GO_BUILD = """#!/bin/sh
printf '#!/bin/sh\\necho "compiled as ${0##*/}"\\n' > "$STOREBENCH_HOME/bin/$3"
chmod 755 "$STOREBENCH_HOME/bin/$3"
"""


def archive(programs):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for name in programs:
            text = f"#!/bin/sh\necho released {name}\n".encode()
            member = tarfile.TarInfo(f"kubernetes/server/bin/{name}")
            member.mode, member.size, member.uid = 0o755, len(text), 12345
            tar.addfile(member, io.BytesIO(text))
    return content.getvalue()


@pytest.fixture
def site():
    """Serve files over HTTP. `files` maps paths to contents, and `asked` lists the requested paths."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            content = files.get(self.path.lstrip("/"))
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_):
            pass

    files, asked = {RELEASE: archive([*PARTS, "kubectl", "kubeadm"])}, []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.asked = files, asked
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def build(tmp_path, site):
    """Run the step in a checkout whose checksum is the served archive's. Return the ended process."""
    checkout = tmp_path / "checkout"
    (checkout / "local" / "kubernetes").mkdir(parents=True)
    for name in (
        "step",
        "__init__.py",
        "progress.py",
        "space.py",
        "kubernetes/build.sh",
        "kubernetes/go.mod",
    ):
        shutil.copy(ROOT / "local" / name, checkout / "local" / name)
    checksum = hashlib.sha512(site.files[RELEASE]).hexdigest()
    (checkout / "local/kubernetes/release.sha512").write_text(f"{checksum}  {RELEASE}\n")
    (checkout / "local/go-build").write_text(GO_BUILD)
    machine = tmp_path / "path" / "dpkg"
    machine.parent.mkdir()
    machine.write_text("#!/bin/sh\necho ${ARCHITECTURE:-amd64}\n")
    for program in (checkout / "local/go-build", machine):
        program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kubernetes").touch()  # from an earlier version of the step

    def call(mode, **variables):
        command = ["local/step", str(tmp_path / "steps" / "kubernetes-1a"), "60", "building"]
        return subprocess.run(
            [*command, "local/kubernetes/build.sh", mode],
            cwd=checkout,
            env={
                **{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
                "STOREBENCH_HOME": str(tmp_path),
                "STOREBENCH_KUBERNETES_SITE": site.url,
                "PATH": f"{machine.parent}:{os.environ['PATH']}",
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


def told(home):
    """Return the output of each part, started through a link as in the stack."""
    links = home / "run"
    shutil.rmtree(links, ignore_errors=True)
    links.mkdir()
    for part in PARTS:
        (links / part).symlink_to(home / "bin" / "cluster" / part)
    return {subprocess.check_output([links / part], text=True).strip() for part in PARTS}


RELEASED, COMPILED = ({f"{how} {part}" for part in PARTS} for how in ("released", "compiled as"))


@pytest.mark.parametrize("mode", ["auto", "download"])
def test_a_release_with_the_right_checksum_is_taken(build, tmp_path, site, mode):
    taken = build(mode)
    assert taken.returncode == 0, taken.stderr
    assert f"kubernetes: took release v1.34.4 from {site.url}, with the right checksum\n" in taken.stdout
    assert told(tmp_path) == RELEASED
    assert sorted(path.name for path in (tmp_path / "bin" / "cluster").iterdir()) == sorted(PARTS)
    assert {path.stat().st_uid for path in (tmp_path / "bin" / "cluster").iterdir()} == {os.geteuid()}
    assert [path.name for path in (tmp_path / "bin").iterdir()] == ["cluster"]


def closed_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"STOREBENCH_KUBERNETES_SITE": "closed"}, r"Failed to connect to .*"),
        ({"STOREBENCH_KUBERNETES_SITE": "elsewhere"}, r".* 404.*"),
        ({"ARCHITECTURE": "riscv64"}, r".*sha512 has no checksum of v1\.34\.4/.*-riscv64\.tar\.gz"),
    ],
)
def test_without_a_download_kubernetes_is_compiled_and_the_user_reads_the_reason(
    build, tmp_path, site, variables, reason
):
    addresses = {"closed": f"http://127.0.0.1:{closed_port()}", "elsewhere": f"{site.url}/elsewhere"}
    variables = {name: addresses.get(value, value) for name, value in variables.items()}
    compiled = build("auto", **variables)
    assert compiled.returncode == 0, compiled.stderr
    pattern = rf"kubernetes: compiling v1\.34\.4, because the release cannot be downloaded from \S+: {reason}"
    assert [line for line in compiled.stdout.splitlines() if re.fullmatch(pattern, line)], compiled.stdout
    assert told(tmp_path) == COMPILED
    assert [path.name for path in (tmp_path / "bin").iterdir()] == ["cluster"]
    refused = build("download", **variables)
    assert refused.returncode == 1 and re.search(
        r"^The release v1\.34\.4 cannot be downloaded", refused.stderr, re.MULTILINE
    )
    assert told(tmp_path) == COMPILED, "the last result stays"


@pytest.mark.parametrize("mode", ["auto", "download"])
def test_a_wrong_checksum_is_an_error_and_nothing_is_unpacked(build, tmp_path, site, mode):
    site.files[RELEASE] += b"\0"
    refused = build(mode)
    assert refused.returncode == 1
    actual = hashlib.sha512(site.files[RELEASE]).hexdigest()
    assert f"{site.url}/{RELEASE} is not the file that Kubernetes released" in refused.stderr
    assert actual in refused.stderr and "STOREBENCH_KUBERNETES=compile" in refused.stderr
    assert not list((tmp_path / "bin").rglob("kubelet"))
    assert (tmp_path / "bin" / "kubernetes").exists() and not (tmp_path / "bin" / "cluster").exists()


def test_an_archive_without_a_part_is_an_error(build, tmp_path, site):
    site.files[RELEASE] = archive(PARTS[:-1])
    release = tmp_path / "checkout/local/kubernetes/release.sha512"
    release.write_text(f"{hashlib.sha512(site.files[RELEASE]).hexdigest()}  {RELEASE}\n")
    refused = build("auto")
    assert refused.returncode == 1 and "kubelet" in refused.stderr
    assert not (tmp_path / "bin" / "cluster").exists()


def test_a_compilation_that_was_asked_for_downloads_nothing(build, tmp_path, site):
    assert build("auto").returncode == 0 and told(tmp_path) == RELEASED
    site.asked.clear()
    assert build("compile").returncode == 0 and told(tmp_path) == COMPILED
    assert site.asked == []
    assert build("download").returncode == 0 and told(tmp_path) == RELEASED
    assert not (tmp_path / "bin" / "cluster" / "kubernetes").exists()


def test_the_checksums_are_of_the_version_that_is_compiled():
    version = re.search(r"k8s\.io/kubernetes (v\S+)", (ROOT / "local/kubernetes/go.mod").read_text())[1]
    lines = (ROOT / "local/kubernetes/release.sha512").read_text().splitlines()
    checksums = dict(reversed(line.split()) for line in lines if not line.startswith("#"))
    names = {f"{version}/kubernetes-server-linux-{machine}.tar.gz" for machine in ("amd64", "arm64")}
    assert set(checksums) == names
    assert all(re.fullmatch("[0-9a-f]{128}", checksum) for checksum in checksums.values())


def test_a_result_is_replaced_only_if_the_setting_excludes_it(tmp_path):
    def replaces(mode):
        rule = "--eval=.SECONDEXPANSION:\nthese: $$(KUBERNETES)"
        done = dry_make(tmp_path, f"STOREBENCH_KUBERNETES={mode}", rule, "these")
        assert done.returncode == 0, done.stderr
        return re.search(
            rf"local/step (\S+/kubernetes-\w+) .*\s.*local/kubernetes/build.sh {mode}", done.stdout
        )

    stamp, compiled = Path(replaces("auto")[1]), tmp_path / "bin" / "cluster" / "kubernetes"
    for path in (stamp, compiled):
        path.parent.mkdir(parents=True)
        path.touch()
    assert not replaces("auto") and replaces("download")
    compiled.unlink()
    assert not replaces("download") and replaces("compile")


def test_another_setting_is_refused(tmp_path):
    refused = dry_make(tmp_path, "STOREBENCH_KUBERNETES=fast", "help")
    assert refused.returncode == 2
    assert "STOREBENCH_KUBERNETES must be auto, compile or download: fast" in refused.stderr
