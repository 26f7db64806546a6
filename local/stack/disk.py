"""Measure the uncached rate of the stack's disk, and keep the highest rate of all starts."""

from local.stack.settings import Settings
from local.stack.teardown import Say
from storebench.attempt import disk
from storebench.errors import StoreRefused

FILE = "uncached_mb_per_s"  # kept with the data


def measure(settings: Settings, say: Say) -> None:
    """Measure the disk with the volumes of pods, for up to 8 s. On a user's cluster, only `storebench disk` measures the disk."""
    if "kubernetes" in settings.own:
        return
    try:
        rate = disk.measure(settings.run).mb_per_s
    except StoreRefused as error:
        say(f"cold reads are not compared with the disk: {error}")
        return
    if rate > known(settings):
        (settings.data / FILE).write_text(f"{rate:.1f}\n")


def known(settings: Settings) -> float:
    """Return the highest rate so far in MB per second; 0 without a measurement."""
    path = settings.data / FILE
    return float(path.read_text()) if "kubernetes" not in settings.own and path.exists() else 0.0
