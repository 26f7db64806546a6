"""Check the settings of each S3 client without keys: the client uses AWS's own order of credentials, with the role of a pod's account.

tests/integration/test_workload_identity.py shows that the clients take the role.
"""

import json
import os
from types import SimpleNamespace

import pytest

from storebench import s3
from storebench.connection import Connection
from storebench.errors import SpecError
from storebench.spark.filesystems.s3 import S3
from storebench.stores.bulk_write_read.delta import storage_options
from storebench.stores.bulk_write_read.pyiceberg import PyIceberg
from storebench.stores.pyarrow_s3 import file_system

KEYLESS = Connection("s3", extra={"region_name": "eu-central-1", "bucket": "b"})
KEYS = Connection("s3", login="k", password="secret")
PROVIDER = "fs.s3a.aws.credentials.provider"
VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


@pytest.fixture(autouse=True)
def pod_of_aws(monkeypatch, tmp_path):
    """Set the variables that AWS's Kubernetes gives a pod whose service account has a role."""
    (tmp_path / "token").write_text("the.pods.token")
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/r")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_a_pod_is_given_no_keys():
    content = json.loads(KEYLESS.to_json())
    assert (content["login"], content["password"]) == ("", "")
    assert s3.TOKEN not in content["extra"]


def test_the_projects_client_takes_the_role():
    credentials = s3.client_for(KEYLESS)._request_signer._credentials
    assert credentials.method == "assume-role-with-web-identity"


def test_hadoops_client_takes_the_order_of_aws_only_without_keys():
    found = s3.hadoop_settings(KEYLESS)
    assert found[PROVIDER] == s3.JAVA_CREDENTIALS
    assert not {"fs.s3a.access.key", "fs.s3a.secret.key", "fs.s3a.session.token"} & set(found)
    assert PROVIDER not in s3.hadoop_settings(KEYS)


def test_spark_gives_its_executors_the_order_of_credentials_and_no_keys():
    spark = S3(KEYLESS, "b")
    spark.log_in()
    assert spark.settings()[f"spark.hadoop.{PROVIDER}"] == s3.JAVA_CREDENTIALS
    assert not set(VARIABLES) & set(os.environ)


def test_delta_rs_is_given_no_keys():
    assert not {"aws_access_key_id", "aws_secret_access_key"} & set(storage_options(KEYLESS))
    assert storage_options(KEYS)["aws_access_key_id"] == "k"


def test_pyarrow_is_given_no_keys_and_is_not_anonymous():
    """The library's own default is AWS's order of credentials, which has the token of a service account."""
    _, (options,) = file_system(KEYLESS).__reduce__()
    assert (options["access_key"], options["secret_key"], options["anonymous"]) == (None, None, False)


def test_pyiceberg_is_given_no_keys(monkeypatch):
    given = {}
    monkeypatch.setattr("pyiceberg.catalog.sql.SqlCatalog", lambda name, **options: given.update(options))
    monkeypatch.setenv("STOREBENCH_CONN_S3", KEYLESS.to_json())
    catalog, source = Connection("postgresql", "h", schema="d"), SimpleNamespace(bucket="b")
    store = PyIceberg(client="reference", target="t", connection=catalog, source=source)
    store._connected()
    assert given["s3.region"] == "eu-central-1"
    assert not {"s3.access-key-id", "s3.secret-access-key", "s3.session-token"} & set(given)


def test_half_of_a_login_is_a_mistake():
    with pytest.raises(SpecError, match="both, the access key's id and its secret, or neither"):
        Connection.from_json("s3", json.dumps({"login": "k"}))
