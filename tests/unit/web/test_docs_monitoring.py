"""The metrics, alerts and settings of docs/how-to/monitoring.md are real."""

import re
from pathlib import Path

import airflow
import pytest
import yaml
from airflow.configuration import conf

from storebench.web.access import METRICS_TOKEN
from storebench.web.api import app
from storebench.web.metrics import GAUGES, STATES

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "monitoring.md").read_text()
AIRFLOW = Path(airflow.__path__[0]) / "_shared" / "observability" / "metrics" / "metrics_template.yaml"


def table(heading):
    """Return the lines of the table below a heading, each as a list of cells."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line] for line in lines]


def test_the_table_has_each_metric_with_its_labels():
    assert table("Metrics of Storebench") == [
        [f"`{gauge.name}`", ", ".join(f"`{label}`" for label in gauge.labels), gauge.text] for gauge in GAUGES
    ]
    assert all(f"`{state}`" in PAGE for state in STATES)


@pytest.mark.parametrize("gauge", GAUGES, ids=lambda gauge: gauge.name)
def test_a_name_follows_the_rules_of_openmetrics(gauge):
    assert gauge.name.startswith("storebench_") and not gauge.name.endswith(("_total", "_count", "_sum"))
    assert gauge.name.endswith(f"_{gauge.unit}") if gauge.unit else not gauge.name.endswith("_seconds")
    assert gauge.family({}).name == gauge.name


def test_the_alerts_and_the_configuration_use_what_there_is():
    scraped, alerts = (yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
    (job,) = scraped["scrape_configs"]
    assert job["metrics_path"].removeprefix("/storebench") in {route.path for route in app.routes}
    known = {gauge.name: gauge for gauge in GAUGES}
    for rule in alerts["groups"][0]["rules"]:
        for name in re.findall(r"storebench_\w+", rule["expr"]):
            used = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
            assert used <= set(known[name].labels), rule["alert"]
    assert f"`{METRICS_TOKEN}`" in PAGE


def test_airflow_sends_the_metrics_that_the_page_names():
    kinds = {metric["name"]: metric["type"] for metric in yaml.safe_load(AIRFLOW.read_text())["metrics"]}
    named = table("Metrics of Airflow")
    assert {name.strip("`"): kind for name, kind, _ in named}.items() <= kinds.items()
    for option in re.findall(r"AIRFLOW__METRICS__([A-Z_]+)", PAGE):
        assert conf.has_option("metrics", option.lower()), option
    assert conf.get("metrics", "otel_prefix") == conf.get("metrics", "statsd_prefix") == "airflow"
