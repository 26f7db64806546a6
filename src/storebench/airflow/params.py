"""The parameters of a study's DAG: the form in Airflow's user interface, and the check of what comes from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from airflow.sdk import Param

from storebench.airflow.doc import dates_in_words
from storebench.airflow.fields import Choice, Field, Flag, Number, Text, Values, WholeNumber
from storebench.dataset.generate import MAX_ROWS
from storebench.errors import unknown
from storebench.grid import MAX_SEED, Axis, Grid, Study, operations_of
from storebench.partition import cell_of
from storebench.results.statistics import MIN_VALUES
from storebench.spark.session import ENCRYPTION
from storebench.stores import load as load_store
from storebench.stores import split

# What a run that completes a single cell does not ask for: which cells, in which order, and that it leaves out what is done.
SETTLED = ("full_grid", "random_order", "order_seed", "skip_done")
MAX_REPEATS = 100
MAX_BUDGET_MIN = 10_080  # a week
JAVA_SIZE = r"[1-9][0-9]*[mg]"
# Kubernetes quantities
CPU = r"[1-9][0-9]*(\.[0-9]+)?m?|0\.[0-9]*[1-9]"
MEMORY = r"[1-9][0-9]*(\.[0-9]+)?(M|G|T|Ki|Mi|Gi|Ti)|[1-9][0-9]{6,}"
HINTS = {
    JAVA_SIZE: "a Java size, such as 1g or 768m",
    CPU: "a number of CPUs, such as 500m, 0.5 or 2",
    MEMORY: "an amount of memory, such as 500Mi or 8Gi",
}


def params_of(study: Study) -> dict[str, Param]:
    """The form's fields, in order: what to measure, then how."""
    return {name: field.param for name, field in _fields_of(study).items()}


