"""Measure how fast the stack's disk reads data that nobody has read, and keep the highest rate of all starts."""

from local.stack.settings import Settings
from local.stack.teardown import Say
from storebench.attempt import disk
from storebench.errors import StoreRefused

FILE = "uncached_mb_per_s"  # stays as long as the data does


def measure(settings: Settings, say: Say) -> None:
    """Measure the disk with the volumes of pods, which takes up to 8 s. On a cluster of one's own, nobody does it but `storebench disk`."""
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
    """Return the highest rate so far in MB per second; 0 where none was measured."""
    path = settings.data / FILE
    return float(path.read_text()) if "kubernetes" not in settings.own and path.exists() else 0.0
