"""The interface of a file system for Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod


class FileSystem(ABC):
    """A file system for a driver and its executors."""

    @abstractmethod
    def uri(self, path: str) -> str:
        """Return the address of `path`, which begins without a slash."""

    @abstractmethod
    def settings(self) -> dict[str, str]:
        """Return Spark's settings for the file system, without a login: settings are visible on Spark's command line."""

    def jars(self) -> tuple[str, ...]:
        """Return the class path entries that the file system's client adds to Spark's. Raises SpecError if the image lacks the client."""
        return ()

    def certificates(self) -> str | None:
        """Return the CA certificates (PEM) that the JVMs trust in place of Java's own; None to trust Java's own."""
        return None

    def log_in(self) -> None:  # noqa: B027 - some file systems have no login
        """Put the login into the environment of the driver's JVM, which this process is about to start."""
