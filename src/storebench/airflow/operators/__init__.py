"""The operators of DAGs, and their steps before and after a pod."""
