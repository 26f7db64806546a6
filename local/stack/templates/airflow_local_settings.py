"""Preload modules in every Airflow process, so that forked tasks and DAG processors need not import them again."""

import sys

if {"scheduler", "dag-processor"} & set(sys.argv):
    import airflow.providers.cncf.kubernetes.operators.pod  # noqa: F401
    import airflow.providers.cncf.kubernetes.secret  # noqa: F401
    import boto3  # noqa: F401
    import numpy  # noqa: F401
    import psycopg.types.json  # noqa: F401
    import psycopg2.extras  # noqa: F401
