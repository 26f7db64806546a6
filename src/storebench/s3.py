"""S3: the client with the settings that this project wants, and errors that say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError

from storebench.connection import Connection
from storebench.errors import StoreRefused, StoreUnreachable

CONFIG = Config(
    connect_timeout=10,
    read_timeout=60,
    retries={"max_attempts": 3, "mode": "standard"},
    max_pool_connections=16,
    # path style works with every S3 server; hashing the body again for the signature would only cost CPU
    s3={"addressing_style": "path", "payload_signing_enabled": False},
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)

_ABSENT = ("NoSuchKey", "404", "NotFound")
_ADVICE = {
    "NoSuchBucket": "create the bucket, or name another in the connection's extra `bucket`",
    "NoSuchKey": "the dataset is not there: run the DAG's task `dataset` first",
    "404": "it is not there",
    "InvalidAccessKeyId": "check the connection's login",
    "XAdminUserNotFound": "check the connection's login",  # what versitygw says for that
    "SignatureDoesNotMatch": "check the connection's password",
    "AccessDenied": "the login may not do this",
    "403": "check the connection's login and password",
}


def s3_client(endpoint_url: str | None, region: str | None, key: str | None, secret: str | None) -> Any:
    """A boto3 S3 client. Without an endpoint it is AWS's, without a key boto3 looks where it always does."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint_url,
        region_name=region or "us-east-1",
        aws_access_key_id=key or None,
        aws_secret_access_key=secret or None,
        config=CONFIG,
    )


def client_for(connection: Connection) -> Any:
    """The client for an Airflow Connection of type `aws`."""
    extra = connection.extra
    return s3_client(
        extra.get("endpoint_url"), extra.get("region_name"), connection.login, connection.password
    )


def hadoop_settings(connection: Connection) -> dict[str, str]:
    """The settings of Hadoop's S3A client for the same connection, with the same patience."""
    endpoint = str(connection.extra.get("endpoint_url") or "")
    settings = {
        "fs.s3a.endpoint": endpoint,
        "fs.s3a.endpoint.region": str(connection.extra.get("region_name") or "us-east-1"),
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": str(not endpoint.startswith("http://")).lower(),
        "fs.s3a.access.key": connection.login,
        "fs.s3a.secret.key": connection.password,
        "fs.s3a.attempts.maximum": "3",
        "fs.s3a.retry.limit": "3",
        "fs.s3a.connection.establish.timeout": "10s",
        "fs.s3a.connection.timeout": "60s",
    }
    return {name: value for name, value in settings.items() if value}


@contextmanager
def errors(client: Any, bucket: str, key: str = "") -> Iterator[None]:
    """Turn the library's errors into StoreUnreachable or StoreRefused that name the place and what to do."""
    where = f"s3://{bucket}/{key} at {client.meta.endpoint_url}"
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        advice = _ADVICE.get(code, error.response.get("Error", {}).get("Message", ""))
        raise StoreRefused(f"S3 refused {where}: {code}: {advice}") from error
    except (ConnectionError, HTTPClientError) as error:
        raise StoreUnreachable(
            f"S3 does not answer: {where}: {error}. Is it running, and reachable?"
        ) from error
    except BotoCoreError as error:
        raise StoreRefused(f"S3 cannot be used: {where}: {error}") from error


def check_bucket(client: Any, bucket: str) -> None:
    """Raises StoreUnreachable or StoreRefused where the bucket cannot be used with this login."""
    with errors(client, bucket):
        client.list_objects_v2(Bucket=bucket, MaxKeys=1)


def read(client: Any, bucket: str, key: str) -> bytes | None:
    """A small object's bytes; None if it is not there. Raises the library's errors."""
    try:
        return cast(bytes, client.get_object(Bucket=bucket, Key=key)["Body"].read())
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _ABSENT:
            return None
        raise


def version(client: Any, bucket: str, key: str) -> tuple[str, int]:
    """What tells an object from its other versions, and its size in bytes. Raises the library's errors."""
    found = client.head_object(Bucket=bucket, Key=key)
    return str(found["ETag"]), int(found["ContentLength"])


def size(client: Any, bucket: str, key: str) -> int | None:
    """An object's size in bytes; None if it is not there. Raises the library's errors."""
    try:
        return cast(int, client.head_object(Bucket=bucket, Key=key)["ContentLength"])
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _ABSENT:
            return None
        raise
