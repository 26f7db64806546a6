"""The DAG of docs/how-to/nightly-runs.md starts a run that the study's form accepts."""

import re
from pathlib import Path

import pytest

from storebench.airflow.dags.study import params_of
from storebench.study import studies

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "nightly-runs.md"


@pytest.fixture(scope="module")
def nightly(tmp_path_factory):
    """Return the page's DAG."""
    from airflow.dag_processing.dagbag import DagBag

    ((name, text),) = re.findall(r"```python\n# dags/(\w+\.py)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    folder = tmp_path_factory.mktemp("dags")
    (folder / name).write_text(text)
    bag = DagBag(dag_folder=str(folder), bundle_name="dags-folder")
    assert bag.import_errors == {}
    return bag.dags["nightly"]


def test_the_nightly_dag_starts_a_run_of_the_study_with_valid_parameters(nightly):
    from airflow.providers.common.compat.sdk import DagRunTriggerException
    from airflow.sdk.definitions.param import ParamsDict

    task = nightly.get_task("start")
    with pytest.raises(DagRunTriggerException) as started:
        task.execute({})
    run = started.value
    assert run.logical_date is None, "as the page and the command line start runs"
    study = studies.find(run.trigger_dag_id)
    params = ParamsDict(params_of(study))
    assert set(run.conf) <= set(params), "Airflow accepts unknown parameters"
    params.update(run.conf)
    params.validate()
