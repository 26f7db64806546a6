"""Stores of the study of serialization formats in map jobs. Each store is a format."""
