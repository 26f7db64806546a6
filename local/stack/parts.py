"""Which parts of the stack only some stores need: their servers, and images of pods. A run of other stores does without them."""

from collections.abc import Iterable
from pathlib import Path

from local.stack.settings import OWN_SERVERS, Settings
from storebench import stores

# Named as the stores' connections and the supervisor's namespaces are, and as the folders under images/.
SERVERS = frozenset(OWN_SERVERS) - {"kubernetes", "s3"}
IMAGES = frozenset({"jvm"})


def needed_by(names: Iterable[str]) -> frozenset[str]:
    """The parts that these stores need; raises SpecError for a store that there is not."""
    found = {part for name in names for part in (stores.connection(name), stores.load(name).image)}
    return (SERVERS | IMAGES) & found


def stores_of(server: str) -> list[str]:
    """The stores whose data is in this server of SERVERS."""
    return [name for name in stores.REGISTRY if stores.connection(name) == server]


def started(settings: Settings) -> frozenset[str]:
    """The servers of SERVERS that the stack has started, or is to start."""
    return frozenset(path.name for path in _marks(settings).glob("*"))


def asked_at(settings: Settings, server: str) -> float:
    """When `make` asked for this started server last, in seconds since 1970."""
    return (_marks(settings) / server).stat().st_mtime


def record(settings: Settings, servers: Iterable[str]) -> None:
    """These are started, and are asked for now."""
    _marks(settings).mkdir(exist_ok=True)
    for server in servers:
        (_marks(settings) / server).touch()


def forget(settings: Settings, server: str) -> None:
    """This one was stopped."""
    (_marks(settings) / server).unlink()


def _marks(settings: Settings) -> Path:
    """Has a file for each started server."""
    return settings.run / "servers"
