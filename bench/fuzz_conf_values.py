"""Make random configurations of studies: valid parameters, then values, names and connections that are nearly valid."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storebench.fields import CPU, JAVA_SIZE, MEMORY, Choice, Field, Flag, Number, Text, Values, WholeNumber
from storebench.servers.topology import provisioned_for
from storebench.study.dataset import FILE
from storebench.study.model import Study

SECRET = "S3cr3t-of-the-fuzzer"
VALID, NEARLY, MOST_MUTATIONS = 0.35, 0.25, 4  # shares; the remainder has other mutations
LONGEST_QUERY = 10_000


@dataclass(frozen=True)
class Configuration:
    """A requested run. `params`: JSON text of its parameters. `arguments`: of `storebench run`. `connection`: name and JSON text of a new
    connection, which contains `secret`."""

    study: str
    params: str
    arguments: tuple[str, ...]
    connection: tuple[str, str] | None = None
    secret: str = SECRET

    def typed(self) -> str:
        """Return the configuration as JSON, to repeat it."""
        parts = {"study": self.study, "params": self.params, "arguments": self.arguments}
        return json.dumps({**parts, "connection": self.connection})


def nested(depth: int) -> Any:
    """Return a list nested in `depth` lists."""
    value: Any = "all"
    for _ in range(depth):
        value = [value]
    return value


# fmt: off
ODD: Sequence[Any] = (
    *(None, True, False, 0, -1, 1, 1.0, 1.5, -0.0, 5e-324, 1e-300, 1e300, 2**31, 2**63, -(2**63), 10**30, 10**400),
    *(float("nan"), float("inf"), float("-inf"), "NaN", "Infinity", "-inf", "1e3", "1e-320", "1_000", "1,000", "+5"),
    *("-0", "0x10", "0", "1.0", "1e999", "", " ", "\t\n", "\x00", "a\x00b", "null", "true", "None", "all", "ALL"),
    *("x" * 3000, "9" * 4299, "9" * 5000, "9" * 9000, "0." + "0" * 4000 + "1", "1" * 500 + "Gi", "1" * 400, "1," * 2000),
    *("é", "Größe", "١٢٣", "１２", "²", "💥", "\ud800", "a\udfff", "\u202etxt", "e\u0301", "\ufeff1", "٣Gi", "😀" * 900),
    *([], {}, [[]], [{}], [None], [True], [""], [["a"]], [1, 2, 3], ["all", ["all"]], {"a": 1}, {"all": "all"}, {"": None}),
    *(nested(50), nested(400), nested(940), {"a": nested(930)}, [1e400, "1"], ["null", 1], [10**400], ["9" * 5000]),
    *("1,,2", ",", ",,,", "1;2", "[1]", '["all"]', "{", "2gi", "8GI", "500 m", "-1Gi", "1.Gi", "0.0", "1e2Gi", "00", "01"),
    *("%s%n", "{0}", "${HOME}", "$(id)", "'; DROP TABLE run; --", "../../etc/passwd", "<script>", "a\nb", "\x1b[31m"),
)
SERVERS = (
    *("", "v8", "nine", "one", "three", "hdfs", "hdfs_one", "hdfs_v3", "hdfs_nine", "hdfs_", "ozone_one", "A", "x" * 31),
    *("one@two", "_", "v 8", "é", "\x00", "..", "-", "0", "one_", "hdfs_v3_", "s3", "mongodb_one"),
)
SIZES: Mapping[str, Sequence[str]] = {
    CPU: ("1m", "0.5", "2", "1.5", "64", "0.001", "1000000", "1.5m", "9" * 40),
    MEMORY: ("1M", "2Gi", "1.5Gi", "12Ti", "1000000", "9" * 40, "9" * 40 + "Ti"),
    JAVA_SIZE: ("1g", "768m", "1m", "9" * 30 + "g"),
}
EXTRA_VALUES: Sequence[Any] = (
    *(True, False, "true", "no", "1", "maybe", "", "require", "/etc/ca.pem", 0, 7, -1, 65_536, 1.5, float("nan"), 10**400),
    *("-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----", "http", "https", "ftp"),
    *("http://server:9000", "https://[::1]:9000", "http://user:pass@server", "http://[", "http://server:99999", "http://s:x"),
    *("tls=true&tls=false", "w=majority", "?w=1;w=2", "authMechanism=GSSAPI", "a=b", "%zz", "&&&", "w", "compressors=snappy"),
    *([], {}, [1], {"s3": 1}, {"s3": {"endpoint_url": 1}}, {"dfs.replication": "x"}, {"dfs.replication": "²"}, {"a": None}),
    *({"pymongo": "host:1"}, {"pymongo": "a b"}, '{"s3": {}}', "{", "[]", "null", "1", nested(60), nested(300), "[" * 3000),
    *("x" * 5000, "\x00", "\ud800", "é", "💥", SECRET, "4", "utf8mb4", "utf8", "bucket", "my_bucket", "B" * 300, "hashed"),
)
EXTRA_KEYS = (
    *("tls", "ssl", "ca_certs", "verify_certs", "verify", "usage_url", "services", "scheme", "srv", "options", "shard_key"),
    *("path", "api_key", "local_dc", "ssl_options", "load_balancing_policy", "load_balancing_policy_args", "charset"),
    *("protocol_version", "ssl_mode", "ssl_ca", "hadoop", "http_port", "endpoint_url", "region_name", "bucket", "delta_rs"),
    *("service_config", "config_kwargs", "aws_access_key_id", "aws_secret_access_key", "aws_session_token", "role_arn"),
    *("tlsCAFile", "tlsInsecure", "w", "journal", "readPreferenceTags", "sslmode", "allow_insecure", "wTimeoutMS", "", "a.b"),
    *("password", "tsl", "é", "\ud800", "\x00", "x" * 500),
)
FILES = (
    *("s3://bucket/a.csv", "s3://bucket/\x00.csv", "s3://bucket/\ud800.parquet", "s3:///a.csv", "s3://b/a.csv?x", "s3://b/%00.csv"),
    *("s3://b/" + "x" * 3000 + ".csv", "s3://b/../é💥.csv", "http://b/a.csv", "s3://b/.csv", "s3://b/a.csv\n"),
)
HOSTS = (
    *("server", "a,b,c", "a:1,b:2", "::1", "[::1]:9", "[::1", "[x]:1", "fe80::1%eth0", "10.0.0.1", "server:1", "server:x", ""),
    *("server:99999", "mongodb://server", "mongodb+srv://server", "mongo://a:1/db?w=1", "https://server/path", "ftp://server"),
    *("http://server:1/p?q", f"mongodb://u:{SECRET}@server", "hdfs://server/x", "ofs://server/v/b", "/run/socket", "a b"),
    *("server:²", "server:１", "é", "💥", "\x00", "\ud800", ",", ",,", ":", "://", "mongodb://", "x" * 3000, "a," * 2000),
)
# fmt: on
KINDS = (
    "mongodb",
    "mongodb_v8",
    "elasticsearch",
    "cassandra",
    "mariadb",
    "hdfs",
    "hdfs_v3",
    "ozone",
    "zeo",
    "s3",
    "results",
)


def configurations(studies: Sequence[Study], chance: random.Random) -> Iterator[Configuration]:
    """Yield configurations of these studies without end."""
    from storebench.planning.params import fields_of

    fields = {study.name: fields_of(study) for study in studies}
    names = sorted({name for names_of_study in fields.values() for name in names_of_study})
    while True:
        study = chance.choice(studies)
        params = _valid(study, fields[study.name], chance)
        share = chance.random()
        if share > VALID + NEARLY:
            for _ in range(chance.randint(1, MOST_MUTATIONS)):
                _mutate(params, fields[study.name], names, chance)
        elif share > VALID:
            _near(params, study, fields[study.name], chance)
        text = _text(params, chance)
        typed = _connection(chance) if chance.random() < 0.3 else None
        yield Configuration(study.name, text, _arguments(study, params, chance), typed)


def _valid(study: Study, fields: Mapping[str, Field], chance: random.Random) -> dict[str, Any]:
    """Return individually valid parameters, which may contradict each other."""
    params: dict[str, Any] = {}
    if study.presets and chance.random() < 0.5:
        preset = chance.choice(list(study.presets.values()))
        params |= {**preset.once, **preset.params, **(preset.embedded if chance.random() < 0.5 else {})}
    if chance.random() < 0.4:
        params |= _rare(study, chance)
    for name in chance.sample(list(fields), chance.randint(0, min(6, len(fields)))):
        params[name] = _value(study, name, fields[name], chance)
    if chance.random() < 0.5:  # fewer turns than Airflow's limit
        params |= {"repeats": chance.choice([1, 1, 2]), "stores": chance.sample(study.stores, 1)}
    return params


def _rare(study: Study, chance: random.Random) -> dict[str, Any]:
    """Return a full grid, or many values on an axis that takes numbers."""
    axis = chance.choice(study.axes) if study.axes else None
    if axis is None or not any(choice.isdecimal() for choice in axis.choices):
        return {"full_grid": chance.random() < 0.5}
    many = chance.choice([3, 30, 300, 900])
    first = chance.randint(1, 50)
    return {axis.name: ",".join(map(str, range(first, first + many))), "full_grid": chance.random() < 0.5}


def _value(study: Study, name: str, field: Field, chance: random.Random) -> Any:
    """Return a value that the field takes."""
    if name == "stores":
        known = [*study.stores, *provisioned_for(study), *(f"{store}@v8" for store in study.stores)]
        return chance.sample(known, chance.randint(1, min(4, len(known))))
    if isinstance(field, Choice):
        return chance.sample(field.examples, chance.randint(1, len(field.examples)))
    if isinstance(field, Values):
        parts = list(dict.fromkeys(part.strip() for text in field.examples for part in str(text).split(",")))
        chosen = chance.sample(parts, chance.randint(1, len(parts)))
        return chance.choice([chosen, ", ".join(chosen)])
    if isinstance(field, WholeNumber):
        ends = [field.minimum, field.maximum, chance.randint(field.minimum, field.maximum)]
        number = chance.choice([*field.examples, *field.examples, *ends])
        return chance.choice([number, str(number), f"{number:,}"])
    if isinstance(field, Number):
        tiny = [5e-324, 1e-300, 1e-9, field.maximum, chance.uniform(0, field.maximum) or 1]
        number = chance.choice([*field.examples, *field.examples, *tiny])
        return chance.choice([number, str(number)])
    if isinstance(field, Flag):
        return chance.choice([True, False, "yes", "no"])
    assert isinstance(field, Text)
    return chance.choice([*field.examples, *SIZES.get(field.pattern, ())] or [""])


def _near(params: dict[str, Any], study: Study, fields: Mapping[str, Field], chance: random.Random) -> None:
    """Change one parameter a little."""
    name = chance.choice(list(fields))
    valid = _value(study, name, fields[name], chance)
    field = fields[name]
    kind = chance.choice(["store", "store", "range", "text", "list", "double", "other"])
    if kind == "store":
        server = chance.choice(SERVERS)
        params["stores"] = [*study.stores[:1], f"{chance.choice(study.stores)}@{server}"][
            chance.randint(0, 1) :
        ]
    elif kind == "range" and isinstance(field, WholeNumber):
        params[name] = chance.choice(
            [field.minimum - 1, field.maximum + 1, str(field.maximum + 1), -field.maximum]
        )
    elif kind == "text":
        text = str(valid) or "x"
        place = chance.randrange(len(text))
        params[name] = (
            text[:place] + chance.choice(string.printable + "é²\x00") + text[place + chance.randint(0, 1) :]
        )
    elif kind == "list":
        params[name] = chance.choice([[valid], [valid, valid], {name: valid}, [[valid]], json.dumps(valid)])
    elif kind == "double":
        params[name] = f"{valid},{valid}" if chance.random() < 0.5 else f" {valid} "
    else:
        params[name] = chance.choice([str(valid).upper(), f"{valid}{valid}", None])


def _mutate(
    params: dict[str, Any], fields: Mapping[str, Field], names: Sequence[str], chance: random.Random
) -> None:
    """Insert a value of a wrong kind, or an unknown name."""
    name = chance.choice(list(fields))
    odd = chance.choice(ODD)
    kind = chance.randrange(8)
    if kind == 0:  # a typo
        place = chance.randrange(len(name))
        params[name[:place] + chance.choice(["", "_", "é", "X", "\x00", "\ud800"]) + name[place + 1 :]] = odd
    elif kind == 1:
        params[
            chance.choice([*names, "", "stores ", "STORES", "__class__", "x" * 2000, "\ud800", "conf", "💥"])
        ] = odd
    elif kind == 2:
        params[name] = [odd, chance.choice(ODD)]
    elif kind == 3:
        params[name] = f"{params.get(name, fields[name].default)}{odd if isinstance(odd, str) else ''}"
    else:
        params[name] = odd
    if chance.random() < 0.03 and FILE in fields:
        params[FILE] = chance.choice(FILES)


def _text(params: Mapping[str, Any], chance: random.Random) -> str:
    """Return the parameters as JSON, sometimes as invalid JSON."""
    text = json.dumps(params, ensure_ascii=True)
    if chance.random() < 0.02:
        return chance.choice(
            ["", "[", "null", "1", '"x"', "[]", "{" * 5000, "[" * 9000, text[:-1], text + "}", '{"a":' * 900]
        )
    if chance.random() < 0.02:  # a duplicate name, or a number that Python does not write as JSON
        return text[:-1] + chance.choice([', "rows": 1}', f', "rows": {"9" * 5000}}}', ', "rows": 1E400}'])
    return text


def _arguments(study: Study, params: Mapping[str, Any], chance: random.Random) -> tuple[str, ...]:
    """Return the parameters as arguments of `storebench run`, without NUL, which no operating system passes."""
    axes = {axis.name for axis in study.axes}
    texts: list[str] = []
    for name, value in params.items():
        plain = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        if name in axes and chance.random() < 0.5:
            texts += ["--axis", f"{name}={plain}"]
        elif name in ("stores", "clients", "rows", "seed", "repeats") and chance.random() < 0.5:
            texts += [f"--{name}", plain]
        else:
            text = (
                json.dumps(value)
                if chance.random() < 0.9
                else chance.choice([plain, "", "[" * 9000, "{", "9" * 5000])
            )
            texts += ["--param", f"{name}={text}" if chance.random() < 0.97 else name]
    if chance.random() < 0.1:
        texts += ["--preset", chance.choice([*study.presets, "x", ""])]
    passed = [raw.replace("\x00", "").encode("utf-8", "replace").decode() for raw in texts]
    return tuple(passed)


def _connection(chance: random.Random) -> tuple[str, str]:
    """Return the name of a connection, and its JSON for Airflow's environment variable."""
    name = chance.choice(KINDS)
    extra: Any = {
        chance.choice(EXTRA_KEYS): chance.choice(EXTRA_VALUES)
        for _ in range(chance.choice([0, 1, 1, 2, 3, 5]))
    }
    if chance.random() < 0.1:
        extra = chance.choice(
            ["", "tls=true", "{", "[]", "null", "1", [], [1], "x" * 3000, json.dumps(extra)]
        )
    typed: dict[str, Any] = {"conn_type": "generic", "extra": extra}
    typed["host"] = chance.choice(HOSTS) if chance.random() < 0.6 else "server"
    if chance.random() < 0.4:
        typed["port"] = chance.choice([1, 0, 27_017, 65_536, -1, "9200", "", None])
    if chance.random() < 0.5:
        typed |= {
            "login": chance.choice(["bench", "", "é", "a:b"]),
            "password": chance.choice([SECRET, "", SECRET]),
        }
    if chance.random() < 0.3:
        typed["schema"] = chance.choice(["", "http", "https", "db", "x" * 300, "\x00", "v/b", "é"])
    return name, json.dumps(typed)
