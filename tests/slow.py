"""A source that is slow on purpose, and knows who read it when."""

import io
import threading
import time
from contextlib import contextmanager


class SlowStream(io.RawIOBase):
    """Passes a binary stream on in small parts, each after a pause. A read while `forbidden` is kept in `trespasses`."""

    def __init__(self, origin, part_bytes=16_384, pause_s=0.005):
        self.origin, self.part_bytes, self.pause_s = origin, part_bytes, pause_s
        self.bytes, self.slept_s, self.readers, self.trespasses = 0, 0.0, set(), 0
        self.forbidden = False

    def readable(self):
        return True

    def readinto(self, buffer):
        self.trespasses += self.forbidden
        self.readers.add(threading.get_ident())
        began_s = time.perf_counter()
        time.sleep(self.pause_s)
        self.slept_s += time.perf_counter() - began_s
        part = self.origin.read(min(len(buffer), self.part_bytes))
        buffer[: len(part)] = part
        self.bytes += len(part)
        return len(part)

    @contextmanager
    def not_now(self):
        """Nobody may read here."""
        self.forbidden = True
        try:
            yield
        finally:
            self.forbidden = False


def slow_down(monkeypatch, open_binary, **pace):
    """Let the source read what `open_binary()` gives, slowly; returns the list of its streams, which are filled as they are opened."""
    import smart_open

    streams = []

    def opened(uri, mode="r", *, encoding=None, newline=None, transport_params=None):
        streams.append(SlowStream(open_binary(), **pace))
        if "b" in mode:
            return streams[-1]
        return io.TextIOWrapper(io.BufferedReader(streams[-1]), encoding, newline=newline)

    monkeypatch.setattr(smart_open, "open", opened)
    return streams
