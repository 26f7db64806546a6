"""Check a run before it starts any work: clear messages instead of failing pods."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from airflow.sdk import Variable, conf

from storebench.airflow import connections, images
from storebench.attempt import disk
from storebench.errors import SpecError
from storebench.planning.checks import check_disk, embedded_parts, has_embedded_cluster
from storebench.planning.images import of_pods
from storebench.planning.topologies import AGENT_IMAGE
from storebench.s3 import check_bucket
from storebench.servers import stand_ins
from storebench.spark.options import KEY_NAME
from storebench.study.model import Study

# The variable with the command that starts stopped servers of the embedded stack, and waits for them. Its arguments are their names.
WAKE = "STOREBENCH_WAKE"
WAKE_S = 600
# The variable with the command that prints the images with other code than the embedded stack's checkout. Its arguments are images.
STALE = "STOREBENCH_STALE_IMAGES"
STALE_S = 60
EMBEDDED_IMAGES = "localhost/storebench/"  # the prefix of images that the embedded stack has built
SERVICES = "services"  # the name by which WAKE starts the embedded cluster's parts for volumes and provisioned servers
SERVICES_DESCRIPTION = "what gives servers their addresses and names, and pods their volumes"


def check(study: Study, rows: int, dataset_bytes: int | None = None) -> None:
    """Check that S3 answers, that the disk can hold the dataset, and that the disk's rate is a number. Raises a StorebenchError.

    `dataset_bytes`: the dataset's size, if known.
    """
    if rate := Variable.get(disk.AIRFLOW_VARIABLE, default=None):
        disk.rate_of(rate)
    if study.dataset:
        check_disk(rows * study.dataset.row_bytes if dataset_bytes is None else dataset_bytes)
    check_bucket(connections.s3(), connections.bucket())


def check_connections(names: Iterable[str]) -> None:
    """Check that pods can use these connections. Raises SpecError that names the wrong field. KEY_NAME is no connection."""
    for name in names:
        if name != KEY_NAME:
            connections.pod(name)


def most_turns() -> int:
    """Return the number of turns that this Airflow allows in a run."""
    return conf.getint("core", "max_map_length")


def check_embedded(
    study: Study, names: Iterable[str], server_images: Mapping[str, Collection[str]] = MappingProxyType({})
) -> None:
    """Start the embedded stack's stopped servers, and its cluster's parts for volumes and provisioned servers. Elsewhere do nothing.

    `names`: the stores whose pods the run starts. `server_images`: the images of the servers that the run provisions, by store. Raises SpecError for an image or a server that is not built
    yet, for an image of other code than the checkout, and for a server that does not start.
    """
    names, on_cluster = set(names), has_embedded_cluster()
    if on_cluster:
        _check_current(study, names, server_images)
    reason = "it was not built yet"
    lacking = {name for name in names if on_cluster and _lacks_image(study, name)}
    served = {*server_images, *(name for name in names if _has_volume(study, name))}
    if on_cluster and served:
        _check_stand_ins(study, server_images)
        unbuilt = {
            name: {image for image in needed if not images.named(image)}
            for name, needed in server_images.items()
        }
        lacking |= {name for name, needed in unbuilt.items() if needed}
        if not lacking and (failed := _wake([SERVICES], SERVICES_DESCRIPTION)):
            lacking, reason = served, failed
    if not lacking and (asleep := _away(study, names)):
        reason = _wake(sorted(set(asleep.values()))) or "it was started, and does not answer"
        lacking = set(_away(study, names))
    if lacking:
        raise SpecError(
            f"The embedded stack does not run what {' and '.join(sorted(lacking))} needs: {reason}."
            f" `make up STUDY={study.name} STORES={','.join(sorted(lacking))}` builds and starts it. Then start the run again"
        )


def check_images(study: Study, names: Iterable[str], servers: Iterable[str] = ()) -> None:
    """Check that Airflow Variables name the images of these stores' pods and of the dataset's pod. Raises SpecError.

    `names`: the stores whose pods the run starts. `servers`: the unpublished images of servers that the run provisions, such as `servers_api`.
    """
    images.check([*of_pods(study, names), *servers])


def _check_current(
    study: Study, names: Collection[str], server_images: Mapping[str, Collection[str]]
) -> None:
    """Refuse images of these stores that were built from other code than the checkout's. Raises SpecError."""
    command = shlex.split(os.environ.get(STALE, ""))
    needed = {image for name in names for image in _images_of(study, name)}
    needed |= {study.dataset.pod.image} if study.dataset else set()
    needed |= {image for set_images in server_images.values() for image in (*set_images, AGENT_IMAGE)}
    references = sorted({reference for image in needed if (reference := images.named(image))})
    if not command or not references:
        return
    process = subprocess.run(
        [*command, *references], capture_output=True, text=True, timeout=STALE_S, check=False
    )
    if process.returncode:
        raise SpecError(f"The images cannot be compared with the checkout: {process.stderr.strip()[-500:]}")
    if stale := process.stdout.split():
        raise SpecError(
            f"These images hold other code than this checkout: {', '.join(stale)}. The run would measure the code from before your change."
            f" `make up STUDY={study.name} STORES={','.join(sorted(names))}` builds the images. Then start the run again"
        )


def _images_of(study: Study, name: str) -> set[str]:
    """Return the images of a store's pods, as its study names them."""
    return {study.store(name).pod_of(operation.name).image for operation in study.operations_of(name)}


def _lacks_image(study: Study, name: str) -> bool:
    return any(images.named(image) is None for image in _images_of(study, name))


def _has_volume(study: Study, name: str) -> bool:
    store = study.store(name)
    return any(store.pod_of(operation.name).volume for operation in study.operations_of(name))


def _check_stand_ins(study: Study, server_images: Mapping[str, Collection[str]]) -> None:
    """Refuse servers that the embedded stack's images cannot stand in for. Raises SpecError. Images have names such as `servers_api`."""
    for name, needed in sorted(server_images.items()):
        _, topology = study.store(name).server_of(name) or ("", "")
        for image in sorted(needed):
            if (images.named(image) or EMBEDDED_IMAGES).startswith(EMBEDDED_IMAGES):
                stand_ins.check(image.removeprefix("servers_").replace("_", "-"), topology)


def _away(study: Study, names: Iterable[str]) -> dict[str, str]:
    """Return the stores whose server is a part of the embedded stack and does not listen, with the server's name."""
    # The S3 with the datasets is no such server: it always runs, and `check` asks for its bucket.
    servers = {
        name: store.connection_of(name) for name in names if (store := study.store(name)).server_of(name)
    }
    embedded = embedded_parts()
    return {
        name: server
        for name, server in servers.items()
        if server is not None and server in embedded and not _listens(server)
    }


def _wake(servers: Sequence[str], description: str = "") -> str:
    """Start these servers. `description` names them in messages. Returns why they cannot be started; empty if they can."""
    description = description or " and ".join(servers)
    command = shlex.split(os.environ.get(WAKE, ""))
    if not command:
        return f"{description} is stopped, and {WAKE} names no command that starts it"
    print(f"Starting {description}, which the stack has stopped as no run needed it", flush=True)
    try:
        process = subprocess.run(
            [*command, *servers], capture_output=True, text=True, timeout=WAKE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it could not be started: {error}"
    print(process.stdout, end="", flush=True)
    failure = f"the command ended with exit code {process.returncode}" if process.returncode else ""
    return process.stderr.strip().rstrip(".") or failure


def _listens(server: str) -> bool:
    try:
        for address in connections.pod(server).addresses(0):
            socket.create_connection(address, timeout=5).close()
    except OSError:
        return False
    return True
