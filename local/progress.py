"""Show progress to people. On a terminal the last lines show running steps, drawn in place. A file only gets whole lines.

usage: /usr/bin/python3 -B -m local.progress make --jobs=N TARGET...
       /usr/bin/python3 -B -m local.progress --space WHAT make TARGET...

The command runs `make`, whose targets are steps of the set-up (local/step). It refuses if the disk lacks the space for the steps. It prints
the steps to build and their estimated time, the time of each step, and after Ctrl-C how to continue. With --space it only checks the disk
for WHAT, which needs the steps. Only Python's own library is used: the first step has no packages yet.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from local import space

INTERRUPTED = 130  # the exit code of shells after Ctrl-C

# The form of a recipe in local/setup.mk, and of the lines that local/step prints.
RECIPE = re.compile(r'local/step (\S*/(\S+)-\w+) (\d+) "')
BEGINS = re.compile(r"([\w-]+): .* \(about (\d+ (?:s|min))\)")
GOES_ON = re.compile(r"([\w-]+): \d+ (?:s|min) of about ")
ENDS = re.compile(r"([\w-]+): (?:done in (\d+) s|failed after |interrupted after )")
# The steps that make the environment, which determines the needs of stores.
ENVIRONMENT = {"python", "checkout"}
# Terminal codes that colour a line or draw it in place.
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen:
    """Lines that stay and, on a terminal, lines below them that are redrawn in place."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.draws = out.isatty() and os.environ.get("TERM") != "dumb"
        self._shown: list[str] = []

    def say(self, line: str) -> None:
        """Print a line that stays."""
        self._write(self._shown, f"{line}\n")

    def show(self, lines: Sequence[str]) -> None:
        """Replace the redrawn lines. A file does not get them."""
        if self.draws:
            columns = shutil.get_terminal_size().columns - 1  # a wrapped line would need two steps back
            self._write([line[:columns] for line in lines])

    def _write(self, shown: list[str], stays: str = "") -> None:
        back = f"\r\x1b[{len(self._shown)}A\x1b[J" if self._shown else ""
        self._out.write(back + stays + "".join(f"{line}\n" for line in shown))
        self._out.flush()
        self._shown = shown


def duration(seconds: float) -> str:
    """Format a duration: `48 s`, `12 min`."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def going(name: str, seconds: float, about: str | None, now: str) -> str:
    """Return the line of a running step: `kubernetes      2:05 of about 9 min  k8s.io/api/core/v1`."""
    elapsed = f"{int(seconds) // 60}:{int(seconds) % 60:02}"
    return f"{name:<15}{elapsed:>5}{f' of about {about}' if about else ''}  {now}"


class Steps:
    """The steps of a set-up, by the lines that local/step prints."""

    def __init__(self, screen: Screen, logs: Path) -> None:
        self._screen, self._logs = screen, logs
        self._running: dict[str, tuple[float, str]] = {}  # start time, and the estimated duration as text
        self.seconds: dict[str, int] = {}  # seconds of finished steps

    def take(self, line: str) -> None:
        """Print a line of a step, or draw the step's line on a terminal. Other lines are printed unchanged."""
        if ended := ENDS.match(line):
            self._running.pop(ended[1], None)
            if ended[2]:
                self.seconds[ended[1]] = int(ended[2])
        elif begun := BEGINS.fullmatch(line):
            self._running[begun[1]] = time.monotonic(), begun[2]
            if self._screen.draws:
                return
        elif GOES_ON.match(line) and self._screen.draws:
            return
        self._screen.say(line)

    def show(self) -> None:
        """Draw a line for each running step, with the last line of its log."""
        now = time.monotonic()
        self._screen.show(
            [
                going(name, now - began, about, last_line(self._logs / f"{name}.log"))
                for name, (began, about) in self._running.items()
            ]
        )


def last_line(log: str | Path) -> str:
    """Return the last line with text in a step's log, without terminal codes."""
    try:
        with Path(log).open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 2000))
            text = CODES.sub("", file.read().decode(errors="replace"))
    except OSError:  # the step has not written yet
        return ""
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    return "".join(filter(str.isprintable, lines[-1])) if lines else ""


def missing(recipes: str, logs: Path) -> dict[str, tuple[int, bool]]:
    """Return the steps of a dry run in order: the estimated seconds of each, and whether this machine has run it before."""
    durations = {}
    for _, name, seconds in RECIPE.findall(recipes):
        path = logs / f"{name}.seconds"
        took = path.read_text().strip() if path.exists() else ""  # may be empty after a power cut
        durations[name] = (int(took or seconds), bool(took))
    return durations


