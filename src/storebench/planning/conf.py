"""Merge the parameters of a run from a preset and options, and describe the parameters that a preset replaces."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from storebench.errors import MOST_QUOTED, SpecError, quoted, unknown
from storebench.fields import json_of
from storebench.study.model import Preset, Study


def names_in(text: str) -> list[str]:
    """Split a comma-separated text into names, without spaces around them."""
    return [name for item in text.split(",") if (name := item.strip())]


def conf_of(
    preset: Preset | None, options: Mapping[str, Any], extra: tuple[str, ...] = (), *, embedded: bool = False
) -> dict[str, Any]:
    """Merge a run's parameters: the preset's parameters, then `options` that are not None, then `extra`, pairs NAME=JSON.

    `embedded`: whether the preset's sizes for the embedded cluster apply, which fit one machine. The preset's `once` applies only if each
    cell is measured once.

    Raises SpecError for a text that is no JSON, or that Airflow cannot store.
    """
    conf = {**preset.params, **(preset.embedded if embedded else {})} if preset else {}
    conf |= {name: value for name, value in options.items() if value is not None}
    for pair in extra:
        name, separator, text = pair.partition("=")
        try:
            if not separator:
                raise ValueError("there is no '='")
            conf[name] = json_of(text)
        except ValueError as error:
            raise SpecError(
                f"--param {quoted(pair)} is not NAME=JSON: {error}. {_typed(name, text)}"
            ) from None
    several = str(conf.get("repeats", 1)) != "1" or conf.get("a_a", False) is not False
    return conf if several or not preset else {**preset.once, **conf}


def _typed(name: str, text: str) -> str:
    """Return a hint that shows how to type a text as the value of a parameter."""
    shown = text if 0 < len(text) <= MOST_QUOTED else "text"
    pair = f"{name or 'NAME'}={json.dumps(shown, ensure_ascii=False)}"
    return f"In a shell, a text is typed so: --param {shlex.quote(pair)}"


def replaced(preset: Preset, conf: Mapping[str, Any]) -> str:
    """Describe the parameters of a preset that its embedded parameters replace: `executor_memory: 1g instead of 4g`; empty if none.

    `conf`: a run's parameters on the embedded cluster.
    """
    changes = [
        f"{name}: {_instead(value, preset.params.get(name, 'the default'))}"
        for name, value in preset.embedded.items()
        if conf.get(name) == value
    ]
    return "; ".join(changes)


def _instead(value: Any, original: Any) -> str:
    """Describe a replaced value: `1g instead of 4g`. For two lists of the same length, describe only the items that differ."""
    if isinstance(value, list) and isinstance(original, list) and len(value) == len(original):
        pairs = [f"{new} instead of {old}" for new, old in zip(value, original, strict=True) if new != old]
        return ", ".join(pairs)
    new, old = (
        ", ".join(map(str, item)) if isinstance(item, list) else "the default" if item is None else str(item)
        for item in (value, original)
    )
    return f"{new} instead of {old}"


def axis_values_of(text: str, study: Study) -> dict[str, list[str]]:
    """Parse values of axes: `parts=2,8 level=1`. Raises SpecError for an invalid text or an unknown axis."""
    values_of_axes = {}
    known = [axis.name for axis in study.axes]
    for pair in text.split():
        name, separator, values = pair.partition("=")
        if not separator or not values.strip(","):
            raise SpecError(
                f"--axis {quoted(pair)} is not AXIS=VALUE,VALUE, such as {known[0] if known else 'axis'}=1"
            )
        if name not in known:
            raise unknown("axis", name, known)
        values_of_axes[name] = names_in(values)
    return values_of_axes
