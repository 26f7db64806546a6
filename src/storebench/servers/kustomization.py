"""Read the manifests of a kustomization. Airflow's image has no kustomize: this module does the part that topologies use.

A listing (kustomization.yaml) may name files of its folder, other folders with a listing, components, and patches in the form of JSON
Patch (RFC 6902). kustomize reads such a listing with the same result, and also sets the namespace, which this module does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from storebench.errors import SpecError

LISTING = "kustomization.yaml"
COMPONENT = "Component"  # kind of a listing that other listings include under `components`
# The keys that a listing may have.
KEYS = {"apiVersion", "kind", "namespace", "resources", "components", "patches"}
PATCH_KEYS = {"target", "path", "patch"}
TARGET_KEYS = {"kind", "name"}

Object = dict[str, Any]


def objects(folder: Path) -> list[Object]:
    """Return the objects of the kustomization in a folder, in the order of their listing. Raises SpecError if it cannot be read."""
    manifests: list[Object] = []
    _accumulate(folder.resolve(), manifests, within=())
    return manifests


def _accumulate(folder: Path, manifests: list[Object], within: Sequence[Path]) -> None:
    """Add the objects of a folder's listing to `manifests`, and apply the listing's patches.

    The patches of a component apply to all objects of `manifests`, other patches to the objects of their own listing. `within`: the folders
    whose listings include this folder.
    """
    if folder in within:
        raise SpecError(f"{folder / LISTING} includes itself, by {within[-1] / LISTING}")
    listing = _listing(folder)
    within = (*within, folder)
    patched = manifests if listing.get("kind") == COMPONENT else []
    for name in listing.get("resources") or []:
        if (folder / name).is_dir():
            _accumulate(_included(folder, name, "resources"), patched, within)
        else:
            patched.extend(_documents(_file(folder, name)))
    for name in listing.get("components") or []:
        _accumulate(_included(folder, name, "components"), patched, within)
    for patch in listing.get("patches") or []:
        _apply(patch, patched, folder)
    if patched is not manifests:
        manifests.extend(patched)


def _listing(folder: Path) -> Object:
    listing = next(iter(_documents(folder / LISTING)), {})
    if more := sorted(set(listing) - KEYS):
        raise SpecError(
            f"{folder / LISTING} has {', '.join(more)}. A run reads only a part of kustomize: only"
            f" {', '.join(sorted(KEYS))} may be there"
        )
    return listing


def _included(folder: Path, name: str, key: str) -> Path:
    """Return the folder `name`, which the listing in `folder` includes under `key`. Raises SpecError if its listing is of another kind."""
    path = (folder / name).resolve()
    if not (path / LISTING).is_file():
        raise SpecError(f"{folder / LISTING} lists the folder {name}, which has no {LISTING}")
    if (_listing(path).get("kind") == COMPONENT) is not (key == "components"):
        raise SpecError(
            f"{folder / LISTING} lists {name} under {key}: a {COMPONENT} belongs under components, and nothing else"
        )
    return path


def _file(folder: Path, name: str) -> Path:
    """Return the file that the listing in `folder` names. Raises SpecError if no such file is in the folder, as kustomize does."""
    path = Path(os.path.normpath(folder / name))
    if not path.is_relative_to(folder):
        raise SpecError(f"{folder / LISTING} lists {name}, which is not in its folder: list the other folder")
    if not path.is_file():
        raise SpecError(f"{folder / LISTING} lists {name}, which is not there")
    return path


def _documents(path: Path) -> list[Object]:
    documents = _parsed(path, None)
    if not all(isinstance(document, dict) for document in documents):
        raise SpecError(f"{path} is not a manifest of Kubernetes")
    return documents


def _parsed(path: Path, text: str | None) -> list[Any]:
    """Parse the YAML documents of a file. `text`: a text from the file, to parse instead of the whole file."""
    try:
        documents = yaml.safe_load_all(path.read_text() if text is None else text)
        return [document for document in documents if document is not None]
    except (OSError, yaml.YAMLError) as error:
        raise SpecError(f"{path} cannot be read: {error}") from None


def _apply(patch: Any, manifests: Sequence[Object], folder: Path) -> None:
    """Apply a patch of the listing in `folder` to the object that the patch names."""
    place = f"{folder / LISTING} has a patch"
    target = patch.get("target") if isinstance(patch, dict) else None
    if not isinstance(target, dict) or set(target) != TARGET_KEYS or set(patch) - PATCH_KEYS:
        raise SpecError(
            f"{place} without a target: it must have the kind and the name of one object, and nothing else"
        )
    operations = list(_operations(patch, folder))
    matches = [
        item
        for item in manifests
        if item.get("kind") == target["kind"] and item.get("metadata", {}).get("name") == target["name"]
    ]
    if len(matches) != 1:
        raise SpecError(
            f"{place} of {target['kind']} {target['name']}: there are {len(matches)} such objects"
        )
    for operation in operations:
        try:
            _operate(matches[0], operation)
        except (LookupError, TypeError, ValueError) as error:
            raise SpecError(
                f"{place} of {target['kind']} {target['name']} that cannot be applied: {operation}: {error!r}"
            ) from None


def _operations(patch: Object, folder: Path) -> Iterator[Object]:
    """Yield the operations of a patch. They are in a file (`path`), or in the listing itself (`patch`)."""
    path, text = (
        (_file(folder, patch["path"]), None)
        if "path" in patch
        else (folder / LISTING, patch.get("patch", ""))
    )
    for operations in _parsed(path, text):
        if not isinstance(operations, list):
            raise SpecError(f"{path} has a patch that is no list of operations of JSON Patch (RFC 6902)")
        yield from operations


def _operate(target: Any, operation: Object) -> None:
    """Apply an operation of JSON Patch (RFC 6902). Raises LookupError, TypeError or ValueError if it cannot be applied."""
    root, *names = operation["path"].split("/")
    if root or not names:
        raise ValueError("a path begins with a slash")
    *parents, last = (name.replace("~1", "/").replace("~0", "~") for name in names)
    for name in parents:
        target = target[_key(target, name)]
    adds = operation["op"] == "add"
    if adds and isinstance(target, list):
        index = len(target) if last == "-" else _key(target, last)
        if index > len(target):
            raise IndexError(index)
        target.insert(index, operation["value"])
        return
    key = _key(target, last)
    if not adds:
        current = target[key]  # raises LookupError if there is no value
    match operation["op"]:
        case "add" | "replace":
            target[key] = operation["value"]
        case "remove":
            del target[key]
        case "test":
            if current != operation["value"]:
                raise ValueError(f"the value is {current!r}")
        case other:
            raise ValueError(f"{other!r} is no operation that a run knows: add, remove, replace, test")


def _key(target: Any, name: str) -> Any:
    """Return the key or index of `name` in a mapping or a list."""
    if not isinstance(target, list):
        return name
    if not name.isdecimal():
        raise ValueError(f"{name!r} is no index")
    return int(name)
