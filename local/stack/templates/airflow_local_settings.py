"""Imported by every Airflow process: what each task would import anew is loaded once, before tasks are forked."""

import airflow.providers.cncf.kubernetes.operators.pod  # noqa: F401
