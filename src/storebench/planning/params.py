"""Define the parameters of a study's runs, by sections of a form, and check their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, cast

from storebench.errors import SpecError, unknown
from storebench.fields import CPU, MEMORY, Choice, Field, Number, Values, flag, integer, size
from storebench.planning.doc import dates_text
from storebench.results.forecast.expected import assumed_s, duration_text
from storebench.results.statistics.intervals import MIN_VALUES
from storebench.servers import sizes, topology
from storebench.stores.base import split
from storebench.study.dataset import MAX_SEED, PODS, PODS_FIELD
from storebench.study.grid import CopiesOf, Grid, grid, max_rows, operation_count
from storebench.study.model import Axis, Study
from storebench.study.observing import FIELDS as OBSERVING
from storebench.study.partition import cell_of, partitions, repeated
from storebench.study.planned import PlannedStudy
from storebench.study.run_params import CellParams, PodParams, RunParams, study_values
from storebench.study.tags import FIELD as TAGS_FIELD
from storebench.study.tags import TAGS

# Parameters without a meaning in a run of a single cell: the choice and the order of cells, and the skipping of verified repeats.
GRID_PARAMS = ("full_grid", "random_order", "order_seed", "skip_done")
MEASURED = "What is measured"  # the form's section that is not folded
MAX_REPEATS = 100
SEED = 42
MAX_BUDGET_MIN = 10_080  # a week


def check_presets(study: Study) -> None:
    """Check that the form accepts the values of the study's presets. Raises SpecError that names each refused value."""
    study.refuse(list(_problems_of_presets(study, sections_of(study))))


def _problems_of_presets(study: Study, sections: Mapping[str, Mapping[str, Field]]) -> Iterator[str]:
    # A study may name sizes of servers where no topology is installed
    known = {
        **sizes.FIELDS,
        **{name: field for fields in sections.values() for name, field in fields.items()},
    }
    for preset_name, preset in study.presets.items():
        parts = (("params", preset.params), ("embedded", preset.embedded), ("once", preset.once))
        for part, params in parts:
            for name, value in params.items():
                where = f"presets[{preset_name!r}].{part}"
                if name not in known:
                    yield f"{where}: {unknown('parameter', name, known)}"
                    continue
                try:
                    known[name].read(value)
                except SpecError as error:
                    yield f"{where}[{name!r}]: {error}"


def run_values(study: PlannedStudy, requested: Mapping[str, Any]) -> RunParams:
    """Return the values of a run's parameters. A parameter that is not in `requested` has its default.

    Raises SpecError for an unknown name, or else for the first invalid value.
    """
    values, mistakes = run_values_or_mistakes(study, requested)
    if values is None:
        raise SpecError(next(iter(mistakes.values())))
    return values


def _mistake_of_precision(values: Mapping[str, Any]) -> str | None:
    """Return why a precision cannot end any cell early: its interval needs more repeats than the run has. None if it can."""
    if values["precision_percent"] is None or values["repeats"] > MIN_VALUES:
        return None
    return (
        f"Precision, %: it ends a cell early after {MIN_VALUES} repeats at the earliest, and the run has {values['repeats']}. Set the"
        f" repeats to more than {MIN_VALUES}, or leave the precision empty"
    )


def run_values_or_mistakes(
    study: PlannedStudy, requested: Mapping[str, Any]
) -> tuple[RunParams | None, dict[str, str]]:
    """Return the values of a run's parameters as `run_values` does, and all mistakes by parameter. If there is a mistake, the values are None."""
    fields, values, mistakes = fields_of(study), dict[str, Any](), dict[str, str]()
    for name in requested:
        if name not in fields:
            mistakes[name] = str(unknown("parameter", name, fields))
    for name, field in fields.items():
        try:
            values[name] = field.read(requested.get(name, field.default))
        except SpecError as error:
            mistakes[name] = str(error)
    if not mistakes and (mistake := _mistake_of_precision(values)):
        mistakes["precision_percent"] = mistake
    return None if mistakes else cast(RunParams, values), mistakes


def common_values(requested: Mapping[str, Any]) -> PodParams:
    """Return the values of the parameters that every study has, whatever else is in `requested`. The type lists the parameters that pods read.

    A parameter that is not in `requested` has its default. Raises SpecError for the first invalid value.
    """
    return cast(PodParams, _read(_common_fields(), requested))


def cell_fields(study: PlannedStudy) -> dict[str, Field]:
    """Return the parameters of a run of a single cell. Excluded are the grid, GRID_PARAMS, and servers, as such a run provisions no servers."""
    known = {
        **_dataset_fields(study),
        **_common_fields(),
        **_dataset_pods_field(study),
        **study.params_and_options(),
    }
    return {name: field for name, field in known.items() if name not in GRID_PARAMS}


def cell_values(study: PlannedStudy, requested: Mapping[str, Any]) -> CellParams:
    """Return the values of the parameters of a run of a single cell (`cell_fields`).

    A parameter that is not in `requested` has its default. Raises SpecError for an unknown name, or else for the first invalid value.
    """
    known = cell_fields(study)
    for name in requested:
        if name not in known:
            raise unknown("parameter", name, known)
    values = _read(known, requested)
    if mistake := _mistake_of_precision(values):
        raise SpecError(mistake)
    return cast(CellParams, values)


