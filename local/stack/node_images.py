"""Give each node of the cluster the images that the set-up has built.

The builder (buildah) and a node's containerd keep each layer of an image as a folder for overlayfs. So a node gets a layer as a folder of
hard links to the builder's files, which are on the disk only once. No process writes to these files: builds and pods write to their own
layers.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.stack.settings import Settings, StackError

OWN = "localhost/storebench/"  # prefix of the names of the set-up's images
PAUSE = f"{OWN}pause:1"
ID = "sha256:"  # prefix of the second name of an image
GC_ROOT = "containerd.io/gc.root"  # ctr's label that keeps snapshots forever


@dataclass(frozen=True)
class Layer:
    """A layer of an image: the folder of its files in the builder's store, and a node's snapshot of this layer and all layers below."""

    folder: Path
    snapshot: str


@dataclass(frozen=True)
class Built:
    """An image in the builder's store, with its layers from the base upwards."""

    name: str
    manifest: bytes
    config: bytes
    layers: tuple[Layer, ...]


def built(settings: Settings, name: str) -> Built:
    """Return an image of the builder's store. Raises StackError where the store lacks the image."""
    store = settings.home / "images" / "storage"
    matching = [
        image
        for image in _read(store / "overlay-images" / "images.json")
        if name in (image.get("names") or ())
    ]
    if not matching:
        image, _, key = name.removeprefix(OWN).partition(":")
        stamp = settings.home / "steps" / f"image-{image}-{key}"
        raise StackError(
            f"The builder's store {store} has no image {name}: `rm -f {stamp}`, then `make setup` builds the image again."
        )
    folder = store / "overlay-images" / matching[0]["id"]
    config_name = base64.b64encode(f"sha256:{matching[0]['id']}".encode()).decode()
    config = (folder / f"={config_name}").read_bytes()
    layers = {layer["id"]: layer for layer in _read(store / "overlay-layers" / "layers.json")}
    folders: list[Path] = []
    layer = layers.get(matching[0]["layer"])
    while layer:
        folders.insert(0, store / "overlay" / layer["id"] / "diff")
        layer = layers.get(layer.get("parent", ""))
    snapshots = list(_snapshots_of(json.loads(config)["rootfs"]["diff_ids"]))
    if len(folders) != len(snapshots):
        raise StackError(
            f"The builder's store {store} has {len(folders)} layers of {name}, and the image has {len(snapshots)}."
        )
    return Built(name, (folder / "manifest").read_bytes(), config, tuple(map(Layer, folders, snapshots)))


def _read(path: Path) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    return records


def _snapshots_of(layers: list[str]) -> Iterator[str]:
    """Yield containerd's names of the snapshots of layers: a chain of hashes (OCI's ChainID)."""
    chain = ""
    for digest in layers:
        chain = f"sha256:{hashlib.sha256(f'{chain} {digest}'.encode()).hexdigest()}" if chain else digest
        yield chain


class Containerd:
    """The images and layers of one node."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self._command = ["ctr", "--address", str(socket), "--namespace", "k8s.io"]

    def version(self) -> None:
        """Check that containerd answers. Raises StackError if it does not."""
        self._ctr("version")

    def images(self) -> dict[str, str]:
        """Return the names of all images with the digests of their manifests. Kubelets use an image's second name, its id."""
        lines = self._ctr("images", "list").splitlines()[1:]
        return {words[0]: words[2] for words in map(str.split, lines)}

    def remove(self, image: str) -> None:
        """Remove an image. containerd removes the layers that no other image uses."""
        self._ctr("images", "remove", image)

    def add(self, image: Built) -> None:
        """Add an image: link the missing layers, then record the image. An interrupted addition starts again."""
        listed = [line.split() for line in self._ctr("snapshots", "list").splitlines()[1:]]
        there = {words[0]: words[-1] for words in listed}
        parent = ""
        for layer in image.layers:
            if layer.snapshot not in there:
                self._link(layer, parent, there)
            parent = layer.snapshot
        self._ctr("images", "import", "-", content=_metadata(image))
        # from now on the image's record keeps the layers
        for layer in image.layers:
            if layer.snapshot not in there:
                self._ctr("snapshots", "label", layer.snapshot, f"{GC_ROOT}=")

    def _link(self, layer: Layer, parent: str, there: dict[str, str]) -> None:
        active = f"storebench-{layer.snapshot}"
        if active in there:
            self._ctr("snapshots", "remove", active)
        mounts = json.loads(self._ctr("snapshots", "prepare", "--mounts", active, *filter(None, [parent])))
        folder = _written_folder(mounts[0])
        linked = ["cp", "--archive", "--link", "--no-target-directory", str(layer.folder), str(folder)]
        process = subprocess.run(linked, capture_output=True, text=True, check=False)
        if process.returncode:
            raise StackError(
                f"A node cannot link the files of the builder. Are images/ and data/ of STOREBENCH_HOME on one file system? {process.stderr.strip()[-500:]}"
            )
        folder.chmod(0o755)  # the mode of an unpacked layer; the builder's folder has 0555
        self._ctr("snapshots", "commit", layer.snapshot, active)

    def _ctr(self, *arguments: str, content: bytes | None = None) -> str:
        command = [*self._command, *arguments]
        process = subprocess.run(command, input=content, capture_output=True, check=False)
        if process.returncode:
            said = process.stderr.decode(errors="replace").strip()
            raise StackError(f"{' '.join(command)} ended with exit code {process.returncode}: {said}")
        return process.stdout.decode()


def _written_folder(mount: dict[str, Any]) -> Path:
    """Return the folder that a mount of an active snapshot writes into: the source of a bind mount, or the upper folder of an overlay."""
    options = dict(option.partition("=")[::2] for option in mount["Options"])
    return Path(options["upperdir"] if mount["Type"] == "overlay" else mount["Source"])


def _metadata(image: Built) -> bytes:
    """Return an OCI archive of an image without its layers."""
    descriptor = {
        "mediaType": json.loads(image.manifest)["mediaType"],
        "digest": f"sha256:{hashlib.sha256(image.manifest).hexdigest()}",
        "size": len(image.manifest),
        "annotations": {"io.containerd.image.name": image.name},
    }
    files = {
        "oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode(),
        "index.json": json.dumps({"schemaVersion": 2, "manifests": [descriptor]}).encode(),
        **{
            f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}": blob
            for blob in (image.manifest, image.config)
        },
    }
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def update(settings: Settings, containerd: Containerd, wanted: list[str]) -> None:
    """Add the wanted images that a node lacks, and remove the set-up's other images from the node."""
    there = containerd.images()
    for name in wanted:
        if name not in there:
            containerd.add(built(settings, name))
            print(f"{containerd.socket}: added {name}")
    for name in there:
        if name.startswith(OWN) and name not in wanted:
            containerd.remove(name)
    remaining = containerd.images()
    named = {digest for name, digest in remaining.items() if not name.startswith(ID)}
    for name, digest in remaining.items():
        if name.startswith(ID) and digest not in named:
            containerd.remove(name)
