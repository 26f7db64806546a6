"""The interface of a file system for Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod


class FileSystem(ABC):
    """One file system as driver and executors reach it."""

    @abstractmethod
    def uri(self, path: str) -> str:
        """The address of `path`, which has no slash at its beginning."""

    @abstractmethod
    def settings(self) -> dict[str, str]:
        """Settings of Spark, without a login: they are on its command line."""

    def jars(self) -> tuple[str, ...]:
        """Return the class path entries of the file system's client beside Spark's jars. Raises SpecError if the image lacks the client."""
        return ()

    def certificates(self) -> str | None:
        """The certificates (PEM) of the CA that the JVMs are to trust in place of Java's own; None where Java's own are right."""
        return None

    def log_in(self) -> None:  # noqa: B027 - not all need it
        """Give the login to the driver's JVM, which this process is about to start, by the environment."""
