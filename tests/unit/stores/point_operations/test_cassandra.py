"""Why the driver of Cassandra speaks protocol 4."""

import io
import struct

import pytest
from cassandra.connection import Connection, CrcMismatchException, DefaultEndPoint
from cassandra.segment import SegmentCodec

from storebench.stores.point_operations.cassandra import PROTOCOL

ANSWERS = 3


class Received(Connection):
    """A connection that gets these bytes in two reads."""

    def __init__(self, version, answers, split):
        super().__init__(DefaultEndPoint("here"), protocol_version=version)
        self.got, self.broken = 0, None
        if version == 5:
            self._enable_checksumming()
        for part in (answers[:split], answers[split:]):
            self._iobuf.write(part)
            self.process_io_buffer()

    def process_msg(self, header, body):
        self.got += 1

    def defunct(self, error):
        self.broken = error


def answers(version):
    """Return answers as a server sends them."""
    body = bytes(200)
    frame = struct.pack(">BBhBi", 0x80 | version, 0, 0, 8, len(body)) + body
    if version == 5:
        segment = io.BytesIO()
        SegmentCodec().encode(segment, frame)
        frame = segment.getvalue()
    return frame, frame * ANSWERS


def test_the_drivers_answers_may_be_split_anywhere():
    _, whole = answers(PROTOCOL)
    for split in range(1, len(whole)):
        found = Received(PROTOCOL, whole, split)
        assert (found.got, found.broken) == (ANSWERS, None)


@pytest.mark.parametrize("beyond", range(1, 6))
def test_protocol_5_loses_its_connection_where_a_header_is_split(beyond):
    """Once this fails, the driver can speak protocol 5."""
    one, whole = answers(5)
    found = Received(5, whole, len(one) + beyond)
    assert found.got == 1 and isinstance(found.broken, CrcMismatchException)
