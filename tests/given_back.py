"""A table store in this process: it writes rows and reads them, and its checksum is compared with the rows'."""

import io

from storebench.attempt.clock import OperationClock
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.custom_file import encoded
from storebench.stores.bulk_write_read.source import Source


def source_of(monkeypatch, schema, rows):
    """Return a source of these rows of text, in which every `smart_open.open` ends."""
    import smart_open

    names = tuple(field.name for field in schema)
    data = encoded([names, *(tuple(row.values()) for row in rows)])

    def opened(uri, mode="r", *, encoding=None, newline=None, transport_params=None):
        return (
            io.BytesIO(data) if "b" in mode else io.TextIOWrapper(io.BytesIO(data), encoding, newline=newline)
        )

    monkeypatch.setattr(smart_open, "open", opened)
    source = Source(None, "bucket", "key")
    source.schema = schema
    return source


def same(store, rows):
    """Assert that the store counts these rows, and that its checksum is the rows' checksum."""
    assert store.count() == len(rows)
    expected = TableChecksum(store.source.fields)
    expected.update({name: [row[name] for row in rows] for name in store.source.fields})
    assert vars(store.checksum()) == vars(expected)


def written(store, rows):
    """Write the rows with the store, and assert that reading back with its verification finds them."""
    store.connect()
    store.prepare()
    assert store.write(store.batch, OperationClock()) == len(rows)
    store.barrier()
    same(store, rows)
    store.close()


def read(store, rows):
    """Read the rows with the store, and assert that the second pass finds them."""
    store.connect()
    assert store.read(OperationClock()) == len(rows)
    same(store, rows)
    store.close()
