"""List the direct dependencies that have a newer version, by part: Python, Go, Maven and npm.

usage: python -m local.outdated OLD_PYTHON FILE...

OLD_PYTHON is the Python version of the requirements FILE...; all other files are for this program's version. The program asks each
ecosystem's own tool, which knows its registry. The exit code is 1 if a tool failed. Versions that are pinned for a reason are listed, too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PLUGIN = "org.codehaus.mojo:versions-maven-plugin:2.19.1:display-dependency-updates"
BEFORE_RELEASE = r".*[-.](alpha|beta|m|rc|preview|snapshot)[-.\d]*"
NOT_LISTED = (
    "Not listed: images by tag or digest (Dockerfiles, deploy/servers, docker-compose.yaml), whose registries need a client of their own;"
    " Debian's packages, as each build takes the newest of its release; Kubernetes' release"
)


class Row(NamedTuple):
    """A dependency with a newer version."""

    part: str
    package: str
    pinned: str
    newest: str


def output(
    *command: str | Path, accepted: Sequence[int] = (0,), environment: Mapping[str, str] | None = None
) -> str:
    """Return what a command prints. Raises CalledProcessError for another exit code."""
    process = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **(environment or {})}, check=False
    )
    if process.returncode not in accepted:
        raise subprocess.CalledProcessError(process.returncode, command, process.stdout, process.stderr)
    return process.stdout


def pins(text: str) -> dict[str, str]:
    """Return the pinned versions in a requirements file with hashes, by package."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;]+)", text, re.MULTILINE))


def names(text: str) -> set[str]:
    """Return the packages that a file `requirements/*.in` names, as a lock spells them."""
    found = re.findall(r"^([A-Za-z0-9][A-Za-z0-9._-]*)", text, re.MULTILINE)
    return {re.sub(r"[._-]+", "-", name).lower() for name in found}


def python(old: str, old_files: Sequence[str]) -> list[Row]:
    """List the packages that the requirements name. The newest version is the newest for the file's Python version."""
    rows = []
    files = sorted(Path("requirements").glob("*.in"))
    for version in (old, f"{sys.version_info.major}.{sys.version_info.minor}"):
        chosen = [file for file in files if (file.stem in old_files) == (version == old)]
        used: dict[tuple[str, str], list[str]] = {}
        for file in chosen:
            pinned = pins(file.with_suffix(".txt").read_text())
            for name in sorted(names(file.read_text()) & pinned.keys()):
                used.setdefault((name, pinned[name]), []).append(file.stem)
        with tempfile.NamedTemporaryFile("w", suffix=".in") as asked:
            asked.write("\n".join(sorted({name for name, _ in used})))
            asked.flush()
            compile_ = (
                Path(os.environ["STOREBENCH_HOME"], "bin/uv"),
                "pip",
                "compile",
                "--quiet",
                "--no-deps",
                "--no-header",
                "--no-annotate",
            )
            newest = pins(output(*compile_, "--no-emit-index-url", "--python-version", version, asked.name))
        rows += [
            Row(
                f"Python: {stems[0]}{f' and {len(stems) - 1} more' if stems[1:] else ''}",
                name,
                pinned,
                newest[name],
            )
            for (name, pinned), stems in used.items()
            if newest[name] != pinned
        ]
    return rows


def required(module: dict[str, list[dict[str, str]] | None]) -> dict[str, str]:
    """Return the versions of the modules that a go.mod, as JSON, requires directly or for its tools."""
    tools = [tool["Path"] for tool in module.get("Tool") or []]
    replaced = {
        one["Old"]["Path"]: one["New"]["Version"]  # type: ignore[index]
        for one in module.get("Replace") or []
        if "Version" in one["New"]
    }
    return {
        one["Path"]: replaced.get(one["Path"], one["Version"])
        for one in module.get("Require") or []
        if not one.get("Indirect") or any(f"{tool}/".startswith(f"{one['Path']}/") for tool in tools)
    }


def go() -> list[Row]:
    """List the modules of each go.mod. A newer major version has another path and is not listed. `unknown`: the proxy lacks the module."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "GOENV": os.environ.get("GOENV") or str(Path.home() / ".config/go/env"),
            "XDG_CONFIG_HOME": folder,
            "GOMODCACHE": f"{folder}/mod",
            "GOFLAGS": "-modcacherw",
            "GOTOOLCHAIN": "local",
        }
        parts = {
            file.parent: required(
                json.loads(output("go", "mod", "edit", "-json", file, environment=environment))
            )
            for file in tracked("*go.mod")
        }
        modules = sorted({f"{path}@latest" for needed in parts.values() for path in needed})
        shown = "{{.Path}} {{if .Error}}unknown{{else}}{{.Version}}{{end}}"
        listed = output(
            "go", "-C", folder, "list", "-e", "-m", "-f", shown, *modules, environment=environment
        )
        newest = dict(line.split() for line in listed.splitlines())
    return [
        Row(f"Go: {place}", path, version, newest[path])
        for place, needed in parts.items()
        for path, version in needed.items()
        if newest[path] != version
    ]


def updates(text: str) -> list[tuple[str, str, str]]:
    """Return package, version and newest version from the output of Maven's versions plugin, which breaks long lines."""
    joined = text.replace("[INFO]", "")
    return re.findall(r"(\S+:\S+) \.+\s+(\S+) -> (\S+)", joined)


def maven() -> list[Row]:
    """List the dependencies of each pom.xml, without versions before a release."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        options = (
            f"-Dmaven.version.ignore=(?i){BEFORE_RELEASE}",
            f"-Dmaven.repo.local={folder}",
            "-DprocessDependencyManagement=false",  # an imported list names hundreds of packages that no image has
        )
        for pom in tracked("*pom.xml"):
            text = output("mvn", "--batch-mode", "--file", pom, *options, PLUGIN)
            rows += [Row(f"Maven: {pom.parent}", *update) for update in updates(text)]
    return rows


def npm() -> list[Row]:
    """List the packages of the results page."""
    found = json.loads(output("local/npm", "outdated", "--json", accepted=(0, 1)) or "{}")
    return [
        Row("npm: page", name, one["wanted"], one["latest"])
        for name, one in found.items()
        if one["wanted"] != one["latest"]
    ]


def tracked(pattern: str) -> list[Path]:
    """Return the files of the checkout that match, without build folders and templates."""
    return [Path(line) for line in output("git", "ls-files", pattern).splitlines() if "skeletons" not in line]


def table(rows: Iterable[Row]) -> str:
    """Return the rows as a table."""
    shown = [Row("PART", "PACKAGE", "PINNED", "NEWEST"), *rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    )


def main(old: str, *old_files: str) -> int:
    """Print the table. Return the exit code."""
    rows: list[Row] = []
    failed: list[str] = []
    parts: tuple[tuple[str, Callable[[], list[Row]]], ...] = (
        ("Python", lambda: python(old, old_files)),
        ("Go", go),
        ("Maven", maven),
        ("npm", npm),
    )
    for name, list_ in parts:
        try:
            rows += list_()
        except (OSError, subprocess.CalledProcessError) as error:
            why = getattr(error, "stderr", "") or getattr(error, "stdout", "") or str(error)
            failed.append(f"{name} could not be listed: {why.strip()[-1000:]}")
    print(table(rows))
    print(NOT_LISTED)
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
