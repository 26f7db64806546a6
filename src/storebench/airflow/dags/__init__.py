"""Create the DAGs: the DAG of a study with its first task, and the DAG that removes leftovers."""
