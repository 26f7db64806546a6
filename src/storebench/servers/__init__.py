"""Servers that a run brings: their topologies, sizes, and their life on a cluster. Nothing here knows Airflow."""
