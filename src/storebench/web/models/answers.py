"""What all answers of the page's API have in common. The names of figures end with their units: `_s`, `_bytes`. The front end's types are made
from these models."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class Answer(BaseModel):
    """What is in an answer is always there, also where it is empty."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class Page(Answer, Generic[T]):
    """Some of many: `more` says whether there are others after these."""

    items: list[T]
    offset: int
    more: bool
