"""Estimate durations and prices from earlier attempts, and find the repeats that need no measurement."""
