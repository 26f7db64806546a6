"""The DAG that removes the leftovers of ended runs."""

from storebench.airflow.clean_dag import clean_dag

dag = clean_dag()
