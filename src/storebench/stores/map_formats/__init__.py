"""Serialization formats in map jobs: a store is a format, and what they share stands beside them."""
