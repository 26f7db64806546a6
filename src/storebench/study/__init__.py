"""Studies: their parts, cells, the order of the cells, and the parameters of runs. Nothing here imports Airflow."""
