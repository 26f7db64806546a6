"""Measures storage engines on Kubernetes."""

__version__ = "1.0.0"
