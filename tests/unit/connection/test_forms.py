"""Forms of connections that people type: each works, or an error names the field."""

import json

import pytest

from storebench.connection import Connection
from storebench.connection.forms import FORMS
from storebench.errors import SpecError
from storebench.s3 import client_for, hadoop_settings
from storebench.servers.topology import CHECKOUT_SERVERS, find
from storebench.stores.bulk_write_read.delta import storage_options
from storebench.stores.elasticsearch_server import options
from storebench.stores.mongodb_server import uri
from tests.certificates import authority

SECRET = "S3cr3t"
HOSTS = {name: {} if name == "s3" else {"host": "db"} for name in FORMS} | {
    "postgresql": {"host": "db", "schema": "a"}
}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"host": "db"}, "mongodb://db:27017/?"),
        ({"host": "mongodb://db:27018/app?authSource=admin"}, "mongodb://db:27018/?authSource=admin"),
        ({"host": "fd00::10"}, "mongodb://[fd00::10]:27017/?"),
        ({"host": "[fd00::10]:27018"}, "mongodb://[fd00::10]:27018/?"),
        ({"host": "a,b:27018", "port": 27019}, None),
        ({"host": "a,b", "port": 27019}, "mongodb://a:27019,b:27019/?"),
        ({"host": "mongodb+srv://c0.example.net"}, "mongodb+srv://c0.example.net/?tls=true"),
        ({"host": "c0", "extra": {"srv": True}}, "mongodb+srv://c0/?tls=true"),
        ({"host": "db", "extra": {"ssl": "true"}}, "mongodb://db:27017/?tls=true"),
        ({"host": "db", "extra": {"ssl": False, "allow_insecure": False}}, "mongodb://db:27017/?tls=false"),
        (
            {"host": "db", "extra": {"authSource": "app", "options": "?W=majority;retryWrites=true"}},
            "mongodb://db:27017/?w=majority&retryWrites=true&authSource=app",
        ),
    ],
)
def test_an_address_of_mongodb_is_what_was_meant(fields, expected):
    if expected is None:
        with pytest.raises(SpecError, match="host and port: they name different ports"):
            Connection("mongodb", **fields)
    else:
        assert uri(Connection("mongodb", **fields)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"host": "https://es.example.net", "port": 9200}, "https://es.example.net:9200"),
        ({"host": "https://es.example.net"}, "https://es.example.net:443"),
        ({"host": "es", "schema": "https"}, "https://es:9200"),
        ({"host": "es", "extra": {"ca_certs": "CA"}}, "https://es:9200"),
        ({"host": "proxy/elastic", "port": 443, "extra": {"scheme": "https"}}, "https://proxy:443/elastic"),
        ({"host": "fd00::10", "port": 9200}, "http://[fd00::10]:9200"),
    ],
)
def test_an_address_of_elasticsearch_is_what_was_meant(fields, expected):
    fields = {**fields, "extra": {**fields.get("extra", {})}}
    if "ca_certs" in fields["extra"]:
        fields["extra"]["ca_certs"] = authority().certificate
    assert options(Connection("elasticsearch", **fields))["hosts"] == [expected]


@pytest.mark.parametrize(
    "fields",
    [
        {"extra": {"endpoint_url": "http://minio:9000"}},
        {"extra": {"service_config": {"s3": {"endpoint_url": "http://minio:9000"}}}},
        {"extra": {"service_config": '{"s3": {"endpoint_url": "http://minio:9000"}}'}},
        {"host": "http://minio:9000"},
        {"host": "minio", "port": 9000, "schema": "http"},
    ],
)
def test_an_address_of_s3_reaches_every_client(fields):
    connection = Connection("s3", login="k", password="x", **fields)
    assert client_for(connection).meta.endpoint_url == "http://minio:9000"
    assert hadoop_settings(connection)["fs.s3a.endpoint"] == "http://minio:9000"
    assert storage_options(connection)["aws_endpoint_url"] == "http://minio:9000"


