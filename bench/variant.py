"""Build temporary pod images of changed code in the embedded cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storebench.cli.airflow_api import Airflow

CHECKOUT = Path(__file__).parents[1]
CA_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
PARTS = ("dags", "images", "local", "plugins", "requirements", "src")


def command(*arguments: object, cwd: Path, **environment: object) -> str:
    """Run a command and return its output. Raises RuntimeError with the end of the output on failure."""
    process = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
    )
    if process.returncode:
        raise RuntimeError(f"{arguments[0]} ended with {process.returncode}: {process.stdout[-2000:]}")
    return process.stdout


@contextmanager
def copied_checkout() -> Iterator[Path]:
    """Copy the files that images are built from, to change them. The copy's parent folder is removed at the end."""
    parent = Path(os.environ["STOREBENCH_HOME"], "tmp")
    parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="variant-", dir=parent) as folder:
        copy = Path(folder, "checkout")
        for name in PARTS:
            shutil.copytree(
                CHECKOUT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "target")
            )
        yield copy


@contextmanager
def pod_image(checkout: Path, image: str = "python") -> Iterator[str]:
    """Build the copy's images/`image` in the cluster's containerd as local/images/pod.sh does. Yield the image's name."""
    home, name = (
        os.environ["STOREBENCH_HOME"],
        f"localhost/storebench/{image}:variant-{uuid.uuid4().hex[:12]}",
    )
    folder = checkout.parent
    archive = folder / f"{image}.tar"
    isolated = ("sh", "-euc", '. local/images/storage.sh; exec local/isolated "$@"', "sh")
    ctr = ("ctr", "--address", f"{home}/run/containerd.sock", "--namespace", "k8s.io", "images")
    ca_bundle = ("--ca-bundle", CA_BUNDLE) if CA_BUNDLE.exists() else ()
    options = ("--engine", "buildah", "--tag", name, "--archive", archive, *ca_bundle)
    command(*isolated, "images/build", image, *options, cwd=checkout, TMPDIR=folder)
    try:
        command(*ctr, "import", archive, cwd=checkout)
        try:
            yield name
        finally:
            command(*ctr, "remove", "--sync", name, cwd=checkout)
    finally:
        command(*isolated, "buildah", "rmi", name, cwd=checkout, TMPDIR=folder)


@contextmanager
def used(airflow: Airflow, image: str) -> Iterator[None]:
    """Let the DAG's pods use this image instead of the Python image during the block."""
    path = "/api/v2/variables/storebench_image_python"
    variable = {name: airflow.call("GET", path)[name] for name in ("key", "value")}
    airflow.call("PATCH", path, json={**variable, "value": image})
    try:
        yield
    finally:
        airflow.call("PATCH", path, json=variable)
