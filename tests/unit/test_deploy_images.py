"""Each place that lists the images of pods and servers lists the images that the shipped studies need."""

import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from storebench.cli import main
from storebench.planning import images
from storebench.servers import topology
from storebench.study import studies

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs/how-to/kubernetes.md"
CLOUD = ROOT / "docs/how-to/cloud-cluster.md"
COMPOSE = ROOT / "deploy/compose"
SHIPPED = {name: images.of_study(studies.find(name)) for name in studies.names()}
NEEDED = set().union(*SHIPPED.values())
VARIABLE = "AIRFLOW_VAR_STOREBENCH_IMAGE_"


def users_of(image):
    return ", ".join(name for name, needed in SHIPPED.items() if image in needed)


def dashed(image):
    return image.replace("/", "-")


def variable_of(image):
    return VARIABLE + re.sub("[/-]", "_", image).upper()


def compare(place, listed, line=lambda image: f"the image {image}"):
    """Fail with the lines to add and to remove where a place does not list exactly the needed images. `line`: an image's line there."""
    lacking = [f"add {line(one)} (needed by {users_of(one)})" for one in sorted(NEEDED - set(listed))]
    excess = [f"remove {line(one)} (no shipped study needs it)" for one in sorted(set(listed) - NEEDED)]
    assert not lacking + excess, f"{place}: " + "; ".join(lacking + excess)


def test_helms_values_name_each_image():
    entries = yaml.safe_load((ROOT / "deploy/helm/values.yaml").read_text())["env"]
    values = {entry["name"]: entry["value"] for entry in entries if entry["name"].startswith(VARIABLE)}
    known = {variable_of(one): one for one in NEEDED}
    compare(
        "deploy/helm/values.yaml",
        {known.get(name, name) for name in values},
        lambda one: f"- {{name: {variable_of(one)}, value: REGISTRY/storebench-{dashed(one)}:TAG}}",
    )
    for name, value in values.items():
        assert value == f"REGISTRY/storebench-{dashed(known[name])}:TAG"


def test_the_how_to_builds_each_image():
    """kubernetes.md builds to install and to upgrade, and cloud-cluster.md creates a repository for each image."""
    for page, command, count in ((HOW_TO, "images/build", 2), (CLOUD, "aws ecr create-repository", 1)):
        loops = re.findall(rf"for name in airflow ([^;]*); do {command}", page.read_text())
        assert len(loops) == count
        for loop in loops:
            compare(f"{page.name}, the loop with {command}", loop.split())


@pytest.mark.parametrize("study", SHIPPED)
def test_the_how_to_names_the_images_of_each_study(study):
    row = f"| `{study}` | {', '.join(f'`{one}`' for one in sorted(SHIPPED[study]))} |"
    assert row in HOW_TO.read_text().splitlines(), f"{HOW_TO.name} needs the row {row}"


@pytest.mark.parametrize("study", SHIPPED)
def test_the_page_of_docker_compose_names_the_images_of_each_study(study):
    row = f"| `{study}` | {', '.join(f'`{one}`' for one in sorted(SHIPPED[study]))} | "
    lines = (ROOT / "docs/how-to/docker-compose.md").read_text().splitlines()
    assert any(line.startswith(row) for line in lines), f"docker-compose.md needs a row {row}"


def test_two_images_suffice_for_the_default_stores():
    study = studies.find("bulk_write_read")
    assert images.of_pods(study, study.unnamed_stores) == {"python", "jvm"}
    assert "`python` and `jvm` suffice for the default stores of `bulk_write_read`" in HOW_TO.read_text()


def test_docker_compose_builds_the_listed_images():
    """deploy/compose/prepare names no image itself: `storebench images` lists them, and images.env names them for Airflow."""
    listed = CliRunner().invoke(main, ["images"])
    assert (listed.exit_code, listed.output.split()) == (0, sorted(NEEDED))
    one = CliRunner().invoke(main, ["images", "--study", "map_formats", "--study", "parquet_copy"])
    assert one.output.split() == sorted(SHIPPED["map_formats"] | SHIPPED["parquet_copy"])
    assert 'storebench "$airflow" images "${studies[@]}"' in (COMPOSE / "prepare").read_text()
    for place in (COMPOSE / "prepare", COMPOSE / "env.template", ROOT / "docker-compose.yaml"):
        named = re.findall(r"STOREBENCH_IMAGE_[A-Z]\w*", place.read_text())
        assert not named, f"{place.name} names {named}: images.env does"


@pytest.mark.parametrize("image", sorted(NEEDED))
def test_each_needed_image_can_be_built(image):
    assert (ROOT / "images" / image / "Dockerfile").is_file(), (
        f"{users_of(image)} needs images/{image}/Dockerfile"
    )


def test_a_store_with_an_unlisted_image_is_told(monkeypatch):
    monkeypatch.setitem(SHIPPED, "a_study", {"new"})
    monkeypatch.setattr(f"{__name__}.NEEDED", {"new"})
    with pytest.raises(AssertionError, match=r"values: add NEW=new \(needed by a_study\); remove OLD=old"):
        compare("values", {"old"}, lambda one: f"{one.upper()}={one}")


def test_a_topology_names_its_unpublished_images():
    assert topology.find("mongodb", "rest").unpublished == {"api"}
    assert topology.find("mongodb", "one").unpublished == set()
