"""Provision the servers of runs."""