def test_temporary_credentials_reach_every_client_of_s3():
    connection = Connection("s3", login="ASIA", password="x", extra={"aws_session_token": "TOKEN"})
    assert client_for(connection)._request_signer._credentials.token == "TOKEN"
    assert hadoop_settings(connection)["fs.s3a.session.token"] == "TOKEN"
    assert storage_options(connection)["aws_session_token"] == "TOKEN"


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("mongodb", {"host": f"mongodb://bench:{SECRET}@db:27017/storebench"}, "host: holds a login"),
        ("mongodb", {"host": f"bench:{SECRET}@db"}, "host: holds a login"),
        ("mongodb", {"host": "http://db"}, "host: begins with http://"),
        ("mongodb", {"host": ""}, "host: is empty"),
        ("mongodb", {"host": "my db"}, "host: has to be a name"),
        ("mongodb", {"host": "db", "port": 70000}, "port: a port has to be"),
        ("mongodb", {"host": "mongodb+srv://c0", "port": 27017}, "port: mongodb.srv has the ports from DNS"),
        ("mongodb", {"host": "mongodb+srv://c0,c1"}, "host: mongodb.srv has one name"),
        ("mongodb", {"host": "mongodb+srv://c0", "extra": {"scheme": "mongodb"}}, "host and extra scheme"),
        ("mongodb", {"host": "mongodb://db/a", "schema": "b"}, "host and schema: they name different databases"),
        ("mongodb", {"host": "db", "extra": {"options": "tlsCAFile=/etc/ca.pem"}}, "options, tlsCAFile: .*ca_certs"),
        ("mongodb", {"host": "db", "extra": {"tlsCertificateKeyFile": "/k.pem"}}, "extra tlsCertificateKeyFile"),
        ("mongodb", {"host": "db", "extra": {"ca_certs": "/etc/ca.pem"}}, "extra ca_certs: has to be text"),
        ("mongodb", {"host": "db", "extra": {"ca_certs": "-----BEGIN CERTIFICATE-----"}}, "extra ca_certs: cannot"),
        ("mongodb", {"host": "db", "extra": {"options": f"mongodb://u:{SECRET}@db/"}}, "extra options: has to be the part after"),
        ("mongodb", {"host": "db", "extra": {"authMechanism": "MONGODB-X509"}}, "authMechanism: pods can log in by"),
        ("mongodb", {"host": "db", "extra": {"options": "authSourc=a"}}, "options, authSourc: is no option"),
        ("mongodb", {"host": "db", "extra": {"authSourc": "a"}}, "extra authSourc: .*Did you mean authSource"),
        ("mongodb", {"host": "db", "extra": {"tls": True, "options": "tls=false"}}, "extra tls and options"),
        ("mongodb", {"host": "db", "extra": {"tls": "perhaps"}}, "extra tls: has to be true or false"),
        ("mongodb", {"host": "db", "extra": {"shard_key": "id"}}, "extra shard_key: has to be hashed or ranged"),
        ("mongodb", {"host": "db", "password": SECRET}, "login: is empty"),
        ("elasticsearch", {"host": "es", "schema": "bench"}, "schema: has to be http or https"),
        ("elasticsearch", {"host": "https://es", "schema": "http"}, "host and schema: they name different schemes"),
        ("elasticsearch", {"host": "es", "extra": {"verify": "/etc/ca.pem"}}, "extra verify: no pod has this file"),
        ("elasticsearch", {"host": "es", "extra": {"verify_certs": "maybe"}}, "extra verify_certs: has to be true"),
        ("elasticsearch", {"host": "es", "login": "u", "password": "p", "extra": {"api_key": "k"}}, "api_key"),
        ("elasticsearch", {"host": "es", "extra": {"Authorization": "Bearer x"}}, "extra Authorization: is used for"),
        ("s3", {"login": "k", "password": "x", "extra": {"role_arn": "arn:aws:iam::1:role/r"}}, "extra role_arn"),
        ("s3", {"extra": {"profile_name": "p"}}, "extra profile_name"),
        ("s3", {"login": "k"}, "login and password"),
        ("s3", {"extra": {"aws_session_token": SECRET}}, "extra aws_session_token: is for a login"),
        ("s3", {"extra": {"verify": False}}, "extra verify: clients of S3 in Java"),
        ("s3", {"extra": {"verify": "/etc/ca.pem"}}, "extra ca_certs: has to be text"),
        ("s3", {"extra": {"endpoint_url": f"http://k:{SECRET}@s3:9000"}}, "extra endpoint_url: holds a login"),
        ("s3", {"extra": {"endpoint_url": "s3:9000"}}, "extra endpoint_url: is no address"),
        ("s3", {"extra": {"endpoint_url": "http://s3:9000/path"}}, "extra endpoint_url: has a path"),
        ("s3", {"host": "other", "extra": {"endpoint_url": "https://s3"}}, "they name different servers"),
        ("s3", {"extra": {"bucket": "büro"}}, "extra bucket: is no name of a bucket"),
        ("s3", {"extra": {"bucket": "my bucket"}}, "extra bucket: is no name of a bucket"),
        ("s3", {"extra": {"delta_rs": "[" * 100_000}}, "extra delta_rs: has to be an object of JSON"),
        ("s3", {"extra": {"config_kwargs": {"signature_version": "s3"}}}, "extra config_kwargs"),
        ("s3", {"extra": {"service_config": {"s3": {"verify": False}}}}, "extra service_config"),
        ("cassandra", {"host": "c", "schema": "ks"}, "schema: each cell gets a keyspace"),
        ("cassandra", {"host": "c", "extra": {"ssl_options": {"ca_certs": "/ca.pem"}}}, "extra ssl_options"),
        ("cassandra", {"host": "c", "extra": {"protocol_version": 5}}, "extra protocol_version: is 4"),
        ("mariadb", {"host": "m", "schema": "test"}, "schema: each cell gets a database"),
        ("mariadb", {"host": "m", "extra": {"ssl": {"ca": "/ca.pem"}}}, "extra ssl: type tls, ca_certs"),
        ("mariadb", {"host": "m,n"}, "host: names several servers"),
        ("postgresql", {"host": "p"}, "schema: is empty. Type the name of the database"),
        ("postgresql", {"host": "postgresql://p/a", "schema": "b"}, "host and schema: they name different databases"),
        ("postgresql", {"host": "p", "schema": "a", "extra": {"sslmode": "require"}}, "extra sslmode: type tls, ca_certs"),
        ("postgresql", {"host": "p,q", "schema": "a"}, "host: names several servers"),
        ("hdfs", {"host": "n", "login": "u", "password": SECRET}, "password: this store has no passwords"),
        ("hdfs", {"host": "n", "schema": "x"}, "schema: is used for nothing"),
        ("hdfs", {"host": "n", "extra": {"use_ssl": True}}, "extra use_ssl: is used for nothing"),
        ("ozone", {"host": "https://om"}, "host: begins with https://, and may begin with ofs://"),
        ("zeo", {"host": "z", "login": "u"}, "login: is used for nothing"),
        ("hdfs", {"host": "n", "extra": {"hadoop": {"dfs.replication": "three"}}}, "extra hadoop: dfs.replication"),
        ("mongodb", {"host": "db", "extra": {"services": {"rest": "http://a:1"}}}, "extra services: rest has to be"),
        ("mongodb", {"host": "db", "extra": {"usage_url": "db:9"}}, "extra usage_url: has to be http"),
        ("mongodb", {"host": "db", "extra": {"nothing": 1}}, "extra nothing: .*There are ca_certs, options"),
    ],
)  # fmt: skip
def test_a_connection_that_cannot_work_is_refused_by_the_name_of_its_field(name, fields, words):
    with pytest.raises(SpecError, match=words) as caught:
        Connection(name, **fields)
    assert str(caught.value).startswith(f"The connection storebench_{name}: ")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("extra", [{}, {"usage_url": "http://u"}])
