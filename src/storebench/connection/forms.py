"""The forms of connections, by the kind of server: what may be typed into an Airflow Connection, and the one form that stores read.

Each form takes what was typed, and returns the normal form, which means the same and is its own normal form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from storebench.connection import servers
from storebench.connection.common import Fields
from storebench.connection.mongodb import mongodb
from storebench.connection.s3 import s3
from storebench.connection.typed import Typed

FORMS: Mapping[str, Callable[[Typed], Fields]] = {
    "mongodb": mongodb,
    "elasticsearch": servers.elasticsearch,
    "cassandra": servers.cassandra,
    "mariadb": servers.mariadb,
    "hdfs": servers.hdfs,
    "ozone": servers.ozone,
    "zeo": servers.zeo,
    "s3": s3,
    "results": servers.postgres,
    "reader": servers.postgres,
}


def normal(name: str, fields: Mapping[str, Any]) -> Fields:
    """Return the normal form of the connection `name`, whose kind is the part before the first underscore: `mongodb` of `mongodb_v8`. A
    connection of another kind stays as it was typed. Raises SpecError that names the field for what cannot be used.
    """
    form = FORMS.get(name.partition("_")[0])
    return form(Typed(name, fields)) if form else dict(fields)
