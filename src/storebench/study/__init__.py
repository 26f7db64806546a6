"""What a study is: its parts, its cells, their order, and the parameters of its runs. Nothing here knows Airflow."""
