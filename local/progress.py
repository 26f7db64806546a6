"""Progress for people. On a terminal the last lines show what goes on, drawn in place; a file gets whole lines only.

usage: /usr/bin/python3 -B -m local.progress make --jobs=N TARGET...
       /usr/bin/python3 -B -m local.progress --space WHAT make TARGET...

As a command it runs this `make`, whose targets are steps of the set-up (local/step). It refuses if the disk lacks the space for the steps. It
says what will be built and about how long that takes, what each step took, and after Ctrl-C how to go on. With --space it only looks at the
disk, for WHAT needs the steps. Only Python's own library is used: the first step comes before all else.
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
from pathlib import Path
from typing import TextIO

from local import space

INTERRUPTED = 130  # as a shell has it of what Ctrl-C has ended

# What local/setup.mk has in a recipe, and what local/step prints.
RECIPE = re.compile(r'local/step \S*/(\S+)-\w+ (\d+) "')
BEGINS = re.compile(r"([\w-]+): .* \(about (\d+ (?:s|min))\)")
GOES_ON = re.compile(r"([\w-]+): \d+ (?:s|min) of about ")
ENDS = re.compile(r"([\w-]+): (?:done in (\d+) s|failed after |interrupted after )")
# What colours a line, or draws it in place.
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen:
    """Lines that stay and, on a terminal, lines below them that are drawn anew in place."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.draws = out.isatty() and os.environ.get("TERM") != "dumb"
        self._shown: list[str] = []

    def say(self, line: str) -> None:
        """Print a line that stays."""
        self._write(self._shown, f"{line}\n")

    def show(self, lines: Sequence[str]) -> None:
        """Replace the lines at the end by these; a file does not get them."""
        if self.draws:
            columns = shutil.get_terminal_size().columns - 1  # one that wraps would be two to go back
            self._write([line[:columns] for line in lines])

    def _write(self, shown: list[str], stays: str = "") -> None:
        back = f"\r\x1b[{len(self._shown)}A\x1b[J" if self._shown else ""
        self._out.write(back + stays + "".join(f"{line}\n" for line in shown))
        self._out.flush()
        self._shown = shown


def duration(seconds: float) -> str:
    """`48 s`, `12 min`."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def going(name: str, seconds: float, about: str | None, now: str) -> str:
    """One line for what goes on: `kubernetes      2:05 of about 9 min  k8s.io/api/core/v1`."""
    elapsed = f"{int(seconds) // 60}:{int(seconds) % 60:02}"
    return f"{name:<15}{elapsed:>5}{f' of about {about}' if about else ''}  {now}"


class Steps:
    """The steps of a set-up, by the lines that local/step prints."""

    def __init__(self, screen: Screen, logs: Path) -> None:
        self._screen, self._logs = screen, logs
        self._running: dict[str, tuple[float, str]] = {}  # when it began, and about how long it takes
        self.seconds: dict[str, int] = {}  # of those that are done

    def take(self, line: str) -> None:
        """Say a line of a step, or show it where steps are drawn; other lines are said as they are."""
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
        """Draw a line for each step that goes on, with the last line of its log."""
        now = time.monotonic()
        self._screen.show(
            [
                going(name, now - began, about, last_line(self._logs / f"{name}.log"))
                for name, (began, about) in self._running.items()
            ]
        )


def last_line(log: str | Path) -> str:
    """The last line of a step's log that says anything, without the codes that colour it."""
    try:
        with Path(log).open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 2000))
            text = CODES.sub("", file.read().decode(errors="replace"))
    except OSError:  # it has not begun to write
        return ""
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    return "".join(filter(str.isprintable, lines[-1])) if lines else ""


def missing(recipes: str, logs: Path) -> dict[str, tuple[int, bool]]:
    """The steps of a dry run in their order: about how many seconds each takes, and whether this machine has done it before."""
    found = {}
    for name, seconds in RECIPE.findall(recipes):
        path = logs / f"{name}.seconds"
        took = path.read_text().strip() if path.exists() else ""  # empty after a power cut, perhaps
        found[name] = (int(took or seconds), bool(took))
    return found


def together(seconds: Iterable[int], jobs: int) -> int:
    """Seconds that steps take if each begins as soon as one of so many jobs is free."""
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
    """How long the set-up took, and each of its steps."""
    took = f"{total:.0f} s" if total < 90 else f"{total / 60:.1f} min"
    longest_first = sorted(seconds.items(), key=lambda step: -step[1])
    return f"set-up took {took}: " + ", ".join(f"{name} {each} s" for name, each in longest_first)


def _lines(stream: int) -> Iterator[str | None]:
    """Each line as it comes, and None where for a second none has come."""
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


def planned(command: Sequence[str], logs: Path) -> tuple[dict[str, tuple[int, bool]], bool]:
    """Return the steps that this `make` would run, as `missing` does, and whether they are all that it would run.

    The environment alone tells what some stores need: without the environment, their steps are not among these.
    """
    dry = subprocess.run(
        [*command, "--dry-run", "--keep-going"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return missing(dry.stdout, logs), dry.returncode == 0


def lacks_space(what: str, steps: dict[str, tuple[int, bool]]) -> bool:
    """Say so if the disk lacks the space for the steps; those that were done here before have it already."""
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
        return int(lacks_space(what, planned(command, logs)[0]))
    jobs = next(int(word.removeprefix("--jobs=")) for word in command if word.startswith("--jobs="))
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    screen = Screen(sys.stdout)
    steps, complete = planned(command, logs)
    if lacks_space("This set-up", steps):
        return 1
    if steps:
        stores = None if complete else os.environ.get("STORES")
        screen.say(overview(steps, jobs, f", and what only {stores} needs" if stores else ""))
    if complete:
        os.environ["SPACE_IS_CHECKED"] = "yes"  # for the target `needed` of local/setup.mk
    # What make itself prints on a terminal comes through here, too: it would be drawn over.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT if screen.draws else None
    )
    assert process.stdout is not None
    interrupted = False

    def on_signal(number: int, _: object) -> None:
        nonlocal interrupted
        interrupted = True
        if number == signal.SIGTERM:  # Ctrl-C reaches make by itself
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
    except KeyboardInterrupt:  # nothing has begun yet
        sys.exit(INTERRUPTED)
