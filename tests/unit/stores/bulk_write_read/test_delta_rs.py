from types import SimpleNamespace

from botocore.exceptions import EndpointConnectionError

from storebench.connection import Connection
from storebench.stores.bulk_write_read.delta import one_line, storage_options
from storebench.stores.bulk_write_read.delta_rs import DeltaRs

S3 = {"endpoint_url": "http://s3:9000", "region_name": "eu-central-1"}


def test_the_connection_becomes_options():
    assert storage_options(Connection("s3", login="key", password="secret", extra=S3)) == {
        "aws_endpoint_url": "http://s3:9000",
        "aws_region": "eu-central-1",
        "aws_access_key_id": "key",
        "aws_secret_access_key": "secret",
        "aws_allow_http": "true",
        "max_retries": "3",
    }


def test_what_the_connection_does_not_say_is_left_to_the_library():
    assert storage_options(Connection("s3")) == {"aws_region": "us-east-1", "max_retries": "3"}


def test_plain_http_is_allowed_only_where_it_is_asked_for():
    server = Connection("s3", extra={"endpoint_url": "https://s3"})
    assert "aws_allow_http" not in storage_options(server)


def test_a_server_may_need_options_of_its_own():
    server = Connection("s3", extra={"delta_rs": {"aws_s3_allow_unsafe_rename": "true", "max_retries": "9"}})
    options = storage_options(server)
    assert (options["aws_s3_allow_unsafe_rename"], options["max_retries"]) == ("true", "9")


def test_an_error_becomes_one_line():
    text = "Kernel error -> Generic S3 error\n   \x1b[31m↳\x1b[0m Error performing list request"
    assert one_line(text) == "Kernel error -> Generic S3 error Error performing list request"


def test_of_an_answer_of_s3_its_code_and_message_remain():
    text = (
        "Generic S3 error\n<Error><Code>AccessDenied</Code><Message>Not\nyours</Message><Key>k</Key></Error>"
    )
    assert one_line(text) == "S3: AccessDenied: Not yours"


def test_a_long_error_is_cut():
    assert len(one_line("x" * 5000)) == 300


class Bucket:
    """S3 with these objects, listed two at a time."""

    meta = SimpleNamespace(endpoint_url="http://s3")

    def __init__(self, **sizes):
        self.objects = {f"tables/t/{name}": size for name, size in sizes.items()}
        self.away = False

    def get_paginator(self, name):
        return self

    def paginate(self, Bucket, Prefix):  # noqa: N803
        if self.away:
            raise EndpointConnectionError(endpoint_url="http://s3")
        found = [{"Key": key, "Size": size} for key, size in self.objects.items() if key.startswith(Prefix)]
        return [{"Contents": found[n : n + 2]} for n in range(0, len(found), 2)] or [{}]

    def delete_objects(self, Bucket, Delete):  # noqa: N803
        for item in Delete["Objects"]:
            del self.objects[item["Key"]]


def test_a_table_is_as_large_as_its_objects_and_is_removed_with_all_of_them():
    bucket = Bucket(a=10, b=20, c=30)
    store = DeltaRs(
        client="reference",
        target="t",
        connection=None,
        source=SimpleNamespace(s3_client=bucket, bucket="b"),
    )
    assert store.size_bytes() == 60
    store.drop()
    assert (bucket.objects, store.size_bytes()) == ({}, 0)
    bucket.away = True
    assert store.size_bytes() is None
