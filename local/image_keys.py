"""Compute the key of each pod image: the hash of all files that its build reads.

usage: /usr/bin/python3 -B -m local.image_keys                       prints NAME=KEY for each image
       /usr/bin/python3 -B -m local.image_keys stale REFERENCE...    prints the images with other code than this checkout

A build reads the Dockerfile, the files that the Dockerfile copies (without the files that .dockerignore excludes), the recipe of the base
image, the version, and the image's name where the Dockerfile has the build argument IMAGE. The revision that `images/build` passes is no part
of a key: git changes it with each commit.
Only Python's own library is used, as in local/progress.py: the first step of the set-up has no packages yet.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
BASE = "debian:bookworm-slim"
BASE_RECIPE = ("local/images/base.sh", "local/images/storage.sh")
VERSION = "src/storebench/__init__.py"  # the file from which images/build reads the version
KEY_DIGITS = 12
# The form of the names that local/images/pod.sh gives. Other names are a user's images.
REFERENCE = re.compile(rf"localhost/storebench/([\w.-]+):([0-9a-f]{{{KEY_DIGITS}}})")
NOT_OF_PODS = "airflow"  # the image of Docker Compose


def names(checkout: Path = CHECKOUT) -> list[str]:
    """Return the names of all pod images: folders under images/, and `servers-NAME` for a folder under images/servers/."""
    images = checkout / "images"
    pods = {path.parent.name for path in images.glob("*/Dockerfile")} - {NOT_OF_PODS}
    return sorted(pods | {f"servers-{path.parent.name}" for path in images.glob("servers/*/Dockerfile")})


def key(name: str, checkout: Path = CHECKOUT) -> str:
    """Return the key of one image. A copied file that does not exist changes nothing: the build reports the file."""
    folder = checkout / "images" / (f"servers/{name[8:]}" if name.startswith("servers-") else name)
    dockerfile = (folder / "Dockerfile").read_text()
    instructions = list(_instructions(dockerfile))
    digest = hashlib.sha256(dockerfile.encode())
    if any(word in ("ARG", "FROM") and BASE in re.split(r"[\s=]", rest) for word, rest in instructions):
        for path in BASE_RECIPE:
            digest.update((checkout / path).read_bytes())
    if any(word == "ARG" and rest.partition("=")[0].strip() == "VERSION" for word, rest in instructions):
        digest.update(_version(checkout).encode())
    if any((word, rest) == ("ARG", "IMAGE") for word, rest in instructions):
        digest.update(name.encode())
        instructions = [(word, rest.replace("$IMAGE", name)) for word, rest in instructions]
    for path in _copied(instructions, folder, checkout):
        _add(digest, path, checkout)
    return digest.hexdigest()[:KEY_DIGITS]


def stale(references: Iterable[str], checkout: Path = CHECKOUT) -> list[str]:
    """Return the names of the images that were built from other files than this checkout's. A user's own image is never stale."""
    known = set(names(checkout))
    matches = [parsed for reference in references if (parsed := REFERENCE.fullmatch(reference))]
    return sorted(
        {
            name
            for name, built in (match.groups() for match in matches)
            if name in known and key(name, checkout) != built
        }
    )


def _instructions(dockerfile: str) -> Iterator[tuple[str, str]]:
    """Yield each instruction of a Dockerfile with its arguments; lines that a backslash continues are joined."""
    lines = "\n".join(line for line in dockerfile.splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\[ \t]*\n", " ", lines).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word:
            yield word.upper(), rest.strip()


def _sources(instructions: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the paths and patterns that the instructions read from the checkout."""
    for word, rest in instructions:
        if word in ("COPY", "ADD"):
            flags = re.match(r"(?:--\S+\s+)*", rest)
            assert flags is not None
            if "--from=" in flags[0]:
                continue
            arguments = rest[flags.end() :]
            paths = json.loads(arguments) if arguments.startswith("[") else arguments.split()
            yield from (path for path in paths[:-1] if not path.startswith("<<") and "://" not in path)
        elif word == "RUN":
            for mount in re.findall(r"--mount=(\S+)", rest):
                options = dict(pair.partition("=")[::2] for pair in mount.split(","))
                if options.get("type", "bind") == "bind" and "from" not in options:
                    yield options.get("source") or options.get("src") or "."


def _copied(instructions: Iterable[tuple[str, str]], folder: Path, checkout: Path) -> list[str]:
    """Return the paths of all files that the instructions copy, relative to the checkout, in alphabetical order."""
    image_rules = folder / "Dockerfile.dockerignore"
    rules = image_rules if image_rules.exists() else checkout / ".dockerignore"
    ignored = _Ignored(rules.read_text() if rules.exists() else "")
    copied: set[Path] = set()
    for source in _sources(instructions):
        pattern = os.path.normpath(source.lstrip("/"))
        for path in [checkout] if pattern == "." else checkout.glob(pattern):
            copied.update(_files(path) if path.is_dir() else [path])
    relative = {path.relative_to(checkout).as_posix() for path in copied}
    return sorted(path for path in relative if path not in ignored)


def _files(folder: Path) -> Iterator[Path]:
    for at, _, files in os.walk(folder):
        yield from (Path(at, name) for name in files)


def _add(digest: hashlib._Hash, path: str, checkout: Path) -> None:
    """Add a file's path, permission to execute and content to a hash."""
    file = checkout / path
    content = str(file.readlink()).encode() if file.is_symlink() else file.read_bytes()
    digest.update(f"\0{path}\0{os.access(file, os.X_OK)}\0{len(content)}\0".encode())
    digest.update(content)


def _version(checkout: Path) -> str:
    version = re.search(r'^__version__ = "(.*)"', (checkout / VERSION).read_text(), re.MULTILINE)
    return version[1] if version else ""


class _Ignored:
    """The paths that a .dockerignore excludes: of the patterns that match a path or a folder above, the last one decides."""

    def __init__(self, text: str) -> None:
        self._patterns = [
            (not line.startswith("!"), _pattern(line.lstrip("!").strip("/")))
            for line in map(str.strip, text.splitlines())
            if line and not line.startswith("#")
        ]

    def __contains__(self, path: object) -> bool:
        parts = str(path).split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        excluded = False
        for excludes, pattern in self._patterns:
            if any(map(pattern.fullmatch, above)):
                excluded = excludes
        return excluded


def _pattern(text: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern of a .dockerignore, in which `**` stands for any number of folders."""
    tokens = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    words = re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]+\])", os.path.normpath(text))
    return re.compile(
        "".join(tokens.get(word, word if word.startswith("[") else re.escape(word)) for word in words)
    )


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["stale"]:
        print(*stale(arguments[1:]))
    else:
        print(*(f"{name}={key(name)}" for name in names()))


if __name__ == "__main__":
    main(sys.argv[1:])
