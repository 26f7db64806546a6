"""Removes what no run needs any more."""

from storebench.airflow.clean_dag import clean_dag

dag = clean_dag()
