"""A folder of files becomes a dataset with the rows of all its parts, or is refused with the reason."""

import io

import pyarrow as pa
import pytest
from botocore.exceptions import ClientError
from pyarrow import parquet as pq

from storebench.errors import SpecError, StoreRefused
from storebench.study import custom_files
from storebench.study.dataset import seed_of
from tests import example_file, int96
from tests.unit.dataset.test_custom_dataset import made, made_of, s3, written

__all__ = ["s3"]  # the fixture
FOLDER = "s3://bucket/orders.parquet/"


def put(s3, folder, **parts):
    s3.objects |= {f"{folder}{name}": data for name, data in parts.items()}


def copy_of(s3, manifest):
    return s3.objects[manifest.key].decode()


def cut(data, n):
    """Cut a Parquet file into n files."""
    table = pq.read_table(io.BytesIO(data))
    size = -(-table.num_rows // n)
    for start in range(0, table.num_rows, size):
        out = io.BytesIO()
        pq.write_table(table.slice(start, size), out)
        yield out.getvalue()


@pytest.mark.parametrize("address", [FOLDER, FOLDER.rstrip("/")])
def test_a_folder_that_spark_wrote_is_the_rows_of_its_parts_in_the_order_of_their_names(s3, address):
    for n, part in enumerate(cut(example_file.as_parquet(), 3)):
        put(s3, f"orders.parquet/part-{n:05d}", **{"-1a2b-c000.snappy.parquet": part})
    put(
        s3,
        "orders.parquet/",
        _SUCCESS=b"",
        **{".part-00000.crc": b"x", "": b"", "x_$folder$": b"", "_committed_1": b"x"},
    )
    put(s3, "orders.parquet.old/", **{"part.parquet": b"another folder"})
    manifest, message = made_of(s3, address)
    assert manifest.sha256 == made(s3, example_file.as_parquet(), "whole.parquet")[0].sha256
    assert (manifest.rows, message["file"]) == (example_file.ROWS, address)


def test_parts_of_csv_have_one_header_in_the_copy(s3):
    put(s3, "a/", **{"2.csv": b"x,y\n3,c\n", "1.csv": b"x,y\n1,a\n2,b", "3.csv": b"", "4.csv": b"x,y\n"})
    assert copy_of(s3, made_of(s3, "s3://bucket/a/")[0]) == "x,y\n1,a\n2,b\n3,c\n"


def test_parts_of_parquet_can_differ_in_the_width_of_types_and_the_order_of_columns(s3):
    put(
        s3,
        "a/",
        **{
            "1.parquet": written(x=pa.nulls(1), y=["a"]),
            "2.parquet": written(y=pa.array(["b"]).dictionary_encode(), x=pa.array([1], pa.int32())),
            "3.parquet": written(x=pa.array([2**40]), y=pa.array(["c"], pa.large_string())),
        },
    )
    manifest, _ = made_of(s3, "s3://bucket/a/")
    assert copy_of(s3, manifest) == "x,y\n,a\n1,b\n1099511627776,c\n"
    assert [field.type for field in manifest.schema] == ["integer", "string"]


def test_a_timestamp_has_the_decimal_places_that_all_parts_need(s3):
    put(
        s3,
        "a/",
        **{
            "1.parquet": written(at=pa.array([1], pa.timestamp("s"))),
            "2.parquet": written(at=pa.array([1_500_000], pa.timestamp("us"))),
        },
    )
    manifest, _ = made_of(s3, "s3://bucket/a/")
    assert copy_of(s3, manifest) == "at\n1970-01-01T00:00:01.000Z\n1970-01-01T00:00:01.500Z\n"
    assert manifest.schema[0].scale == 3


def test_int96_is_read_in_one_unit_in_all_parts(s3):
    far, fine = "9999-12-31T23:59:59Z", "2024-05-06T07:08:09.000000001Z"
    put(s3, "a/", **{"1.parquet": int96.as_parquet(at=[int96.moment(far)])})
    put(s3, "a/", **{"2.parquet": int96.as_parquet(at=[int96.moment(fine)])})
    with pytest.raises(SpecError, match=r"INT96 timestamps with nanoseconds, and 'at' has INT96 .* outside"):
        made_of(s3, "s3://bucket/a/")


def test_each_change_of_a_part_is_another_version_and_hidden_files_are_none(s3):
    seeds = set()
    for parts in (
        {"1.csv": b"a\n1\n"},
        {"1.csv": b"a\n2\n"},
        {"1.csv": b"a\n2\n", "2.csv": b"a\n1\n"},
        {"2.csv": b"a\n2\n", "3.csv": b"a\n1\n"},
        {"2.csv": b"a\n2\n", "3.csv": b"a\n1\n", "_SUCCESS": b""},
    ):
        s3.objects = {f"a/{name}": data for name, data in parts.items()}
        found = custom_files.find(s3, "s3://bucket/a/")
        seeds.add(seed_of("s3://bucket/a/", found.version, found.size))
    assert len(seeds) == 4
    assert found.size == 8 and found.keys == ("a/2.csv", "a/3.csv")


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (
            {"1.csv": b"a,b\n1,2\n", "2.csv": b"a,c\n1,2\n"},
            r"2\.csv: the column 'c' is not in 1",
        ),
        (
            {"1.csv": b"a,b\n1,2\n", "2.csv": b"a\n1\n"},
            r"2\.csv: the column 'b' of 1\.csv is missing",
        ),
        ({"1.csv": b"a,b\n1,2\n", "2.csv": b"b,a\n1,2\n"}, r"2\.csv: its columns have another order than"),
        (
            {"1.csv": b"a,b\n1,2\n", "2.csv": b"3,4\n"},
            r"2\.csv: the column '3' is .* header",
        ),
        ({"1.csv": b"a\n1\n", "2.csv": b"a\n1\n2,3\n"}, r"2\.csv: line 3: a row has 2 values"),
        ({"1.csv": b"a\n1\n", "2.csv": "a\n".encode("utf-16")}, r"2\.csv: it is UTF-16"),
        ({"1.csv": b"a\n1\n", "2.csv": b"a\n\xff\n"}, r"2\.csv: line 2: it is not UTF-8"),
        (
            {"1.parquet": written(a=[1]), "2.parquet": written(a=["x"])},
            r"2\.parquet: the column 'a' is string here, and int64 in a part before",
        ),
        (
            {"1.parquet": written(a=[1]), "2.parquet": written(b=[1])},
            r"2\.parquet: the column 'b' is not in 1",
        ),
        ({"1.parquet": written(a=[1]), "2.parquet": b""}, r"2\.parquet: it is no Parquet file"),
        (
            {"1.csv": b"a\n1\n", "2.parquet": written(a=[1])},
            r"both CSV and Parquet files.*'1\.csv' and '2\.p",
        ),
        (
            {"1.csv": b"a\n1\n", "notes.txt": b"x"},
            r"the file 'notes\.txt', whose name ends with none of \.csv",
        ),
        ({"_delta_log/00.json": b"{}", "1.parquet": b"x"}, "is a table of Delta Lake: its log says"),
        ({".hoodie/hoodie.properties": b"x", "1.parquet": b"x"}, "is a table of Hudi"),
        ({"metadata/v1.metadata.json": b"x", "data/1.parquet": b"x"}, "is a table of Iceberg"),
        ({"_temporary/0/1.parquet": b"x"}, "its writer has not finished"),
        (
            {"year=2024/1.parquet": b"x"},
            "is partitioned: its files lack the column of the folder 'year=2024'",
        ),
    ],
)
def test_what_is_no_one_table_is_refused_with_the_part(s3, parts, why):
    put(s3, "a/", **parts)
    before = dict(s3.objects)
    with pytest.raises(SpecError, match=why):
        made_of(s3, "s3://bucket/a/")
    assert s3.uploads == {} and s3.objects == before, "nothing is left"


