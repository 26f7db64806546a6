"""Stores that write a table in bulk and read it back."""
