"""Benchmarks: each prints a table and, as its last line, key=value pairs."""
