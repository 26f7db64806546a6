"""Base models of the answers of the API and of commands.

The name of a figure ends with its unit: `_s`, `_bytes`. The front end's types are generated from the models of the answers.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class Answer(BaseModel):
    """An answer. All its fields are always present, even if empty."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class Page(Answer, Generic[T]):
    """A page of a list: `more` says whether items follow."""

    items: list[T]
    offset: int
    more: bool
