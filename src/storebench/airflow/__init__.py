"""The Airflow side: DAGs from studies, pods from cells, rows from pods. Imports no store's client."""
