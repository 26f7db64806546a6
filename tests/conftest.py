"""Settings that Airflow reads when it is first imported: a test that needs no server must not touch a real one."""

import atexit
import os
import shutil
import tempfile

import pytest

from storebench import redact

if "AIRFLOW_HOME" not in os.environ:
    home = tempfile.mkdtemp(prefix="storebench-airflow-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ.update(
        AIRFLOW_HOME=home,
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=f"sqlite:///{home}/airflow.db",
    )


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch):
    """Begin each test without the secrets of the test before: a short one would be cut out of its texts, too."""
    monkeypatch.setattr(redact, "_secrets", {})
    redact._pattern.cache_clear()
    yield
    redact._pattern.cache_clear()
