"""Declare the types of a run's checked parameters.

The types contain the parameters of all studies. At run time, the values also contain the parameters that only some studies have:
`study_values` returns those, too. `storebench.planning.params` declares the fields, and makes the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class PodParams(TypedDict):
    """The parameters of all pods of a run. CPU and memory are Kubernetes quantities; the limits are in seconds."""

    keep_data: bool
    pod_cpu: str
    cpu_limit: bool
    pod_memory: str
    startup_timeout_s: int
    attempt_timeout_s: int


class DatasetParams(TypedDict, total=False):
    """The parameter of a run whose dataset several pods can make together: the number of pods."""

    dataset_pods: int


class CellParams(PodParams, DatasetParams):
    """The parameters of a run of a single cell. `precision_percent` and `budget_min` (minutes) are None without such a limit. `tags` has commas
    between its tags. `counters`, `profile`: storebench.study.observing.
    """

    rows: int
    seed: int
    repeats: int
    warm_up: bool
    a_a: bool
    precision_percent: float | None
    budget_min: float | None
    tags: str
    counters: str
    profile: str


class ServerParams(TypedDict, total=False):
    """The parameters of a run of a study with topologies, without the sizes of servers, which may be axes."""

    server_start_s: int


class RunParams(CellParams, ServerParams):
    """The parameters of a run. `skip_done`: None for the default of the run's type. `order_seed`: None for a seed that the run draws."""

    stores: list[str]
    clients: list[str]
    full_grid: bool
    skip_done: bool | None
    random_order: bool
    order_seed: int | None


def study_values(params: CellParams) -> Mapping[str, Any]:
    """Return the values of all parameters by name, to read a parameter that only some studies have: an axis, a parameter of the study, an
    option of a store, or a size of servers. The field of such a parameter decides the type of its value.
    """
    return params
