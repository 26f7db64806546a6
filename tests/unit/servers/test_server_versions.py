"""Versions of servers: manifests, the images that the embedded stack builds, Docker Compose and the documentation name the same ones."""

import re
from functools import cache

import pytest

from storebench.servers.topology import CHECKOUT_SERVERS, find

CHECKOUT = CHECKOUT_SERVERS.parents[1]
IMAGES = CHECKOUT / "images" / "servers"
# The image in the manifests, the name in the documentation, and the files that pin what the embedded stack builds, each with a pattern.
# Debian decides MariaDB's and PostgreSQL's: the embedded images have the newest patch of the release. A stand-in for MongoDB has no version of its own here.
SERVERS = {
    "cassandra": (
        "Cassandra",
        [
            (IMAGES / "cassandra" / "pom.xml", r"cassandra-all</artifactId>\s*<version>(.*?)<"),
            (IMAGES / "cassandra" / "jars.sha256", r" cassandra-all-([\d.]+)\.jar"),
        ],
    ),
    "docker.elastic.co/elasticsearch/elasticsearch": (
        "Elasticsearch",
        [
            (CHECKOUT / "local" / "elasticsearch" / "pom.xml", r"<elasticsearch.version>(.*?)<"),
            (CHECKOUT / "docker-compose.yaml", r"/elasticsearch:([\d.]+)@sha256"),
        ],
    ),
    "apache/hadoop": (
        "HDFS",
        [
            (IMAGES / "hdfs" / "pom.xml", r"<hadoop.version>(.*?)<"),
            (IMAGES / "hdfs" / "jars.sha256", r" hadoop-hdfs-([\d.]+)\.jar"),
        ],
    ),
    "apache/ozone": (
        "Ozone",
        [
            (IMAGES / "ozone" / "pom.xml", r"<ozone.version>(.*?)<"),
            (IMAGES / "ozone" / "jars.sha256", r" ozone-manager-([\d.]+)\.jar"),
            (CHECKOUT / "images" / "jvm" / "ozone" / "pom.xml", r"hadoop3</artifactId>\s*<version>(.*?)<"),
            (
                CHECKOUT / "images" / "jvm" / "ozone" / "jars.sha256",
                r" ozone-filesystem-hadoop3-([\d.]+)\.jar",
            ),
        ],
    ),
    "mariadb": ("MariaDB", []),
    "mongo": ("MongoDB", [(CHECKOUT / "docker-compose.yaml", r"\bmongo:([\d.]+)@sha256")]),
    "postgres": ("PostgreSQL", [(CHECKOUT / "docker-compose.yaml", r"\bpostgres:([\d.]+)@sha256")]),
}
VERSION = r"(\d+\.[\d.]*\d)(?![\d.]* to \d)"  # not the interval in "HDFS 0.76 to 1.32 times as long"
OWN = "storebench.invalid/"  # images of this project, whose version is the project's


@cache
def pinned():
    """Return the versions of each image in the manifests."""
    pinned_versions = {}
    for path in CHECKOUT_SERVERS.glob("*/*/kustomization.yaml"):
        for stateful_set in find(*path.parts[-3:-1]).sets:
            for container in stateful_set["spec"]["template"]["spec"]["containers"]:
                image, _, version = container["image"].rpartition(":")
                pinned_versions.setdefault(image, set()).add(version)
    return pinned_versions


def without_originals(text):
    """Return a page without the first column of its tables of differences: the original studies had other versions."""
    kept, original = [], False
    for line in text.splitlines():
        original = line.startswith("|") and (original or line.lower().startswith("| as in the original |"))
        kept.append(line.split("|", 2)[-1] if original else line)
    return "\n".join(kept)


def test_all_manifests_of_a_server_have_the_same_version_of_its_image():
    found = {image: versions for image, versions in pinned().items() if not image.startswith(OWN)}
    assert found.keys() == SERVERS.keys()
    assert {image: versions for image, versions in found.items() if len(versions) > 1} == {}


@pytest.mark.parametrize("image", SERVERS)
def test_the_embedded_stack_builds_the_version_of_the_manifests(image):
    (version,) = pinned()[image]
    for path, pattern in SERVERS[image][1]:
        assert set(re.findall(pattern, path.read_text(), re.DOTALL)) == {version}, path


@pytest.mark.parametrize("image", SERVERS)
def test_the_documentation_names_the_version_of_the_manifests(image):
    (version,), (name, _) = pinned()[image], SERVERS[image]
    pages = [path for path in (CHECKOUT / "docs").rglob("*.md") if path.parent.name != "decisions"]
    told = {
        (path.name, one)
        for path in [CHECKOUT / "README.md", *pages]
        for one in re.findall(rf"\b{name}\s{VERSION}", without_originals(path.read_text()))
    }
    wrong = {(page, one) for page, one in told if not f"{version}.".startswith(f"{one}.")}
    assert wrong == set()