def test_the_normal_form_is_its_own_normal_form(name, extra):
    once = Connection(f"{name}_v8", **HOSTS[name], extra=extra)
    assert Connection.from_json(once.name, once.to_json()) == once


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("mongodb", {"host": "mongodb://a,[fd00::1]:1/app?w=1", "extra": {"ssl": True, "allow_insecure": True}}),
        ("mongodb", {"host": "c0", "extra": {"srv": True, "appName": "a b&c"}}),
        ("elasticsearch", {"host": "https://es/path", "extra": {"verify": "false"}}),
        ("s3", {"host": "minio", "port": 9000, "login": "k", "password": "x", "extra": {"aws_session_token": "t"}}),
        ("cassandra", {"host": "a,b", "port": 9043, "extra": {"load_balancing_policy_args": {"local_dc": "dc1"}}}),
        ("ozone", {"host": "ofs://om/v/b", "extra": {"http_port": "1", "hadoop": '{"ozone.replication": "1"}'}}),
        ("results", {"host": "/var/run/postgresql", "login": "u", "password": "p"}),
    ],
)  # fmt: skip
def test_a_connection_is_the_same_behind_a_secret(name, fields):
    once = Connection(name, **fields)
    assert Connection.from_json(name, once.to_json()) == once


def test_hosts_of_a_kind_of_which_nothing_is_known_stay_as_they_are():
    assert Connection("toy", host="/tmp/toy.db", extra={"anything": 1}).extra == {"anything": 1}


@pytest.mark.parametrize(
    "path",
    sorted(path.parent for path in CHECKOUT_SERVERS.glob("*/*/kustomization.yaml")),
    ids=lambda path: str(path.relative_to(CHECKOUT_SERVERS)),
)
def test_a_topology_has_a_connection_that_can_be_used(path):
    """The connection has the entry's address and the annotation's settings, as storebench.servers gives them to pods."""
    text = json.dumps({**find(*path.parts[-2:]).connection("entry.storebench.svc"), "port": 9999})
    assert Connection.from_json(path.parts[-2], text).where(1) == "entry.storebench.svc:9999"
