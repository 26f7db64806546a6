"""The checksum as its definition reads, in plain Python: slow, and right by looking at it."""

from storebench.dataset.schema import FIELD_NAMES

BASE = 0x9FB21C651E98DF25
GOLDEN = 0x9E3779B97F4A7C15


def mix(value):
    value %= 2**64
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
    return value ^ (value >> 31)


def text_hash(text):
    data = text.encode("utf-8")
    n = len(data)
    polynomial = sum(byte * pow(BASE, n - 1 - i, 2**64) for i, byte in enumerate(data))
    return mix(polynomial + (n + 1) * GOLDEN)


def checksums(rows):
    """Return the checksum of each field and of the rows."""
    fields = dict.fromkeys(FIELD_NAMES, 0)
    row_sum = 0
    for row in rows:
        combined = 0
        for j, name in enumerate(FIELD_NAMES):
            value = text_hash(row[name])
            fields[name] = (fields[name] + value) % 2**64
            combined += (mix((j + 1) * GOLDEN) | 1) * value
        row_sum = (row_sum + mix(combined)) % 2**64
    return fields, row_sum