def values_of(study: Study, params: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a run's parameters mean; raises SpecError for an unknown name, and for the first value that is not valid."""
    fields = _fields_of(study)
    for name in params:
        if name not in fields:
            raise unknown("parameter", name, fields)
    return {name: field.read(params[name]) for name, field in fields.items()}


def defaults_of(study: Study, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a run's parameters where only these are asked for; raises SpecError as `values_of` does."""
    return values_of(study, {**{name: field.default for name, field in _fields_of(study).items()}, **asked})


def common_values(params: Mapping[str, Any]) -> dict[str, Any]:
    """The values of those of a run's parameters that are the same in every study: all but the places in its grid. What is not there has
    its default.
    """
    return {name: field.read(params.get(name, field.default)) for name, field in _common_fields().items()}


def cell_fields(names: Collection[str]) -> dict[str, Field]:
    """What a user may choose for runs that complete single cells, of the parameters with these names, a DAG's."""
    return {name: field for name, field in _common_fields().items() if name in names and name not in SETTLED}


def _fields_of(study: Study) -> dict[str, Field]:
    options = {name for store in study.stores for name in load_store(store).options}
    left_out = _executor_fields().keys() - options
    return {
        **_grid_fields(study),
        **{name: field for name, field in _common_fields(study.default_rows).items() if name not in left_out},
    }


def _grid_fields(study: Study) -> dict[str, Field]:
    whole = study.grid(stores=study.default_stores, clients=study.clients, axes={}, rows=1, seed=1)
    axes = [axis.title.lower() for axis in study.axes]
    return {
        "stores": _choice(
            "store",
            study.default_stores,
            study.stores,
            "Stores",
            "The storage engines to measure. **mongodb@NAME** is MongoDB at the Airflow Connection **storebench_mongodb_NAME**, so that one"
            " grid compares several servers: add it to the JSON under Advanced Options.\n\n"
            f"A run has stores × clients × {' × '.join(axes)} × repeats × operations (such as write and read), without the combinations"
            f" that a store does not have. This form as it opens: {len(whole.cells)} cells, **{operations_of(whole.cells)} operations**."
            " The log of the run's first task, plan, has the number of your run, and about how long it takes here.\n\n"
            "**Backfill:** tick **Override parameters on existing runs** above, or Airflow does not send this form, and the runs refuse"
            f" to start. The dates choose stores, clients, {' and '.join(axes)}: {dates_in_words(study)}.",
        ),
        "clients": _choice(
            "client",
            study.clients,
            study.clients,
            "Clients",
            "How the stores are driven: **reference** does exactly what the original study did.",
        ),
        **{axis.param: _axis(axis) for axis in study.axes},
    }


def _common_fields(default_rows: int = 1) -> dict[str, Field]:
    return {
        "full_grid": _flag(
            "Full grid",
            "Measure every combination. Off: start from the first value of each field, and at each store change one thing at a time,"
            " the client or the place on one axis. That shows each value in far fewer cells.",
            default=True,
        ),
        "rows": _integer(
            default_rows,
            1,
            MAX_ROWS,
            "Rows",
            "Rows of the dataset. 1,000,000 rows are a CSV of 484 MB.",
            (1000, 20_000, 100_000, 1_000_000),
        ),
        "seed": _integer(
            42, 0, MAX_SEED, "Seed", "The same rows and seed give the same dataset, byte for byte.", (42,)
        ),
        "repeats": _integer(
            1,
            1,
            MAX_REPEATS,
            "Repeats",
            "How often each cell is measured, or at most where a precision or a budget is set. Repeats are interleaved.",
            (1, 3, 10),
        ),
        **_repeat_fields(),
        "keep_data": _flag(
            "Keep data",
            "Keep the written data in the stores. The column **target** of the results names it.",
        ),
        "pod_cpu": _text(
            "500m",
            CPU,
            "CPU request of a pod",
            "Kubernetes quantity, such as **500m** or **2**.",
            ("500m", "1", "2"),
        ),
        "cpu_limit": _flag(
            "CPU limit",
            "Limit the CPU of pods and executors to their request. Their QoS class is then Guaranteed. With whole CPUs and the kubelet's"
            " static policy, each has cores of its own. Off: they may use all that their node has.",
        ),
        "pod_memory": _text(
            "8Gi",
            MEMORY,
            "Memory of a pod",
            "Kubernetes quantity, such as **8Gi**: request and limit. All at once needs about"
            " 6 GiB for each million rows.",
            ("2Gi", "8Gi", "12Gi"),
        ),
        "startup_timeout_s": _integer(
            120,
            1,
            3600,
            "Start limit, s",
            "Seconds that a pod may wait for a node, and again for its image and its start.",
            (120, 600),
        ),
        "attempt_timeout_s": _integer(
            3600,
            1,
            86_400,
            "Attempt limit, s",
            "After so many seconds an attempt is ended, and recorded as failed.",
            (600, 3600),
        ),
        **_executor_fields(),
    }


def _repeat_fields() -> dict[str, Field]:
    return {
        "skip_done": _flag(
            "Skip what is done",
            "Leave out the repeats that are already verified and were not disturbed, with the same dataset, code, environment, and sizes"
            " of pods and executors. Empty: yes in a backfill, no in a run by hand.",
            default=None,
        ),
        "warm_up": _flag(
            "Warm up",
            "Begin with one attempt at each store that does not count. The column **warm_up** marks it.",
        ),
        "a_a": _flag(
            "A/A",
            "Measure each cell twice as often, as two arms that are the same. **storebench compare RUN --a-a** then shows the noise.",
        ),
        "precision_percent": Number(
            title="Precision, %",
            text="Stop repeating a cell when the 95 % confidence interval of its median is this near to the median, for each operation,"
            f" after {MIN_VALUES} repeats at least. Empty: all repeats.",
            maximum=100,
            examples=(1, 3, 5),
        ),
        "budget_min": Number(
            title="Budget, minutes",
            text="Start no further repeat after so many minutes. Each cell is still measured once.",
            maximum=MAX_BUDGET_MIN,
            examples=(30, 120, 480),
        ),
        "random_order": _flag(
            "Random order",
            "Measure the cells in a random order, drawn anew for each round of repeats, so that a drift of the machine falls on all of"
            " them alike. Off: in the order in which stores, clients and values are given.",
            default=True,
        ),
        "order_seed": _integer(
            None,
            0,
            MAX_SEED,
            "Seed of the order",
            "The same seed gives the same order of the cells. Empty: the run draws one, and records it.",
            (1, 42),
        ),
    }


def _executor_fields() -> dict[str, Field]:
    """For stores whose pod starts executors of its own. The defaults let four of them fit on a small node."""
    sizes = "Java size, such as **1g** or **768m**."
    return {
        "executor_cores": _integer(
            1, 1, 64, "Executor cores", "Tasks that an executor runs at the same time.", (1, 2, 4)
        ),
        "executor_cpu": _text(
            "250m",
            CPU,
            "CPU request of an executor",
            "Kubernetes quantity, such as **250m** or **2**.",
            ("250m", "1", "2"),
        ),
        "executor_memory": _text(
            "1g", JAVA_SIZE, "Executor memory", f"Heap of an executor. {sizes}", ("1g", "2g", "4g")
        ),
        "executor_memory_overhead": _text(
            "768m",
            JAVA_SIZE,
            "Executor overhead",
            f"What an executor's pod gets beside its heap, for Python, buffers and class data. {sizes}",
            ("768m", "1g"),
        ),
        ENCRYPTION: _flag(
            "Executor encryption",
            "Spark's driver and executors authenticate each other, and encrypt what they send (AES-GCM). Off: anyone who reaches their"
            " ports can read the data and the S3 login, and run code in the pods.",
            default=True,
        ),
        "driver_memory": _text(
            "2g",
            JAVA_SIZE,
            "Driver memory",
            f"Heap of the driver. It is a part of the memory of the pod. {sizes}",
            ("2g", "4g"),
        ),
    }


def grid_of(study: Study, params: Mapping[str, Any], partition: str | None = None) -> Grid:
    """The grid that a run's parameters ask for, or the one cell of its partition; raises SpecError for a bad one."""
    if partition is not None:
        return Grid((cell_of(study, partition, params["rows"], params["seed"]),), 0)
    return study.grid(
        stores=params["stores"],
        clients=params["clients"],
        axes={axis.param: params[axis.param] for axis in study.axes},
        rows=params["rows"],
        seed=params["seed"],
        full=params["full_grid"],
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
        text=f"{axis.description} Each value is {axis.hint}. Write commas between them, for example"
        f" **{', '.join(axis.choices)}**.",
        default=", ".join(axis.default),
        examples=(", ".join(axis.default), ", ".join(axis.choices), *axis.choices),
        check=axis.check,
    )


def _text(default: str, pattern: str, title: str, text: str, examples: tuple[str, ...]) -> Text:
    hint = HINTS[pattern]
    return Text(title=title, text=text, default=default, examples=examples, pattern=pattern, hint=hint)


def _integer(
    default: int | None, minimum: int, maximum: int, title: str, text: str, examples: tuple[int, ...]
) -> WholeNumber:
    return WholeNumber(
        title=title,
        text=f"{text} From {minimum:,} to {maximum:,}.",
        default=default,
        examples=examples,
        minimum=minimum,
        maximum=maximum,
    )


def _flag(title: str, text: str, *, default: bool | None = False) -> Flag:
    return Flag(title=title, text=text, default=default)
