"""Imported by every Airflow process: what each task would import anew is loaded once, before tasks are forked."""

import airflow.providers.cncf.kubernetes.operators.pod  # noqa: F401
import airflow.providers.cncf.kubernetes.secret  # noqa: F401
import boto3  # noqa: F401
import numpy  # noqa: F401
import psycopg.types.json  # noqa: F401
import psycopg2.extras  # noqa: F401
