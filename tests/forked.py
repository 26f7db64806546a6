"""Load what the pods of tests load, once: all such pods are forks of the process that imports this module."""

from storebench.dataset.generate import generate_chunk
from tests import dataset_pods
from tests.unit.attempt.parts import planted

generate_chunk(0, 0, 1)  # makes the tables of pieces

__all__ = ["dataset_pods", "planted"]
