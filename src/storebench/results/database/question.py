"""Answer a user's SQL."""

from __future__ import annotations

from contextlib import AbstractContextManager

import psycopg

from storebench.errors import SpecError
from storebench.results.database.connection import Database, Row, connected


class Question(Database):
    """A connection for one statement of a user. `write`: the statement may change the database."""

    def __init__(self, dsn: str, *, write: bool = False) -> None:
        super().__init__(dsn)
        self._write = write

    def answer(self, statement: str) -> list[Row] | str:
        """Return the rows of a query, or the status of a statement that has no rows, such as CREATE DATABASE.

        Raises SpecError with the server's message if the server refuses the statement, and StoreUnreachable without a server.
        """
        with self._cursor() as cursor:
            try:
                cursor.execute(statement.encode())
            except psycopg.Error as error:
                if cursor.connection.closed:
                    raise
                raise SpecError(f"The results database refuses this: {str(error).strip()}") from error
            return cursor.fetchall() if cursor.description else str(cursor.statusmessage)

    def _connection(self) -> AbstractContextManager[psycopg.Connection[Row]]:
        # CREATE DATABASE is only possible outside a transaction.
        connection = connected(self._dsn, autocommit=self._write)
        connection.read_only = not self._write
        return connection
