"""Type the rows of the view `results`."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, TypedDict

from storebench.protocol.figures import Cover, Guarantee


class AttemptRow(TypedDict):
    """An attempt, a row of the view `results`. The type has the columns that code reads by name; rows have all other columns, too.

    A figure that was not measured is None, never 0.
    """

    attempt_id: uuid.UUID
    run_id: str
    cell_key: str
    study: str
    store: str
    client: str
    axes: dict[str, str]
    arm: str | None
    operation: str
    repeat: int
    try_number: int
    warm_up: bool
    status: str
    error_kind: str | None
    error: str | None
    disturbed: str | None
    perhaps_disturbed: str | None
    not_judged: str | None
    metric: str | None
    value: float | None
    unit: str | None
    metrics: dict[str, float]
    delivers: str | None
    durability: Guarantee | None
    total_s: float | None
    work_total_s: float | None
    figures_cover: Cover | None
    client_bound: bool | None
    service_bound: bool | None
    all_memory_working_set_peak_bytes: int | None
    all_cpu_s: float | None
    dataset_id: str | None
    dataset_bytes: int | None
    server_name: str | None
    server_version: str | None
    environment_hash: str | None
    parameters_hash: str | None
    parameters: dict[str, Any] | None
    method_version: int
    code_version: str
    recorded_at: datetime