def _read(fields: Mapping[str, Field], requested: Mapping[str, Any]) -> dict[str, Any]:
    return {name: field.read(requested.get(name, field.default)) for name, field in fields.items()}


def fields_of(study: PlannedStudy) -> dict[str, Field]:
    """Return all parameters of a run, in the order of the form."""
    return {name: field for fields in sections_of(study).values() for name, field in fields.items()}


def sections_of(study: PlannedStudy) -> dict[str, dict[str, Field]]:
    """Return all parameters of a run by the sections of the form, without empty sections."""
    groups = (
        (MEASURED, _grid_fields(study)),
        (MEASURED, _full_grid_field()),
        (MEASURED, _dataset_fields(study)),
        (MEASURED, {TAGS: TAGS_FIELD}),
        ("Repeats", _repeat_fields()),
        ("Pods", _pod_fields()),
        ("Pods", _dataset_pods_field(study)),
        ("Servers that the run provisions", _server_fields(study)),
        ("Parameters of this study", study.params_and_options()),
    )
    counted = Counter(name for _, group in groups for name in group)
    if twice := [name for name, n in counted.items() if n > 1]:
        raise SpecError(
            f"The study {study.name!r}: a run would have several parameters named {', '.join(twice)}"
        )
    sections: dict[str, dict[str, Field]] = {}
    for section, group in groups:
        if group:
            sections.setdefault(section, {}).update(group)
    return sections


def _grid_fields(study: PlannedStudy) -> dict[str, Field]:
    opened = grid(
        study, stores=study.unnamed_stores, clients=study.clients, axes={}, rows=study.rows, seed=SEED
    )
    axes = [axis.title.lower() for axis in study.axes]
    return {
        "stores": _choice(
            "store",
            study.unnamed_stores,
            study.store_names,
            "Stores",
            "The storage engines to measure. **STORE@NAME** is a store at the Airflow Connection **storebench_STORE_NAME**, so that one"
            " grid compares several servers. Where there is no such connection, NAME is a topology, whose servers the run provisions and"
            f" removes.{_topologies(study)}\n\n"
            f"Add such a name to the JSON under Advanced Options. A run has stores × clients × {' × '.join([*axes, 'repeats'])} × operations"
            f" ({', '.join(operation.name for operation in study.operations)}), without the combinations"
            f" that a store does not have. This form as it opens: {len(opened.cells)} cells, **{operation_count(study, opened.cells)} operations**."
            f" With its {study.rows:,} rows they take about {duration_text(assumed_s(study, opened.cells), rounded=True)} on a machine with two cores."
            " The log of the run's first task, plan, has the number of operations of"
            " your run, and its expected duration by earlier measurements.\n\n"
            "**Backfill:** tick **Override parameters on existing runs** above, or Airflow does not send this form, and the runs refuse"
            f" to start. The dates choose {' and '.join(['stores', 'clients', *axes])}: {dates_text(study)}.",
        ),
        "clients": _choice(
            "client",
            study.clients,
            study.clients,
            "Clients",
            "The way to drive the stores. The documentation describes each client, in **docs/stores.md**.",
        ),
        **{axis.name: _axis(axis) for axis in study.axes},
    }


def _topologies(study: PlannedStudy) -> str:
    """Return a sentence with the topologies of the study's stores; empty without topologies."""
    names = topology.provisioned_for(study)
    return f" There are {', '.join(f'**{name}**' for name in names)}." if names else ""


def _server_fields(study: PlannedStudy) -> dict[str, Field]:
    """Return the parameters of servers that a run provisions, without the sizes that are axes of the study."""
    if not topology.provisioned_for(study):
        return {}
    axes = {axis.name for axis in study.axes}
    return {
        **{name: field for name, field in sizes.FIELDS.items() if name not in axes},
        "server_start_s": integer(
            600,
            1,
            7200,
            "Start limit of servers, s",
            "Seconds until the servers that the run provisions must be ready.",
            (600, 1800),
        ),
    }


def _dataset_fields(study: PlannedStudy) -> dict[str, Field]:
    text = f"Rows of the dataset. {study.dataset.text}" if study.dataset else "Amount of work of an attempt."
    return {
        "rows": integer(study.rows, 1, max_rows(study), "Rows", text, (1000, 20_000, 100_000, 1_000_000)),
        "seed": integer(
            SEED, 0, MAX_SEED, "Seed", "The same rows and seed give the same dataset, byte for byte.", (SEED,)
        ),
    }


def _dataset_pods_field(study: PlannedStudy) -> dict[str, Field]:
    return {PODS: PODS_FIELD} if study.dataset and study.dataset.divides else {}


def _common_fields() -> dict[str, Field]:
    return {**_full_grid_field(), **_repeat_fields(), **_pod_fields(), TAGS: TAGS_FIELD}


