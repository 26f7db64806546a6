import socket

import pytest

from storebench.attempt.parts.lines import BadLine, Lines
from storebench.attempt.parts.parts import Parts, without
from storebench.attempt.parts.spans import Span


@pytest.fixture
def ends():
    """The two ends of a TCP connection: a socket, and Lines."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        other = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
    lines = Lines(accepted)
    yield other, lines
    other.close()
    lines.close()


def test_objects_come_as_they_were_sent(ends):
    other, lines = ends
    other.sendall('{"say": "ä\\n", "value": [1.5]}\n{"clock": 1}\n'.encode())
    other.shutdown(socket.SHUT_WR)
    assert list(lines) == [{"say": "ä\n", "value": [1.5]}, {"clock": 1}]
    lines.send({"answer": "x", "value": None})
    assert other.recv(100) == b'{"answer":"x","value":null}\n'


def test_a_line_that_was_cut_off_is_the_end(ends):
    other, lines = ends
    other.sendall(b'{"say": "begin"')
    other.close()
    assert lines.receive() is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"hello\n", "is no JSON: b'hello"),
        (b"[1]\n", "is no JSON object"),
        (b"\xff\n", "is no JSON"),
        (b"[" * 100_000 + b"\n", "is no JSON"),
        (b'{"a": "' + b"x" * 200_000, "more than 150,000 bytes"),
    ],
    ids=["no JSON", "no object", "no UTF-8", "deep", "long"],
)
def test_a_malformed_or_long_line_is_refused(ends, line, why):
    other, lines = ends
    other.settimeout(5)
    other.sendall(line)
    with pytest.raises(BadLine, match=why):
        lines.receive(150_000)


def test_closing_ends_the_wait_of_the_other_side(ends):
    other, lines = ends
    other.settimeout(5)
    lines.close()
    assert other.recv(10) == b"" and lines.receive() is None


def test_a_single_part_decides_and_gathers_alone():
    parts = Parts()
    assert parts.agree("version", 3, max) == 3
    assert parts.gather(None, {"rows": 1}, {}) == [{"rows": 1}]
    assert parts.part.leads and parts.verified("all rows") == "all rows"


def test_a_part_does_not_subtract_its_own_cpu_twice():
    own = Span(0.0, 1.0, 2.5, "here")
    assert without({"here": 4.0, "there": 1.0}, own) == {"here": 1.5, "there": 1.0}
