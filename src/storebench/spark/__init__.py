"""Spark on Kubernetes: the driver's session, its executor pods, and their figures."""
