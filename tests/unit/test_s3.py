"""Buckets that each client of S3 can address."""

import pytest

from storebench.s3 import java_cannot_address


@pytest.mark.parametrize("bucket", ["my-bucket", "My.Bucket", "a1", "1a", "123", "x.y", "10.0.0.1"])
def test_java_addresses(bucket):
    """Each of these java.net.URI takes as the host of s3a://BUCKET/."""
    assert java_cannot_address(bucket) == ""


@pytest.mark.parametrize("bucket", ["my_bucket", "my.bucket.1", "a..b", "-a", "a-", "büro", "ab.-c", "a b"])
def test_java_does_not_address(bucket):
    """java.net.URI finds no host in any of these names."""
    assert repr(bucket) in java_cannot_address(bucket)
