"""Make the DAGs: a study's DAG and its first task, and the DAG that removes leftovers."""
