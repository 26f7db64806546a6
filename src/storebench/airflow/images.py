"""The pod images of the folders under images/, as Airflow Variables name them."""

from __future__ import annotations

from collections.abc import Iterable

from airflow.sdk import Variable

from storebench.errors import SpecError


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
    """Check that an Airflow Variable names each of these images. Raises SpecError with the commands that build a missing image.

    The image of a server has a name such as `servers_api`.
    """
    lacking = sorted({name for name in names if named(name) is None})
    if lacking:
        folders = {name: name.replace("servers_", "servers/", 1).replace("_", "-") for name in lacking}
        advice = "; ".join(
            f"`images/build {folder} --tag REGISTRY/storebench-{folder.replace('/', '-')}:TAG --push`, then {_variable(name)}"
            for name, folder in folders.items()
        )
        raise SpecError(
            f"No image is known for {', '.join(folders.values())}. Build and push each image, and name the image by an Airflow Variable:"
            f" {advice}"
        )


def _variable(name: str) -> str:
    return f"storebench_image_{name.replace('-', '_')}"
