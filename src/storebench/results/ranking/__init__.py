"""Rank the stores and clients of a study."""
