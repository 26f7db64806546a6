"""Summarize runs, add rows for operations without an attempt, read histories, and remove runs."""
