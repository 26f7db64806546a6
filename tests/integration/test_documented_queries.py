"""The queries of the documentation, asked of the run that comes with the project."""

import re
from pathlib import Path

import psycopg
import pytest

from bench.scratch import scratch
from storebench.results.bundle import Bundles
from storebench.results.migrate import migrate
from tests.integration.conftest import required

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "studies" / "data" / "bulk_write_read.zip"


def documented():
    """Return each SQL query of docs/results.md and of the README."""
    results = (ROOT / "docs" / "results.md").read_text()
    queries = re.findall(r"\n```sql\n(.*?);\n```", results, re.DOTALL)
    return [*queries, *re.findall(r'-c "(SELECT[^"]+)"', (ROOT / "README.md").read_text())]


@pytest.fixture(scope="module")
def connection():
    with scratch(required("AIRFLOW_CONN_STOREBENCH_RESULTS")) as uri:
        migrate(uri)
        Bundles(uri).load(EXAMPLE)
        with psycopg.connect(uri) as connection:
            yield connection


def test_the_documented_queries_answer(connection):
    """Each query is valid; a few ask for failures or histograms, which the example's run lacks."""
    # the example's dataset has another number of rows than the queries
    queries = [query.replace("rows=20000/seed=42", "rows=1000000/seed=42") for query in documented()]
    answers = {query: connection.execute(query).fetchall() for query in queries}
    assert len(answers) >= 14
    assert len([query for query, rows in answers.items() if not rows]) <= 6, "\n\n".join(
        query for query, rows in answers.items() if not rows
    )
