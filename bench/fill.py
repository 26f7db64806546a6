"""Fill a results database with a given number of attempts, for benchmarks of a full database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import psycopg
from psycopg.rows import dict_row

from storebench.results.database import study_views
from storebench.results.database.migrate import migrate
from storebench.results.database.repository import put_study
from storebench.study import studies
from storebench.study.model import Metric, Study
from storebench.study.record import StudyRecord

STUDY = "bulk_write_read"
OTHER = "rare_study"  # a study with few rows
OTHER_SHARE = 0.01
SHARE = 0.1  # share of attempts of each study that is not named
CELLS = 400
STORES = 4  # stores of a study
RUN_ATTEMPTS = 200  # attempts of a run
METRICS = 10  # metrics of an attempt

COMMON = """
INSERT INTO storebench.dataset (id, schema_version, rows, seed, bytes, sha256, manifest)
VALUES ('v1/rows=20000/seed=42', 1, 20000, 42, 9681234, '', '{}');
INSERT INTO storebench.environment (hash, details)
SELECT 'e' || n, jsonb_build_object('server_name', 'FerretDB', 'server_version', n, 'image', 'i')
FROM generate_series(1, 20) AS n;
INSERT INTO storebench.parameters (hash, details)
SELECT 'p' || n, jsonb_build_object('pod_cpu', n, 'cpu_limit', false, 'pod_memory', '8Gi') FROM generate_series(1, 2) AS n;
"""
# Each run measures enough cells once to have its number of attempts.
FILL = """
INSERT INTO storebench.cell (key, study, store, client, axes, rows, seed)
SELECT format('{study}/%s/reference/{axis}=%s/rows=20000/seed=42', s, 100 * n),
    '{study}', s, 'reference', jsonb_build_object('{axis}', (100 * n)::text), 20000, 42
FROM unnest({stores}::text[]) AS s, generate_series(1, {cells} / cardinality({stores}::text[])) AS n;
INSERT INTO storebench.run (id, study, dag_id, airflow_run_id, params, datasets, method_version, code_version, state, started_at)
SELECT '{study}/r' || n, '{study}', '{study}', 'r' || n, '{{}}', '{{v1/rows=20000/seed=42}}', 1, '0.1.0', 'success',
    now() - interval '1 hour' * ({runs} - n) - interval '{behind_min} minutes'
FROM generate_series(1, {runs}) AS n;
CREATE TEMP TABLE numbered AS
SELECT key, row_number() OVER (ORDER BY key) - 1 AS place FROM storebench.cell WHERE study = '{study}';
CREATE TEMP TABLE planned AS
SELECT r AS run, n AS turn, c.key
FROM generate_series(1, {runs}) AS r, generate_series(0, {per_run} / cardinality({operations}::text[]) - 1) AS n
JOIN numbered AS c ON true WHERE c.place = (r * 7 + n) % (SELECT count(*) FROM numbered);
INSERT INTO storebench.run_cell (run_id, cell_key, repeat, position, operations)
SELECT '{study}/r' || run, key, 1, turn + 1, {operations}::text[] FROM planned;
INSERT INTO storebench.attempt (id, run_id, cell_key, repeat, operation, try_number, status, error_kind, error, dataset_id,
    environment_hash, parameters_hash, metric, value, metrics, total_s, memory_working_set_peak_bytes, memory_peak_bytes, cpu_s,
    client_cpu_share, disturbed, server_name, server_version, method_version, code_version, recorded_at)
SELECT gen_random_uuid(), '{study}/r' || p.run, p.key, 1, o.name, 1, s.status,
    CASE WHEN s.status <> 'verified' THEN 'unreachable' END, CASE WHEN s.status <> 'verified' THEN 'down' END,
    'v1/rows=20000/seed=42', 'e' || (1 + p.run % 20), 'p' || (1 + p.run % 2), o.metrics[1], s.took_s, m.metrics, 4, 200000000, 300000000, 3,
    random(), CASE WHEN s.status = 'verified' AND random() < 0.001 THEN 'throttled in 3 periods' END, 'FerretDB', '2.7', 1, '0.1.0',
    now() - interval '1 hour' * ({runs} - p.run) - interval '{behind_min} minutes' + interval '1 second' * (2 * p.turn + o.place)
