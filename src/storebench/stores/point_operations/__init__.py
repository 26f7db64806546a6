"""Stores of the study of point operations, which write and read single entities by id."""
