"""Record a row for each planned operation without an attempt, with the reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from storebench.attempt.result import AttemptResult
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.connection import Row
from storebench.results.database.repository import Repository

STOPPED = "The run was stopped in Airflow before this operation began"
KILLED = "Airflow ended the task before it could record the attempt. Its log, or the scheduler's, says why"


def fill_gaps(
    repository: Repository,
    run_id: str,
    killed: Collection[tuple[str, int, str]] = (),
    reason: str | None = None,
) -> int:
    """Record a row for each planned operation without an attempt. Return the number of rows.

    `killed`: operations (cell's key, repeat, operation) whose task ran but could not record its result. `reason`: the reason for all other
    operations, if neither the run's record nor the cell has a reason.
    """
    gaps = repository.gaps(run_id)
    filled: dict[tuple[str, int, str], AttemptResult] = {}
    for gap in gaps:
        place = gap["cell_key"], gap["repeat"], gap["operation"]
        needed = {name: filled.get((gap["cell_key"], gap["repeat"], name)) for name in gap["needs"]}
        filled[place] = result_of(gap, needed, reason or STOPPED, killed=place in killed)
        filled[place].method_version = gap["method_version"]
        repository.add_attempt(
            AttemptKey(run_id, *place, 0),
            filled[place],
            PodRecord(),
            phases={},
            metric=gap["metric"],
            target=None,
            dataset=None,
        )
    return len(gaps)


def result_of(
    gap: Row, needed: Mapping[str, AttemptResult | None], reason: str, *, killed: bool
) -> AttemptResult:
    """Return the result to record for an operation without an attempt.

    `needed`: the operations that this operation depends on, each with the result recorded for it, None if it has an attempt.
    """
    if killed:
        return AttemptResult(status="failed", error_kind="infrastructure", error=KILLED)
    before = gap["operation_before"]
    status, kind, error = gap["status_before"], gap["error_kind_before"], gap["error_before"]
    for name, result in needed.items():
        if result is not None:
            before, status, kind, error = name, result.status, result.error_kind, result.error
            break
    if status == "failed":
        reason = f"Its {before} failed: {kind}: {error}"
    elif status == "not_run" and error:
        reason = error
    elif gap["reason"]:
        reason = gap["reason"]
    return AttemptResult(status="not_run", error_kind="not_run", error=reason)
