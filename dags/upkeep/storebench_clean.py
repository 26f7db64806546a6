"""The DAG that removes the leftovers of ended runs."""

from storebench.airflow.dags.clean import clean_dag

dag = clean_dag()