FROM planned AS p, (VALUES {metrics}) AS o (place, name, metrics),
    LATERAL (SELECT CASE WHEN random() < 0.01 THEN 'failed' ELSE 'verified' END AS status, 1 + random() / 10 AS took_s
             WHERE p.key IS NOT NULL) AS s,
    LATERAL (SELECT jsonb_object_agg(name, CASE WHEN name = o.metrics[1] THEN s.took_s WHEN name = 'rows_per_s' THEN 20000 / s.took_s
             ELSE random() END) AS metrics FROM unnest(o.metrics) AS name) AS m;
DROP TABLE numbered, planned;
"""
REST = """
INSERT INTO storebench.phase (attempt_id, position, name, seconds)
SELECT a.id, p.n, p.name, 0.1 FROM storebench.attempt AS a, unnest(ARRAY['connect', 'operation', 'verify']) WITH ORDINALITY AS p (name, n);
INSERT INTO storebench.statistic (cell_key, operation, metric, environment_hash, parameters_hash, method_version, n, median, min, max,
    first_quartile, third_quartile, interval_low, interval_high)
SELECT a.cell_key, a.operation, m, a.environment_hash, a.parameters_hash, 1, count(*), 1.05, 1, 1.1, 1.02, 1.08, 1.04, 1.06
FROM storebench.attempt AS a,
    unnest(a.metric || '{rows_per_s,work_total_s,all_memory_working_set_peak_bytes}'::text[]) AS m
WHERE a.status = 'verified' GROUP BY a.cell_key, a.operation, m, a.environment_hash, a.parameters_hash;
"""


def fill(uri: str, attempts: int, more: Sequence[str] = ()) -> None:
    """Migrate the empty database at `uri`, and insert `attempts` attempts of CELLS cells.

    Each study in `more` gets the same number of attempts, each other study of the project SHARE of it, and a rarely run study
    OTHER_SHARE."""
    migrate(uri)
    study = measured(studies.find(STUDY), METRICS)
    shares = {name: 1.0 if name in more else SHARE for name in studies.names() if name != STUDY}
    others = [measured(studies.find(name), METRICS) for name in shares]
    with psycopg.connect(uri, row_factory=dict_row) as connection:
        cursor = connection.cursor()
        for stored_study in (study, *others):
            put_study(cursor, stored_study)
        # recorded directly, since a study of this name has no stores to load
        cursor.execute(
            "INSERT INTO storebench.study (name, operations, details)"
            " SELECT %s, operations, details FROM storebench.study WHERE name = %s",
            (OTHER, STUDY),
        )
        study_views.make(cursor, StudyRecord.of(study).model_copy(update={"name": OTHER}))
    made = [
        (study, STUDY, 1.0),
        (study, OTHER, OTHER_SHARE),
        *((filled_study, filled_study.name, shares[filled_study.name]) for filled_study in others),
    ]
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(COMMON)
        for place, (filled_study, name, share) in enumerate(made):
            runs = max(1, round(attempts * share) // RUN_ATTEMPTS)
            connection.execute(
                FILL.format(
                    study=name,
                    cells=CELLS,
                    runs=runs,
                    per_run=RUN_ATTEMPTS,
                    behind_min=10 * place,
                    axis=filled_study.axes[0].name,
                    stores=_array(filled_study.stores[:STORES]),
                    operations=_array(operation.name for operation in filled_study.operations),
                    metrics=", ".join(_metrics(filled_study)),
                )
            )
        connection.execute(REST)
        connection.execute("VACUUM (ANALYZE)")


def _array(texts: Iterable[str]) -> str:
    return f"ARRAY[{', '.join(repr(text) for text in texts)}]"


def _metrics(study: Study) -> Iterator[str]:
    """Yield a line for each operation: its position, its name, and its scalar metrics."""
    numbers = {metric.name for metric in study.metrics if metric.kind == "scalar"}
    for place, operation in enumerate(study.operations):
        yield f"({place}, '{operation.name}', {_array(name for name in operation.metrics if name in numbers)})"


def measured(study: Study, metrics: int) -> Study:
    """Return the study with `metrics` metrics of each operation: its own metrics and invented metrics."""
    more = tuple(Metric(f"figure_{n}_s", f"figure {n}") for n in range(1, metrics - len(study.metrics) + 1))
    names = tuple(metric.name for metric in more)
    operations = tuple(
        replace(declared, metrics=(*declared.metrics, *names)) for declared in study.operations
    )
    return replace(study, metrics=(*study.metrics, *more), operations=operations)
