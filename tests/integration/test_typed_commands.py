"""Commands of the documentation, typed against a results database with the runs of one study that come with the project."""

import csv
import io
import json
import os
import re

import pytest
from click.testing import CliRunner

from bench.scratch import scratch
from local.reference.shipped import BUNDLES
from storebench.cli import main
from storebench.results.database.migrate import migrate
from tests.documented import commands
from tests.integration.conftest import required

STUDY = "bulk_write_read"
SHIPPED = [bundle for bundle in BUNDLES if bundle.stem.startswith(STUDY)]
# Commands that need no Airflow: they read the results, write files, or name runs.
TYPED = {
    *("baseline", "claims", "compare", "export", "grid", "plan-repeats", "price", "profile", "ranking"),
    *("replay", "report", "results", "runs", "site", "sql", "studies", "tag"),
}
OTHERS = {"--follow", "--trigger", "--sign", "--write"}  # options that need Airflow, a key, or a superuser
THIS_RUN = {"RUN", "RUN_A", "RUN_B", "turns:ID:A", "turns:ID:B"}
# What a command says about runs and metrics that the shipped runs do not have
LACKING = re.compile(
    r"There is no run '|There are no results of the study|There is no attempt of the cell|Unknown (study|store|metric|rate of these runs) '"
    r"|The noise is unknown|has a profile: start a run|relation \"storebench\.gzip_levels\" does not exist"
)


@pytest.fixture(scope="module")
def enter():
    """Return a function that enters a command of `storebench`, and returns its result. The results have the shipped runs of the study."""
    with scratch(required("AIRFLOW_CONN_STOREBENCH_RESULTS")) as uri:
        migrate(uri)
        environment = dict.fromkeys(name for name in os.environ if name.startswith("STOREBENCH_AIRFLOW_"))
        environment |= {"AIRFLOW_CONN_STOREBENCH_RESULTS": uri, "STOREBENCH_STUDY": STUDY}

        def enter(*words):
            return CliRunner().invoke(main, words, env=environment)

        for bundle in SHIPPED:
            assert enter("import", str(bundle)).exit_code == 0
        yield enter


def test_each_typed_command_answers(enter, tmp_path, monkeypatch):
    """A command about other runs must say what is lacking. A gate (`--fail-over`) may also answer 6: inconclusive."""
    typed = {one.words[1:] for one in commands() if one.words[0] == "storebench" and len(one.words) > 1}
    answered, mistakes = set(), []
    for words in sorted(words for words in typed if words[0] in TYPED and not OTHERS & {*words}):
        folder = tmp_path / str(len(answered) + len(mistakes))
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        result = enter(*("latest" if word in THIS_RUN else word for word in words))
        if result.exit_code in ((0, 6) if "--fail-over" in words else (0,)):
            answered.add(words)
        elif result.exit_code != 2 or not LACKING.search(result.output):
            mistakes.append((words, result.exit_code, result.output, result.exception))
    assert mistakes == []
    assert {words[0] for words in answered} >= TYPED - {"plan-repeats", "profile", "replay"}
    assert len(list(tmp_path.glob("*/*/index.html"))) >= 2, "`site` has written sites"
    assert list(tmp_path.glob("*/*/*.html")) and list(tmp_path.glob("*/run.zip"))


def test_sql_answers_in_each_format_and_changes_nothing_by_itself(enter):
    query = "SELECT store, rows, axes FROM storebench.cell WHERE store = 'mongodb' ORDER BY axes LIMIT 1"
    (row,) = json.loads(enter("sql", query, "--format", "json").output)
    assert row["store"] == "mongodb" and row["rows"] == 100_000 and "batch" in row["axes"]
    (read,) = csv.DictReader(io.StringIO(enter("sql", query, "--format", "csv").output))
    assert json.loads(read["axes"]) == row["axes"] and read["rows"] == "100000"
    assert "mongodb" in enter("sql", query).output
    assert enter("sql", f"SELECT * FROM ({query}) AS one WHERE false").output == "no rows\n"
    drop = "DROP VIEW storebench.counters"
    refused = enter("sql", drop)
    assert refused.exit_code == 2 and "read-only transaction" in refused.output
    assert enter("sql", "SELECT count(*) FROM storebench.counters").exit_code == 0
    assert enter("sql", "--write", drop).output == "DROP VIEW\n"
    gone = enter("sql", "SELECT count(*) FROM storebench.counters")
    assert gone.exit_code == 2 and 'relation "storebench.counters" does not exist' in gone.output
    ended = enter("sql", "SELECT pg_terminate_backend(pg_backend_pid())")
    assert ended.exit_code == 3 and "cannot be used" in ended.output
