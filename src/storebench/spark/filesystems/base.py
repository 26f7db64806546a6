"""What Spark has to know of a file system."""

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
        """What its client needs beside Spark's own jars: entries of a class path. Raises SpecError where the image has no such client."""
        return ()

    def certificates(self) -> str | None:
        """The certificates (PEM) of the CA that the JVMs are to trust in place of Java's own; None where Java's own are right."""
        return None

    def log_in(self) -> None:  # noqa: B027 - not all need it
        """Give the login to the driver's JVM, which this process is about to start, by the environment."""
