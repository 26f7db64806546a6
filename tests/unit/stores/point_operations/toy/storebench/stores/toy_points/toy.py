"""A store of point_operations in an SQLite file, with the troubles that `trouble` names."""

import sqlite3
import time
from uuid import UUID

from storebench.stores.base import Durability
from storebench.stores.point_operations import requests
from storebench.stores.point_operations.base import PointStore
from storebench.stores.point_operations.entities import FIELDS, Entity, number_of

SEED = 7
HANGS_FROM_S = 2.0  # since the connection: while a load of the default length is measured


class Toy(PointStore):
    name = "toy"
    connection = "toy"
    faults = ("kill",)

    def connect(self):
        if self.values.get("trouble") == "no start" and self.operation == "read":
            raise RuntimeError("the toy is broken")
        self._trouble, self._connected_s = self.values.get("trouble"), time.monotonic()
        self._session = sqlite3.connect(self.server.host, isolation_level=None)
        self._session.execute("PRAGMA synchronous=OFF")

    def create(self):
        self.drop()
        self._session.execute("CREATE TABLE t (id TEXT, name, age, description, address, phone, email)")
        self._session.execute("CREATE INDEX i ON t (id)")
        for table in ("killed", "lost"):
            self._session.execute(f"CREATE TABLE IF NOT EXISTS {table} (number INTEGER)")

    def fill(self, entities):
        self._session.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", map(_row, entities))

    def insert(self, new):
        number = number_of(SEED, new.id)
        if self._hangs(number):
            self.fill([new])
            time.sleep(3_600)
        if self._trouble == "errors" and number % 3 == 0:
            raise TimeoutError
        if self._trouble == "unsure" and number % 300 == 0:
            self.fill([new])
            raise TimeoutError
        if self._trouble == "lost" and number % 50 == 0:
            return
        if self._trouble == "lost after a kill" and number % 1_000 == 0 and self._killed():
            self._session.execute("INSERT INTO lost VALUES (?)", (number,))
            return
        self.fill([new])
        if self._trouble == "twice" and number % 50 == 0:
            self.fill([new])

    def get(self, id):
        if self._trouble == "exit":
            raise SystemExit(3)
        number = number_of(SEED, id)
        found = self._session.execute("SELECT * FROM t WHERE id = ?", (str(id),)).fetchone()
        if found is None or (self._trouble == "missing" and number == 5):
            return None
        if self._trouble == "wrong" and number == 5:
            return UUID(found[0]), "Nobody", *found[2:]
        if self._trouble == "stall" and (now := time.monotonic() % 6) < 0.6:
            time.sleep(0.6 - now)
        if self._trouble == "slow":
            time.sleep(0.05)
        if self._hangs(number):
            time.sleep(3_600)
        if self._trouble == "unknown":
            raise RuntimeError("the toy has a mistake")
        return UUID(found[0]), *found[1:]

    def promise(self, fault):
        return self.values.get("promise")

    def _killed(self):
        """Return whether the planted kill has happened: it leaves a row in a table of its own."""
        return self._session.execute("SELECT count(*) FROM killed").fetchone()[0] > 0

    def _hangs(self, number):
        return (
            self._trouble == "hang"
            and number % 10 == 0
            and time.monotonic() > self._connected_s + HANGS_FROM_S
        )

    def outcome(self, error):
        assert isinstance(error, TimeoutError)
        return requests.TIMEOUT

    def scan(self):
        for found in self._session.execute(f"SELECT {', '.join(FIELDS)} FROM t"):
            yield UUID(found[0]), *found[1:]

    def durability(self):
        return Durability("memory", "synchronous=OFF")

    def drop(self):
        self._session.execute("DROP TABLE IF EXISTS t")

    def close(self):
        self._session.close()


def _row(one: Entity):
    return str(one.id), *one[1:]
