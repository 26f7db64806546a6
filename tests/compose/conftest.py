"""The system of docker-compose.yaml, started in a Docker Engine for these tests (local/compose/engine)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASE = "debian:bookworm-slim"
PAUSE = "localhost/storebench/pause:1"
# The Python packages that the stand-in for k3s imports, beside Debian's.
PACKAGES = (
    *(
        "annotated_types",
        "click",
        "psycopg",
        "psycopg_binary",
        "psycopg_binary.libs",
        "pydantic",
        "pydantic_core",
    ),
    *("tenacity", "trustme", "typing_extensions.py", "typing_inspection", "urllib3"),
)
BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


class Compose:
    """Commands on the system. `env`: the file made by `deploy/compose/prepare`."""

    def __init__(self, home):
        self.home, self.env = home, home / "docker" / "compose.env"
        self.archives = home / "docker" / "archives"

    def run(self, *command, check=True, timeout=900):
        done = subprocess.run(
            [str(part) for part in command],
            cwd=ROOT,
            env={**os.environ, "DOCKER_BUILDKIT": "1"},
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        print(f"$ {' '.join(str(part) for part in command)}\n{done.stdout}{done.stderr[-20_000:]}")
        assert not check or done.returncode == 0, f"{command[0]} ended with exit code {done.returncode}"
        return done

    def __call__(self, *arguments, **options):
        files = ["--file", "docker-compose.yaml", "--file", "deploy/compose/standins.yaml"]
        # Before there are settings: what is built depends on none.
        env = self.env if self.env.exists() else "deploy/compose/env.template"
        return self.run(
            self.home / "bin" / "docker-compose", "--env-file", env, *files, *arguments, **options
        )

    def settings(self):
        lines = [line for line in self.env.read_text().splitlines() if line and not line.startswith("#")]
        return dict(line.split("=", 1) for line in lines)

    def build(self):
        """Return the stand-ins, from the folder of `make setup`."""
        archive = self.home / "docker" / "base.tar"
        self.export(f"docker.io/library/{BASE}", archive, BASE)
        self.run("docker", "load", "--input", archive)
        archive.unlink()
        context = self.home / "standins"
        shutil.rmtree(context, ignore_errors=True)
        shutil.copytree(ROOT / "deploy" / "compose" / "standins", context)
        self.export(PAUSE, context / "pause.tar")
        (site,) = self.home.glob("venv/lib/python3*/site-packages")
        (context / "packages").mkdir()
        for name in PACKAGES:
            copy = shutil.copytree if (site / name).is_dir() else shutil.copy
            copy(site / name, context / "packages" / name)
        for name in ("stack", "postgres"):
            shutil.copytree(ROOT / "local" / name, context / "local" / name)
        for module in (ROOT / "local").glob("*.py"):
            shutil.copy(module, context / "local")
        ignored = shutil.ignore_patterns("web", "__pycache__")
        shutil.copytree(ROOT / "src" / "storebench", context / "storebench", ignore=ignored)
        try:
            self("--profile", "build", "build")
        finally:
            shutil.rmtree(context)

    def export(self, image, archive, name=""):
        """Write an image of the set-up's store as an archive, in which its name may be another one."""
        push = '. local/images/storage.sh && buildah push --quiet "$0" "docker-archive:$1:$2"'
        self.run("sh", "-euc", push, image, archive, name or image)

    def export_images(self):
        """Write all images of pods and servers that the set-up has built as archives."""
        self.archives.mkdir()
        for text in (self.home / "images").glob("*.txt"):
            shutil.copy(text, self.archives)
            image = dict(line.split("=", 1) for line in text.read_text().split())["image"]
            self.export(image, self.archives / f"{text.stem}.tar")

    def prepare(self):
        """Run the user's set-up command; only the images of pods and servers exist already."""
        options = ["--ca-bundle", BUNDLE] if BUNDLE.exists() else []
        self.run(
            *("deploy/compose/prepare", "--env", self.env, "--archives", self.archives),
            *("--base", "localhost/storebench-standin/airflow", *options),
        )

    def up(self):
        up = self("up", "--detach", "--wait", "--wait-timeout", "1800", check=False)
        if up.returncode != 0:
            self("ps", "--all")
            self("logs", "--tail", "40")
            self(
                *("exec", "--no-TTY", "kubernetes", "sh", "-c"),
                "tail -n 20 /var/lib/rancher/k3s/standin/log/*",
                check=False,
            )
            pytest.fail("the system does not come up")

    def left(self):
        """Return the existing containers, volumes and networks."""
        containers = self.run("docker", "ps", "--all", "--quiet").stdout.split()
        volumes = self.run("docker", "volume", "ls", "--quiet").stdout.split()
        networks = self.run("docker", "network", "ls", "--filter", "type=custom", "--quiet").stdout.split()
        return containers + volumes + networks


@pytest.fixture(scope="session")
def compose():
    home = Path(os.environ.get("STOREBENCH_HOME", "/nowhere"))
    system = Compose(home)
    root = system.run("docker", "info", "--format", "{{.DockerRootDir}}", check=False).stdout.strip()
    if root != str(home / "docker"):
        pytest.fail("these tests need a Docker Engine of their own: run them with `make e2e-compose`")
    system.build()
    system.export_images()
    system.prepare()
    try:
        system.up()
        yield system
    finally:
        system("--profile", "*", "down", "--volumes", "--timeout", "10", check=False)
