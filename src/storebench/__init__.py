"""Measures storage engines on Kubernetes."""
