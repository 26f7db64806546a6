"""The forms of connections by kind of server. A form turns an Airflow Connection as typed into the normal form that stores read.

The normal form has the same meaning as the typed fields. It is its own normal form.
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
    "postgresql": servers.postgresql,
    "hdfs": servers.hdfs,
    "ozone": servers.ozone,
    "zeo": servers.zeo,
    "s3": s3,
    "results": servers.postgres,
    "reader": servers.postgres,
}


def normal(name: str, fields: Mapping[str, Any]) -> Fields:
    """Return the normal form of the connection `name`. The kind is the part of the name before the first underscore: `mongodb` of
    `mongodb_v8`. A connection of an unknown kind is returned as typed. Raises SpecError with the field's name for an unusable value.
    """
    form = FORMS.get(name.partition("_")[0])
    return form(Typed(name, fields)) if form else dict(fields)