def test_a_folder_with_hidden_files_alone_is_not_there(s3):
    put(s3, "a/", _SUCCESS=b"", **{".1.csv.crc": b"x"})
    with pytest.raises(StoreRefused, match="There is no file in s3://bucket/a/, or only hidden ones"):
        custom_files.find(s3, "s3://bucket/a/")


def test_one_partition_and_folders_in_a_folder_are_taken(s3):
    put(s3, "a/", **{"year=2024/01/1.csv": b"a\n1\n", "year=2024/02/1.csv": b"a\n2\n"})
    assert copy_of(s3, made_of(s3, "s3://bucket/a/year=2024/")[0]) == "a\n1\n2\n"


def test_too_many_parts_are_refused(s3, monkeypatch):
    monkeypatch.setattr(custom_files, "MAX_PARTS", 2)
    put(s3, "a/", **{f"{n}.csv": b"a\n1\n" for n in range(3)})
    with pytest.raises(SpecError, match="a folder of more than 2 files"):
        custom_files.find(s3, "s3://bucket/a/")


def test_a_login_without_the_right_to_list_hears_that_the_file_is_not_there(s3, monkeypatch):
    def denied(_):
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "ListObjectsV2")

    monkeypatch.setattr(s3, "get_paginator", denied)
    with pytest.raises(StoreRefused, match=r"s3://bucket/a\.csv at .*is not there"):
        custom_files.find(s3, "s3://bucket/a.csv")
    with pytest.raises(StoreRefused, match="AccessDenied"):
        custom_files.find(s3, "s3://bucket/a/")
