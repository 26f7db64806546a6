import os

from storebench.attempt import machine


def test_machines_with_the_same_memory_are_described_alike(monkeypatch):
    described = []
    for kib in (16_384_256, 16_384_252):
        pages = {"SC_PHYS_PAGES": kib // 4, "SC_PAGE_SIZE": 4096}
        monkeypatch.setattr(os, "sysconf", pages.get)
        described.append(machine.describe([]))
    assert described[0] == described[1]
    assert described[0]["memory_gib"] == 16
