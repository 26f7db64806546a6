"""Imported by every Airflow process: what each task would import anew is loaded once, before tasks are forked."""

import airflow.providers.cncf.kubernetes.operators.pod
import airflow.providers.cncf.kubernetes.secret
import boto3
import numpy
import psycopg.types.json
import psycopg2.extras  # noqa: F401
