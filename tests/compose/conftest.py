"""The system of docker-compose.yaml, started in a Docker Engine for these tests (local/compose/engine)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASE = "debian:bookworm-slim"
BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


class Compose:
    """Commands on the system. `env`: the file made by `deploy/compose/prepare`."""

    def __init__(self, home):
        self.home, self.env = home, home / "docker" / "compose.env"

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
        push = f'. local/images/storage.sh && buildah push --quiet docker.io/library/{BASE} "docker-archive:{archive}:{BASE}"'
        self.run("sh", "-euc", push)
        self.run("docker", "load", "--input", archive)
        archive.unlink()
        context = self.home / "standins"
        shutil.rmtree(context, ignore_errors=True)
        shutil.copytree(ROOT / "deploy" / "compose" / "standins", context)
        for name in ("stack", "postgres"):
            shutil.copytree(ROOT / "local" / name, context / "local" / name)
        ignored = shutil.ignore_patterns("web", "__pycache__")
        shutil.copytree(ROOT / "src" / "storebench", context / "storebench", ignore=ignored)
        try:
            self("--profile", "build", "build")
        finally:
            shutil.rmtree(context)

    def prepare(self):
        """Run the user's set-up command; only the pods' images exist already."""
        options = ["--ca-bundle", BUNDLE] if BUNDLE.exists() else []
        self.run(
            *("deploy/compose/prepare", "--env", self.env, "--archives", self.home / "images"),
            *("--base", "localhost/storebench-standin/airflow", *options),
        )

    def up(self):
        up = self("up", "--detach", "--wait", "--wait-timeout", "600", check=False)
        if up.returncode != 0:
            self("ps", "--all")
            self("logs", "--tail", "40")
            self(
                "exec", "kubernetes", "sh", "-c", "tail -n 20 /var/lib/rancher/k3s/standin/log/*", check=False
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
    system.prepare()
    try:
        system.up()
        yield system
    finally:
        system("--profile", "*", "down", "--volumes", "--timeout", "10", check=False)
