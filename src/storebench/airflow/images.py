"""The pod images of the folders under images/, as Airflow Variables name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from airflow.sdk import Variable

from storebench.errors import SpecError
from storebench.planning.checks import COMPOSE, embedded_parts


def image(name: str) -> str:
    """Return the pod image that is built from images/<name>: the Airflow Variable `storebench_image_<name>`, with `_` for each `-`.

    `name` may be a reference itself. Raises SpecError where no Variable names the image.
    """
    check([name])
    reference = named(name)
    assert reference is not None
    return reference


def named(name: str) -> str | None:
    """Return the image that the Variable names, or `name` itself if it is a reference; None where there is no such Variable."""
    if "/" in name or ":" in name:
        return name
    reference: str | None = Variable.get(_variable(name), default=None)
    return reference or None


def check(names: Iterable[str]) -> None:
    """Check that an Airflow Variable names each of these images. Raises SpecError with the commands that build the missing images.

    The image of a server has a name such as `servers_api`.
    """
    lacking = sorted({name for name in names if named(name) is None})
    if lacking:
        folders = {name: name.replace("servers_", "servers/", 1).replace("_", "-") for name in lacking}
        advice = _advice_in_compose if COMPOSE in embedded_parts() else _advice
        raise SpecError(f"No image is known for {', '.join(folders.values())}. {advice(folders)}")


def _advice(folders: Mapping[str, str]) -> str:
    """Return what to do on a cluster. `folders`: the folders of the missing images by name."""
    commands = "; ".join(
        f"`images/build {folder} --tag REGISTRY/storebench-{folder.replace('/', '-')}:TAG --push`, then {_variable(name)}"
        for name, folder in folders.items()
    )
    return f"Build and push each image, and name the image by an Airflow Variable: {commands}"


def _advice_in_compose(folders: Mapping[str, str]) -> str:
    return (
        f"Build each image: `deploy/compose/prepare --images {','.join(folders.values())}`,"
        " then `docker compose up --wait`. Then start the run again"
    )


def _variable(name: str) -> str:
    return f"storebench_image_{name.replace('-', '_')}"