def _full_grid_field() -> dict[str, Field]:
    return {
        "full_grid": flag(
            "Full grid",
            "Measure every combination. Off: start from the first value of each field, and for each store change one thing at a time:"
            " the client, or the value on one axis. This shows each value in far fewer cells.",
            default=True,
        )
    }


def _pod_fields() -> dict[str, Field]:
    return {
        "keep_data": flag(
            "Keep data",
            "Keep the data of the operations in the stores. The column **target** of the results names the data.",
        ),
        "pod_cpu": size(
            "500m",
            CPU,
            "CPU request of a pod",
            "Kubernetes quantity, such as **500m** or **2**.",
            ("500m", "1", "2"),
        ),
        "cpu_limit": flag(
            "CPU limit",
            "Limit the CPU of each pod to its request, also of pods that an attempt starts. The QoS class is then Guaranteed."
            " With whole CPUs and the kubelet's static policy, each pod has its own cores. Off: pods may use all cores of their node.",
        ),
        "pod_memory": size(
            "8Gi",
            MEMORY,
            "Memory of a pod",
            "Kubernetes quantity, such as **8Gi**: request and limit.",
            ("2Gi", "8Gi", "12Gi"),
        ),
        "startup_timeout_s": integer(
            120,
            1,
            3600,
            "Start limit, s",
            "Seconds that a pod may wait for a node, and again for its image and its start.",
            (120, 600),
        ),
        "attempt_timeout_s": integer(
            3600,
            1,
            86_400,
            "Attempt limit, s",
            "Seconds after which an attempt is ended, and recorded as failed.",
            (600, 3600),
        ),
        **OBSERVING,
    }


def _repeat_fields() -> dict[str, Field]:
    return {
        "repeats": integer(
            1,
            1,
            MAX_REPEATS,
            "Repeats",
            "Number of measurements of each cell; with a precision or a budget, the largest number. Repeats are interleaved.",
            (1, 3, 10),
        ),
        "skip_done": flag(
            "Skip verified repeats",
            "Skip the repeats that are already verified and were not disturbed, with the same dataset, code, environment, and sizes"
            " of pods. Empty: yes in a backfill, no in a run by hand.",
            default=None,
        ),
        "warm_up": flag(
            "Warm up",
            "Begin with one attempt at each store that does not count. The column **warm_up** marks the attempt.",
        ),
        "a_a": flag(
            "A/A",
            "Measure each cell twice as often, as two arms that are the same. **storebench compare RUN --a-a** then shows the noise.",
        ),
        "precision_percent": Number(
            title="Precision, %",
            text="Stop repeating a cell when, for each operation, the 95 % confidence interval of the median is within this share of the"
            f" median, after at least {MIN_VALUES} repeats. The run needs more than {MIN_VALUES} repeats. Empty: all repeats.",
            maximum=100,
            examples=(1, 3, 5),
        ),
        "budget_min": Number(
            title="Budget, minutes",
            text="Minutes after which no further repeat starts. Each cell is still measured once.",
            maximum=MAX_BUDGET_MIN,
            examples=(30, 120, 480),
        ),
        "random_order": flag(
            "Random order",
            "Measure the cells in a random order, drawn anew for each round of repeats, so that a drift of the machine affects all cells"
            " equally. Off: in the order of the given stores, clients and values.",
            default=True,
        ),
        "order_seed": integer(
            None,
            0,
            MAX_SEED,
            "Seed of the order",
            "The same seed gives the same order of the cells. Empty: the run draws a seed, and records it.",
            (1, 42),
        ),
    }


def grid_of(
    study: PlannedStudy,
    params: RunParams,
    partition: str | None = None,
    copies_of: CopiesOf | None = None,
) -> Grid:
    """Return the grid that a run's parameters ask for, or the single cell of its partition. Raises SpecError for bad parameters.

    `copies_of`: the function that storebench.planning.topologies.copies_of returns.
    """
    if mistake := _mistake_of_precision(study_values(params)):
        raise SpecError(mistake)
    if partition is not None:
        cell = cell_of(study, partition, params["rows"], params["seed"])
        if reason := repeated(study, partitions(study), params["rows"]).get(partition):
            return Grid((), 1, reason)
        return Grid((cell,), 0)
    return grid(
        study,
        stores=params["stores"],
        clients=params["clients"],
        axes={axis.name: study_values(params)[axis.name] for axis in study.axes},
        rows=params["rows"],
        seed=params["seed"],
        full=params["full_grid"],
        **({"copies_of": copies_of} if copies_of else {}),
    )


def _choice(what: str, default: tuple[str, ...], known: tuple[str, ...], title: str, text: str) -> Choice:
    def check(name: str) -> str:
        if (split(name)[0] if what == "store" else name) not in known:
            raise unknown(what, name, known)
        return name

    return Choice(title=title, text=text, default=list(default), examples=known, check=check)


def _axis(axis: Axis) -> Values:
    return Values(
        title=axis.title,
        text=f"{axis.description} Each value is {axis.hint}. Several have commas between them, for example"
        f" **{', '.join(axis.choices)}**.",
        default=", ".join(axis.default),
        examples=(", ".join(axis.default), ", ".join(axis.choices), *axis.choices),
        check=axis.check,
    )
