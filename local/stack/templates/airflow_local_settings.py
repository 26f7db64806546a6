"""Imported by every Airflow process: what each task would import anew is loaded once, in those that fork tasks and readers of DAGs."""

import sys

if {"scheduler", "dag-processor"} & set(sys.argv):
    import airflow.providers.cncf.kubernetes.operators.pod  # noqa: F401
    import airflow.providers.cncf.kubernetes.secret  # noqa: F401
    import boto3  # noqa: F401
    import numpy  # noqa: F401
    import psycopg.types.json  # noqa: F401
    import psycopg2.extras  # noqa: F401
