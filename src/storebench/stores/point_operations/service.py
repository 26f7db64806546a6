"""The service in Python (FastAPI and uvicorn) before a database. It writes and reads single entities by id.

Environment: DATABASE_STORE, `MongoDB` or `Cassandra`; DATABASE_HOST; and DATABASE_PORT if it is not the default port. The service uses the
clients of the study's stores. Its own client is `storebench.stores.point_operations.rest`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Lock
from typing import Any, Literal
from uuid import UUID

from fastapi import FastAPI, HTTPException, Request
from fastapi import __version__ as fastapi_version
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as AnyHTTPException
from uvicorn import __version__ as uvicorn_version

from storebench.connection import Connection
from storebench.errors import StorebenchError
from storebench.stores import load
from storebench.stores.point_operations import requests
from storebench.stores.point_operations.base import DIRECT, PointStore
from storebench.stores.point_operations.entities import Entity

THREADS = 100  # concurrent requests: the study's number of users
TABLES = 16  # number of tables whose connections stay open
TIMEOUT_S = 10.0
TABLE = r"^storebench_[a-z0-9_]{1,52}$"
STATUS = {requests.TIMEOUT: 504, requests.CONNECTION: 503, requests.SERVER: 502}

Consistency = Literal["one", "quorum"]


class Sent(BaseModel):
    """An entity in JSON."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: UUID = Field(strict=False)
    name: str = Field(max_length=200)
    age: int = Field(ge=0, le=200)
    description: str = Field(max_length=10_000)
    address: str = Field(max_length=500)
    phone: str = Field(max_length=50)
    email: str = Field(max_length=320)


@asynccontextmanager
async def _threads(_: FastAPI) -> AsyncIterator[None]:
    from anyio.to_thread import current_default_thread_limiter

    current_default_thread_limiter().total_tokens = THREADS
    yield


app = FastAPI(lifespan=_threads, docs_url=None, redoc_url=None, openapi_url=None)


_stores: dict[tuple[str, Consistency], PointStore] = {}  # ordered by connection, the newest last
_connecting = Lock()


def _store(table: str, consistency: Consistency) -> PointStore:
    """Return a store connected to a table's database. Of concurrent first requests, only one connects."""
    key = table, consistency
    if store := _stores.get(key):
        return store
    if not re.fullmatch(TABLE, table):
        raise HTTPException(404, f"{table!r} is no name of a table")
    with _connecting:
        if key not in _stores:
            if len(_stores) == TABLES:
                _stores.pop(next(iter(_stores))).close()
            _stores[key] = _connected(table, consistency)
        return _stores[key]


def _connected(table: str, consistency: Consistency) -> PointStore:
    name, port = os.environ["DATABASE_STORE"].lower(), os.environ.get("DATABASE_PORT")
    store = load("point_operations", name)(
        client=DIRECT,
        target=table,
        connection=Connection(name, host=os.environ["DATABASE_HOST"], port=int(port) if port else None),
        values={"consistency": consistency, "users": str(THREADS), "request_timeout_s": str(TIMEOUT_S)},
        operation="read",
    )
    assert isinstance(store, PointStore)
    try:
        store.connect()
    except StorebenchError as error:  # the error's text has the database's address
        raise HTTPException(503, f"The database gives no table {table}: {error.kind}") from error
    return store


@app.get("/health")
def health() -> dict[str, str]:
    """Return the name and version of the service."""
    return {"name": "fastapi", "version": fastapi_version, "server": f"uvicorn {uvicorn_version}"}


@app.post("/tables/{table}/entities")
def write(table: str, sent: Sent, consistency: Consistency = "one") -> Response:
    """Write an entity."""
    store = _store(table, consistency)
    _answer(store, lambda: store.insert(Entity(**sent.model_dump())))
    return Response(status_code=201, headers={"Location": f"/tables/{table}/entities/{sent.id}"})


@app.get("/tables/{table}/entities/{id}")
def read(table: str, id: UUID, consistency: Consistency = "one") -> Response:
    """Return the entity with this id."""
    store = _store(table, consistency)
    row = _answer(store, lambda: store.get(id))
    if row is None:
        raise HTTPException(404, f"There is no entity {id}")
    fields = {**Entity(*row)._asdict(), "id": str(row[0])}
    return Response(json.dumps(fields, ensure_ascii=False), media_type="application/json")


def _answer(store: PointStore, request: Any) -> Any:
    try:
        return request()
    except Exception as error:
        status = STATUS[store.outcome(error)]
        # Only return the error's kind: its text may have addresses and names of users.
        raise HTTPException(status, f"The database did not do it: {type(error).__name__}") from error


def _problem(status: int, detail: str) -> Response:
    """Return a response with a problem description by RFC 9457."""
    body = {"type": "about:blank", "status": status, "title": _TITLES.get(status, "Error"), "detail": detail}
    return Response(json.dumps(body), status, media_type="application/problem+json")


_TITLES = {
    404: "Not found",
    422: "Not an entity",
    500: "Internal error",
    502: "The database refused",
    503: "The database cannot be reached",
    504: "The database did not answer in time",
}


@app.exception_handler(AnyHTTPException)
async def _of_http(_: Request, error: AnyHTTPException) -> Response:
    return _problem(error.status_code, str(error.detail))


@app.exception_handler(RequestValidationError)
async def _of_validation(_: Request, error: RequestValidationError) -> Response:
    first = error.errors()[0]
    return _problem(422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")


@app.exception_handler(Exception)
async def _of_others(_: Request, error: Exception) -> Response:
    return _problem(500, type(error).__name__)
