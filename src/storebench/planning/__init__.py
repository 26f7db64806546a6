"""Plan a run: its parameters, grid, turns and expected duration, and the checks before any work. Imports nothing of Airflow."""
