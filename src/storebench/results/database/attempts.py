"""Write attempts and their datasets to Postgres. Every write is idempotent."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from storebench.attempt.result import AttemptResult
from storebench.protocol.figures import FIGURES, USAGE
from storebench.results.database.connection import Database, Row, patient

NAMESPACE = uuid.UUID("6f1f7f2e-6b8a-4c52-9d0b-6f7d3a1c2b5e")

# The columns of `attempt` that have the names of a result's other fields.
REPORTED = ("status", "error_kind", "error", "verification", "method_version", "code_version")

# The tables, apart from `attempt`, whose rows belong to a single attempt.
OF_ATTEMPT = ("phase", "artifact", "usage", "counter", "profile")


@dataclass(frozen=True)
class AttemptKey:
    """The key of an attempt. The same key always gives the same id, which prevents duplicate rows."""

    run_id: str
    cell_key: str
    repeat: int
    operation: str
    try_number: int

    @property
    def id(self) -> uuid.UUID:
        parts = (self.run_id, self.cell_key, str(self.repeat), self.operation, str(self.try_number))
        return uuid.uuid5(NAMESPACE, "\n".join(parts))


@dataclass(frozen=True)
class PodRecord:
    """Kubernetes' record of an attempt's pod."""

    pod: str | None = None
    node: str | None = None
    exit_code: int | None = None
    pod_total_s: float | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


def short_hash(details: Mapping[str, Any]) -> str:
    """Return the key of an environment or of parameters: the same details in any order give the same hash."""
    text = json.dumps(details, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Attempts(Database):
    """Write attempts and their environments to the database."""

    @patient
    def add_dataset(
        self, dataset: str, version: int, rows: int, seed: int, manifest: Mapping[str, Any]
    ) -> None:
        """Record a dataset that a run uses. `dataset`: its id."""
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.dataset (id, schema_version, rows, seed, bytes, sha256, manifest)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO NOTHING",
                (
                    dataset,
                    version,
                    rows,
                    seed,
                    manifest["bytes"],
                    manifest.get("sha256"),
                    Jsonb(dict(manifest)),
                ),
            )

    @patient
    def tries_of(self, key: AttemptKey) -> list[Row]:
        """Return all recorded tries of the key's operation, the newest first: try_number, status, error_kind, error, pod."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT try_number, status, error_kind, error, pod FROM storebench.attempt"
                " WHERE (run_id, cell_key, repeat, operation) = (%s, %s, %s, %s) ORDER BY try_number DESC",
                (key.run_id, key.cell_key, key.repeat, key.operation),
            ).fetchall()

    @patient
    def add_attempt(
        self,
        key: AttemptKey,
        result: AttemptResult,
        pod: PodRecord,
        *,
        phases: Mapping[str, float],
        metric: str | None,
        target: str | None,
        dataset: str | None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Record an attempt with its metrics, phases, environment and parameters (None if no pod ran). The write is idempotent.

        `metric`: the metric that ranks the operation.
        """
        details = result.environment
        counts = (
            result.status == "verified" and not result.disturbed
        )  # an attempt that is not verified needs no judgement
        row: dict[str, Any] = {
            **{name: getattr(result, name) for name in (*FIGURES, *REPORTED)},
            "not_judged": result.not_judged if counts else None,
            **vars(pod),
            "id": key.id,
            **vars(key),
            "metric": metric,
            "value": result.metrics.get(metric) if metric else None,
            "metrics": Jsonb(result.metrics),
            "target": target,
            "server_name": details.get("server_name"),
            "server_version": details.get("server_version"),
            "environment_hash": short_hash(details) if details else None,
            "parameters_hash": short_hash(parameters) if parameters else None,
        }
        with self._cursor() as cursor:
            if details:
                cursor.execute(
                    "INSERT INTO storebench.environment (hash, details) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                    (row["environment_hash"], Jsonb(details)),
                )
            if parameters:
                cursor.execute(
                    "INSERT INTO storebench.parameters (hash, details) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                    (row["parameters_hash"], Jsonb(dict(parameters))),
                )
            columns = sql.SQL(", ").join(map(sql.Identifier, row))
            values = sql.SQL(", ").join(map(sql.Placeholder, row))
            cursor.execute(
                sql.SQL(
                    "INSERT INTO storebench.attempt ({columns}, dataset_id)"
                    " VALUES ({values}, (SELECT id FROM storebench.dataset WHERE id = %(dataset)s))"
                    " ON CONFLICT (id) DO NOTHING"
                ).format(columns=columns, values=values),
                {**row, "dataset": dataset},
            )
            if cursor.rowcount:
                cursor.executemany(
                    "INSERT INTO storebench.phase (attempt_id, position, name, seconds) VALUES (%s, %s, %s, %s)",
                    [(key.id, n, name, seconds) for n, (name, seconds) in enumerate(phases.items(), 1)],
                )
                cursor.executemany(
                    "INSERT INTO storebench.artifact (attempt_id, name, content) VALUES (%s, %s, %s)",
                    [
                        (key.id, name, Jsonb(content))
                        for name, content in {**result.histograms, **result.series}.items()
                    ],
                )
                cursor.executemany(
                    "INSERT INTO storebench.counter (attempt_id, position, name, unit, kind, before, after, unknown)"
                    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
                    [
                        (
                            key.id,
                            n,
                            name,
                            figure["unit"],
                            figure["kind"],
                            *map(figure.get, ("before", "after", "unknown")),
                        )
                        for n, (name, figure) in enumerate(result.counters.items(), 1)
                    ],
                )
                cursor.executemany(
                    "INSERT INTO storebench.profile (attempt_id, name, sampler, hz, samples, dropped_samples, stacks, unknown)"
                    " VALUES (%s, %s, %s, %s, %s, %s, decode(%s, 'base64'), %s)",
                    [
                        (
                            key.id,
                            name,
                            *map(
                                profile.get,
                                ("sampler", "hz", "samples", "dropped_samples", "stacks", "unknown"),
                            ),
                        )
                        for name, profile in result.profiles.items()
                    ],
                )
                insert = sql.SQL(
                    "INSERT INTO storebench.usage (attempt_id, role, name, {}) VALUES (%s, %s, %s, {})"
                )
                cursor.executemany(
                    insert.format(
                        sql.SQL(", ").join(map(sql.Identifier, USAGE)),
                        sql.SQL(", ").join([sql.Placeholder()] * len(USAGE)),
                    ),
                    [
                        (key.id, pod["role"], pod["name"], *(pod.get(figure) for figure in USAGE))
                        for pod in result.usage
                    ],
                )