def together(seconds: Iterable[int], jobs: int) -> int:
    """Return the seconds of steps if each begins as soon as one of `jobs` jobs is free."""
    busy = [0] * jobs
    for each in seconds:
        busy[busy.index(min(busy))] += each
    return max(busy)


def overview(steps: dict[str, tuple[int, bool]], jobs: int, more: str) -> str:
    """Return a sentence about the steps to build, their estimated time, and the source of the estimate."""
    total = together((seconds for seconds, _ in steps.values()), jobs)
    known = sum(known for _, known in steps.values())
    source = {0: "a guess: not yet done here", len(steps): "as last time"}.get(known, f"{known} as last time")
    longest_first = sorted(steps.items(), key=lambda step: -step[1][0])
    names = ", ".join(f"{name} {duration(seconds)}" for name, (seconds, _) in longest_first)
    return f"set-up of about {duration(total)} ({source}): {names}{more}"


def profile(seconds: dict[str, int], total: float) -> str:
    """Describe the duration of the set-up and of each step."""
    took = f"{total:.0f} s" if total < 90 else f"{total / 60:.1f} min"
    longest_first = sorted(seconds.items(), key=lambda step: -step[1])
    return f"set-up took {took}: " + ", ".join(f"{name} {each} s" for name, each in longest_first)


def _lines(stream: int) -> Iterator[str | None]:
    """Yield each line as it arrives, and None after each second without a line."""
    rest = b""
    while True:
        if not select.select([stream], [], [], 1)[0]:
            yield None
            continue
        if not (data := os.read(stream, 65536)):
            break
        *lines, rest = (rest + data).split(b"\n")
        yield from (line.decode(errors="replace") for line in lines)
    if rest:
        yield rest.decode(errors="replace")


@dataclass(frozen=True)
class Plan:
    """The plan of a `make`: its steps (from `missing`), their stamps, and whether the plan is complete.

    The environment determines the needs of some stores: without it, or with the environment of another checkout, steps may be missing.
    """

    steps: dict[str, tuple[int, bool]]
    stamps: list[str]
    complete: bool


def planned(command: Sequence[str], logs: Path) -> Plan:
    """Return the plan of a `make`."""
    dry = subprocess.run(
        [*command, "--dry-run", "--keep-going"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    stamps = list(dict.fromkeys(stamp for stamp, _, _ in RECIPE.findall(dry.stdout)))
    steps = missing(dry.stdout, logs)
    return Plan(steps, stamps, dry.returncode == 0 and not ENVIRONMENT & set(steps))


def only(stamps: Sequence[str], command: Sequence[str]) -> list[str]:
    """Replace the targets of a `make` by these stamps, so that the needs of stores are not determined a second time."""
    return [*(word for word in command if word == command[0] or word.startswith("-") or "=" in word), *stamps]


def lacks_space(what: str, steps: dict[str, tuple[int, bool]]) -> bool:
    """Print and return whether the disk lacks the space for the steps. Steps that ran here before already have their space."""
    why = space.refusal(what, [name for name, (_, known) in steps.items() if not known], _home())
    if why:
        print(why, file=sys.stderr)
    return why is not None


def _home() -> Path:
    return Path(os.environ["STOREBENCH_HOME"])


def main(command: list[str]) -> int:
    began = time.monotonic()
    logs = _home() / "log" / "setup"
    if command[0] == "--space":
        _, what, *command = command
        return int(lacks_space(what, planned(command, logs).steps))
    jobs = next(int(word.removeprefix("--jobs=")) for word in command if word.startswith("--jobs="))
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    screen = Screen(sys.stdout)
    plan = planned(command, logs)
    if lacks_space("This set-up", plan.steps):
        return 1
    if plan.complete and not plan.steps:
        return 0
    if plan.steps:
        stores = None if plan.complete else os.environ.get("STORES")
        screen.say(overview(plan.steps, jobs, f", and what only {stores} needs" if stores else ""))
    if plan.complete:
        command = only(plan.stamps, command)
    # make's own output also goes through this process: otherwise it would be drawn over.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT if screen.draws else None
    )
    assert process.stdout is not None
    interrupted = False

    def on_signal(number: int, _: object) -> None:
        nonlocal interrupted
        interrupted = True
        if number == signal.SIGTERM:  # the terminal sends Ctrl-C to make itself
            process.terminate()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    running = Steps(screen, logs)
    for line in _lines(process.stdout.fileno()):
        if line is not None:
            running.take(line)
        running.show()
    if code := process.wait():
        screen.say(
            ("Interrupted. " if interrupted else "")
            + "What is done is kept: the same `make` goes on from there."
        )
        return INTERRUPTED if interrupted else code
    if running.seconds:
        screen.say(profile(running.seconds, time.monotonic() - began))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # before the start of make
        sys.exit(INTERRUPTED)
