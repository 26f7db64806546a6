"""S3: a client with this project's settings, and errors that say what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError

from storebench.connection import Connection, tls
from storebench.errors import StoreRefused, StoreUnreachable

CONFIG = Config(
    connect_timeout=10,
    read_timeout=60,
    retries={"max_attempts": 3, "mode": "standard"},
    max_pool_connections=16,
    # path style works with every S3 server; signing the payload would only cost CPU
    s3={"addressing_style": "path", "payload_signing_enabled": False},
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)

DEFAULT_REGION = "us-east-1"
TOKEN = "aws_session_token"  # key of a connection's extra, for temporary credentials
# The names that Java parses as the host of an address s3a://BUCKET: letters, digits and hyphens between points, the last part
# beginning with a letter.
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
JAVA_BUCKET = re.compile(
    rf"{_LABEL}|(?:{_LABEL}\.)+[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?|\d{{1,3}}(?:\.\d{{1,3}}){{3}}"
)
# AWS's own order of credentials. Hadoop's own order lacks the token of a pod's service account (AWS_WEB_IDENTITY_TOKEN_FILE).
JAVA_CREDENTIALS = "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"
_ABSENT = ("NoSuchKey", "404", "NotFound")
_ADVICE = {
    "NoSuchBucket": "create the bucket, or name another in the connection's extra `bucket`",
    "NoSuchKey": "the dataset is not there: run the DAG's task `dataset` first",
    "404": "it is not there",
    "InvalidAccessKeyId": "check the connection's login",
    "XAdminUserNotFound": "check the connection's login",  # versitygw's code for an unknown login
    "SignatureDoesNotMatch": "check the connection's password",
    "AccessDenied": "the login may not do this",
    "ExpiredToken": "the temporary credentials have expired: type new ones into the connection",
    "InvalidToken": "check the extra aws_session_token of the connection",
    "403": "check the connection's login and password",
}


def client_for(connection: Connection) -> Any:
    """Return a boto3 client for a connection to S3. The default endpoint is AWS; the default login is found by boto3 itself."""
    extra = connection.extra
    return boto3.client(
        "s3",
        endpoint_url=extra.get("endpoint_url"),
        region_name=extra.get("region_name") or DEFAULT_REGION,
        aws_access_key_id=connection.login or None,
        aws_secret_access_key=connection.password or None,
        aws_session_token=extra.get(TOKEN),
        verify=tls.authority_file(connection),
        config=CONFIG,
    )


def hadoop_settings(connection: Connection) -> dict[str, str]:
    """Return the settings of Hadoop's S3A client for a connection, with the same time limits. The JVM's CA: storebench.connection.tls.

    Without a login, the client finds credentials as AWS's clients do.
    """
    endpoint = str(connection.extra.get("endpoint_url") or "")
    settings = {
        "fs.s3a.endpoint": endpoint,
        "fs.s3a.endpoint.region": str(connection.extra.get("region_name") or DEFAULT_REGION),
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": str(not endpoint.startswith("http://")).lower(),
        "fs.s3a.aws.credentials.provider": "" if connection.login else JAVA_CREDENTIALS,
        "fs.s3a.access.key": connection.login,
        "fs.s3a.secret.key": connection.password,
        "fs.s3a.session.token": str(connection.extra.get(TOKEN) or ""),
        "fs.s3a.attempts.maximum": "3",
        "fs.s3a.retry.limit": "3",
        "fs.s3a.connection.establish.timeout": "10s",
        "fs.s3a.connection.timeout": "60s",
    }
    return {name: value for name, value in settings.items() if value}


def java_cannot_address(bucket: str) -> str:
    """Return why S3 clients in Java cannot address a bucket of this name; empty if they can."""
    if JAVA_BUCKET.fullmatch(bucket):
        return ""
    return (
        f"Java takes no bucket whose name is {bucket!r} in an address: only letters, digits, points and hyphens, and behind the last point a"
        " letter first. Name another bucket in the extra of the connection storebench_s3"
    )


@contextmanager
def errors(client: Any, bucket: str, key: str = "") -> Iterator[None]:
    """Turn boto3's errors into StoreUnreachable or StoreRefused, with the address and what to do."""
    where = f"s3://{bucket}/{key} at {client.meta.endpoint_url}"
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        advice = _ADVICE.get(code, error.response.get("Error", {}).get("Message", ""))
        raise StoreRefused(f"S3 refused {where}: {code}: {advice}") from error
    except (ConnectionError, HTTPClientError) as error:
        more = tls.advice(str(error), Connection("s3")) or ". Is it running, and reachable?"
        raise StoreUnreachable(f"S3 does not answer: {where}: {error}{more}") from error
    except BotoCoreError as error:
        raise StoreRefused(f"S3 cannot be used: {where}: {error}") from error


def check_bucket(client: Any, bucket: str) -> None:
    """Check a bucket. Raises StoreUnreachable or StoreRefused if the login cannot use the bucket."""
    with errors(client, bucket):
        client.list_objects_v2(Bucket=bucket, MaxKeys=1)


def read(client: Any, bucket: str, key: str) -> bytes | None:
    """Return a small object's bytes; None if the object does not exist. Raises boto3's errors."""
    try:
        return cast(bytes, client.get_object(Bucket=bucket, Key=key)["Body"].read())
    except ClientError as error:
        if is_absent(error):
            return None
        raise


def is_absent(error: BaseException | None) -> bool:
    """Return whether an error says that an object does not exist."""
    return isinstance(error, ClientError) and error.response.get("Error", {}).get("Code") in _ABSENT


def version(client: Any, bucket: str, key: str) -> tuple[str, int]:
    """Return an object's ETag, and its size in bytes. Raises boto3's errors."""
    head = client.head_object(Bucket=bucket, Key=key)
    return str(head["ETag"]), int(head["ContentLength"])


def size(client: Any, bucket: str, key: str) -> int | None:
    """Return an object's size in bytes; None if the object does not exist. Raises boto3's errors."""
    try:
        return cast(int, client.head_object(Bucket=bucket, Key=key)["ContentLength"])
    except ClientError as error:
        if is_absent(error):
            return None
        raise
