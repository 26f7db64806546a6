"""Write the reference pages of the studies, and the page of the parameters that runs of all studies have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from local.reference.markdown import code, page, section, table
from storebench.fields import Field, Flag, Number, Text, WholeNumber, range_text
from storebench.planning.params import fields_of, sections_of
from storebench.servers import topology
from storebench.study.model import COMMON, Axis, Metric, Preset, Study

# Of parameters that have a table of their own, or the same meaning as a column of that table
GRID = ("stores", "clients")


def study_page(study: Study) -> str:
    """Return the page of a study: its stores, operations, metrics, axes, parameters and presets."""
    return page(
        f"Reference: {study.name}",
        f"`dags/{study.name}.py` and `src/storebench/stores/{study.name}/`",
        [
            (f"{study.title}. [The page of the study](../studies/{study.name}.md) explains the terms. [Parameters](parameters.md) has the"
            " parameters of all studies."),
            "",
        ],
        section("Stores", table(("store", "in a run without `stores`", "clients, the default first", "topologies"), _stores(study))),
        section(
            "Operations",
            table(("operation", "depends on", "only for", "metrics of a verified attempt, the ranking metric first"), _operations(study)),
        ),
        section("Metrics", table(("metric", "unit", "better", "kind", "meaning"), _metrics(study.metrics))),
        section(
            "Axes",
            ["`AXES='NAME=VALUE,...'` of `make run`, and `--axis NAME=VALUE,...` of `storebench run`."] if study.axes else [],
            table(("axis", "default", "values", "values of a backfill", "only for", "meaning"), _axes(study.axes)),
        ),
        section(
            "Parameters",
            ["`PARAMS='NAME=JSON'` of `make run`, and `--param NAME=JSON` of `storebench run`."],
            table(("parameter", "in the form", "only for the stores", "default", "values", "meaning"), _own_parameters(study)),
        ),
        section(
            "Presets",
            [f"`PRESET=NAME`. Without clients and axes, a run has the preset `{next(iter(study.presets))}`."] if study.presets else [],
            table(("preset", "what it measures", "parameters", "instead, on one machine", "with one repeat"), _presets(study.presets)),
        ),
    )  # fmt: skip


def parameters_page(studies: Iterable[Study]) -> str:
    """Return the page of the parameters that do not belong to one study, by the sections of the form."""
    all_of = list(studies)
    sections: dict[str, dict[str, Field]] = {}
    having: dict[str, list[str]] = {}
    for study in all_of:
        own = {*GRID, "rows", *(axis.name for axis in study.axes), *study.params_and_options()}
        for title, fields in sections_of(study).items():
            for name, field in fields.items():
                if name not in own:
                    sections.setdefault(title, {}).setdefault(name, field)
                    having.setdefault(name, []).append(study.name)
    return page(
        "Reference: parameters of every run",
        "`src/storebench/planning/params.py`",
        [
            ("`PARAMS='NAME=JSON'` of `make run`, `--param NAME=JSON` of `storebench run`, and Airflow's form set a parameter. `make run` has"
            " variables for some parameters ([make](make.md)). The pages of the studies have the stores, axes and parameters of each study."),
            "",
        ],
        *(
            section(
                title,
                table(
                    ("parameter", "in the form", "default", "values", "studies", "meaning"),
                    (
                        (code(name), field.title, _default(field), _allowed(field), _having(having[name], all_of), _text(field))
                        for name, field in fields.items()
                    ),
                ),
            )
            for title, fields in sections.items()
        ),
    )  # fmt: skip


def _stores(study: Study) -> Iterator[tuple[str, ...]]:
    topologies = topology.provisioned_for(study)
    for name in study.stores:
        own = [one for one in topologies if one.partition("@")[0] == name]
        default = "yes" if name in study.unnamed_stores else "no"
        yield code(name), default, code(*study.store(name).clients), code(*own)


def _operations(study: Study) -> Iterator[tuple[str, ...]]:
    for operation in study.operations:
        yield code(operation.name), code(*operation.needs), _where(operation.where), code(*operation.metrics)


def _metrics(metrics: Iterable[Metric]) -> Iterator[tuple[str, ...]]:
    for metric in (*metrics, *COMMON):
        yield code(metric.name), metric.unit or "number", metric.better, metric.kind, metric.title


def _axes(axes: Iterable[Axis]) -> Iterator[tuple[str, ...]]:
    for axis in axes:
        offered = code(*axis.choices)
        values = (
            offered if set(axis.pattern.split("|")) == {*axis.choices} else f"{axis.hint}, such as {offered}"
        )
        yield (
            code(axis.name),
            code(*axis.default),
            values,
            code(*axis.grid),
            _where(axis.where),
            axis.description,
        )


def _own_parameters(study: Study) -> Iterator[tuple[str, ...]]:
    stores: dict[str, list[str]] = {}
    for store in study.stores:
        for name in study.store(store).options:
            stores.setdefault(name, []).append(store)
    known = fields_of(study)
    for name in ("rows", *study.params_and_options()):
        field = known[name]
        yield (
            code(name),
            field.title,
            code(*stores.get(name, ())),
            _default(field),
            _allowed(field),
            _text(field),
        )


def _presets(presets: Mapping[str, Preset]) -> Iterator[tuple[str, ...]]:
    for name, preset in presets.items():
        yield (
            code(name),
            preset.description,
            _values(preset.params),
            _values(preset.embedded),
            _values(preset.once),
        )


def _where(where: Mapping[str, tuple[str, ...]]) -> str:
    return "; ".join(f"{name} {code(*values)}" for name, values in where.items())


def _values(params: Mapping[str, Any]) -> str:
    return " ".join(
        f"`{name}={','.join(value) if isinstance(value, list) else json.dumps(value)}`"
        for name, value in params.items()
    )


def _having(names: list[str], studies: list[Study]) -> str:
    """Return the studies that have a parameter: empty for all studies."""
    lacking = [study.name for study in studies if study.name not in names]
    return (
        f"all except {code(*lacking)}" if 0 < len(lacking) < len(names) else code(*(names if lacking else ()))
    )


def _default(field: Field) -> str:
    if field.default is None or field.default == "":
        return "empty"
    return code(field.default if isinstance(field.default, str) else json.dumps(field.default))


def _allowed(field: Field) -> str:
    if isinstance(field, WholeNumber):
        return f"{field.minimum:,} to {field.maximum:,}"
    if isinstance(field, Number):
        return f"above 0, at most {field.maximum:,}"
    if isinstance(field, Flag):
        return code("true", "false")
    return field.hint if isinstance(field, Text) else code(*field.examples)


def _text(field: Field) -> str:
    """Return the meaning without the range of a number, which is in its own column."""
    return (
        field.text.replace(f" {range_text(field.minimum, field.maximum)}", "")
        if isinstance(field, WholeNumber)
        else field.text
    )
