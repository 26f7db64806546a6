"""Servers that a run provisions: their topologies, sizes, and life on a cluster. No module here imports Airflow."""
