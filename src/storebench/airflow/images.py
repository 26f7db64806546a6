"""Which pod image stands for a folder under images/."""

from __future__ import annotations

from airflow.sdk import Variable

from storebench import __version__


def image(name: str) -> str:
    """The pod image built from images/<name>: the Airflow Variable `storebench_image_<name>`, with `_` for each `-`, or the local tag."""
    return named(name) or f"storebench/{name}:{__version__}"


def named(name: str) -> str | None:
    """The image that the Variable names, or `name` itself if it is a reference; None where there is no such Variable."""
    if "/" in name or ":" in name:
        return name
    reference: str | None = Variable.get(f"storebench_image_{name.replace('-', '_')}", default=None)
    return reference
