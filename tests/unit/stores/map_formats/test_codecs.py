"""The project's own decoders: Skiff, and the lengths between messages of Protobuf. And the generated messages."""

import io

import pytest

from storebench.stores.map_formats import skiff_plain
from storebench.stores.map_formats.formats import format_of
from storebench.stores.map_formats.protobuf import messages
from storebench.stores.map_formats.tables import BENCHMARKS


def table_of(benchmark, rows, name="skiff"):
    bench, sink = BENCHMARKS[benchmark], io.BytesIO()
    plain = list(bench.input(rows, 5, 0))
    format_of(name, bench).encode(bench.table, plain, sink)
    return bench.table, plain, sink.getvalue()


@pytest.mark.parametrize("benchmark", ["narrow", "modify", "complex"])
def test_skiff_that_is_cut_anywhere_is_an_error_with_its_offset_or_whole_rows(benchmark):
    table, plain, data = table_of(benchmark, 60)
    whole = 0
    for end in range(len(data)):
        try:
            found = list(skiff_plain.rows(table, data[:end]))
        except skiff_plain.SkiffError as error:
            assert str(error).startswith("Skiff, byte ") and "missing" in str(error)
        else:
            whole += 1
            assert found == plain[: len(found)] != plain
    assert whole == len(plain), "only between rows"


@pytest.mark.parametrize("benchmark", ["narrow", "modify", "complex"])
def test_a_flipped_byte_of_skiff_is_an_error_or_another_row_and_never_a_crash(benchmark):
    table, plain, data = table_of(benchmark, 40)
    for at in range(len(data)):
        for bit in (0x01, 0x80):
            flipped = bytearray(data)
            flipped[at] ^= bit
            try:
                found = list(skiff_plain.rows(table, bytes(flipped)))
            except skiff_plain.SkiffError:
                continue
            assert repr(found) != repr(plain)


def test_an_integer_that_does_not_fit_its_column_is_an_error():
    bench = BENCHMARKS["wide"]
    table, _, data = table_of("wide", 1_000)
    flipped = bytearray(data)
    assert bench.table.columns[0].kind == "int8"
    flipped[2 + 3] ^= 0x10
    with pytest.raises(skiff_plain.SkiffError, match=r"byte 2: .* does not fit its column"):
        list(skiff_plain.rows(table, bytes(flipped)))


def test_messages_that_are_cut_short_are_an_error_with_their_offset():
    _, plain, data = table_of("narrow", 50, "protobuf_static")
    starts = {0}
    for message in messages(io.BytesIO(data)):
        starts.add(max(starts) + 4 + len(message))
    assert len(starts) == len(plain) + 1 and max(starts) == len(data)
    for end in range(len(data)):
        if end in starts:
            continue
        with pytest.raises(ValueError, match=r"^Protobuf, byte \d+: the stream ends") as raised:
            list(messages(io.BytesIO(data[:end])))
        assert f"byte {max(start for start in starts if start < end)}:" in str(raised.value)


def test_the_generated_messages_are_the_tables():
    from google.protobuf import descriptor_pool

    default = descriptor_pool.Default()
    for bench in BENCHMARKS.values():
        for table in (bench.table, bench.output):
            static, dynamic = (
                format_of(name, bench)._class(table) for name in ("protobuf_static", "protobuf_dynamic")
            )
            fields = [(field.number, field.name) for field in static.DESCRIPTOR.fields]
            assert fields == list(enumerate(table.names, 1))
            assert static is not dynamic
            # As a module that protoc generates: dynamic classes have a pool of their own.
            assert default.FindMessageTypeByName(static.DESCRIPTOR.full_name) is static.DESCRIPTOR
            assert static.__module__ == "rows_pb2"
