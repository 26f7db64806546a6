import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local import progress

ROOT = Path(__file__).parents[3]
MAKEFILE = """
home := $(STOREBENCH_HOME)
.PRECIOUS: $(home)/steps/short-1a $(home)/steps/long-program-1b
all: $(home)/steps/short-1a $(home)/steps/long-program-1b
needed:
	@false && $(MAKE) more
asked:
	@echo asked >> $(home)/asked; $(MAKE) --silent --file=$(home)/Makefile all
$(home)/steps/long-program-1b:
	@exec local/step $@ 240 "compiling (all of it)" sh -c 'echo package/one; sleep $(LONG)'
$(home)/steps/short-1a:
	@exec local/step $@ 60 "unpacking" sh -c '$(SHORT)'
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    # Of the make that runs the tests: not the one of a user
    for name in ("MAKELEVEL", "MAKEFLAGS", "MFLAGS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "log" / "setup").mkdir(parents=True)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    return tmp_path


def step(home, stamp, *command, seconds="330"):
    return [str(ROOT / "local/step"), str(home / "steps" / stamp), seconds, "building", *command]


def run(home, command, **variables):
    environment = {**os.environ, "STOREBENCH_HOME": str(home), **variables}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def set_up(home, **variables):
    """Return the command of a set-up of two steps, in the form of local/setup.mk, with only Python's library."""
    make = ["make", "--no-print-directory", "--silent", f"--file={home / 'Makefile'}", "--jobs=2", "all"]
    assigned = [f"{name}={value}" for name, value in {"LONG": "2", "SHORT": "true", **variables}.items()]
    return [sys.executable, "-S", "-B", "-m", "local.progress", *make, *assigned]


class Terminal:
    """A terminal of 60 columns that shows a process's output."""

    def __init__(self, home, command):
        self._text = ""
        self.process, self._terminal = pty.fork()
        if not self.process:
            os.chdir(ROOT)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # tests in the background of a shell ignore it
            variables = {"STOREBENCH_HOME": str(home), "TERM": "xterm", "COLUMNS": "60"}
            os.execvpe(command[0], command, {**os.environ, **variables})

    def press(self, keys):
        os.write(self._terminal, keys)

    def wait_for(self, pattern):
        """Wait until a line matches the pattern, and return all lines."""
        while not any(re.match(pattern, line) for line in self._lines()):
            assert self._read(), f"ended without {pattern!r}: {self._lines()}"
        return self._lines()

    def end(self):
        """Return the remaining lines, and the exit code."""
        while self._read():
            pass
        _, status = os.waitpid(self.process, 0)
        os.close(self._terminal)
        return self._lines(), os.waitstatus_to_exitcode(status)

    def _read(self):
        assert select.select([self._terminal], [], [], 30)[0], f"silent for 30 s: {self._lines()}"
        try:
            self._text += os.read(self._terminal, 65536).decode()
        except OSError:  # how Linux says that nobody writes any more
            return False
        return True

    def _lines(self):
        lines, row, column = [""], 0, 0
        for found in re.finditer(r"\x1b\[(\d*)([AJ])|([\s\S])", self._text):
            rows, code, character = found.groups()
            if code == "A":
                row -= int(rows)
            elif code == "J":
                lines[row:] = [lines[row][:column]]
            elif character == "\r":
                column = 0
            elif character == "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            else:
                lines[row] = lines[row][:column] + character + lines[row][column + 1 :]
                column += 1
        return [line for line in lines if line]


def test_a_step_records_what_it_took_and_expects_that_when_it_is_built_again(home):
    first = run(home, step(home, "page-1a", "sleep", "1.5"))
    assert first.stdout.splitlines()[0] == "page: building (about 6 min)"
    took = int(re.fullmatch(r"page: done in (\d+) s", first.stdout.splitlines()[-1])[1])
    assert took >= 1
    again = run(home, step(home, "page-2b", "true"))
    assert again.stdout.splitlines()[0] == f"page: building (about {took} s)"
    assert [path.name for path in (home / "steps").glob("page-*")] == ["page-2b"]


def test_a_step_that_fails_says_the_end_of_its_log_and_keeps_what_it_took_before(home):
    (home / "log/setup/page.seconds").write_text("200\n")
    failed = run(home, step(home, "page-1a", "sh", "-c", "echo no compiler; exit 3"))
    log = home / "log/setup/page.log"
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[0] == "no compiler"
    assert re.search(rf"page: failed after \d+ s\. The whole log: {log}\n", failed.stderr)
    assert (home / "log/setup/page.seconds").read_text() == "200\n"
    assert not list((home / "steps").glob("page-*"))


def test_a_step_says_each_minute_how_far_it_is(home, tmp_path):
    clock = tmp_path / "bin" / "sleep"  # a minute is 0.6 s long
    clock.parent.mkdir()
    clock.write_text("#!/bin/sh\nexec /bin/sleep 0.01\n")
    clock.chmod(0o755)
    done = run(
        home,
        step(home, "page-1a", "sh", "-c", "echo first; echo second; exec /bin/sleep 4"),
        PATH=f"{clock.parent}:{os.environ['PATH']}",
    )
    told = [line for line in done.stdout.splitlines() if "now" in line]
    assert told and all(re.fullmatch(r"page: \d+ s of about 6 min, now: second", line) for line in told)


@pytest.mark.parametrize(
    "text",
    [
        "first\nsecond\n",
        "first\n\x1b[32msecond\x1b[0m\n\x1b[0m\r\n",  # a coloured line, and a code on a line of its own
        "first\r[ 10 %]\rsecond\r      \r",  # drawn in place, and wiped away
    ],
)
def test_the_last_line_of_a_log_is_the_last_that_says_anything(home, text):
    log = home / "step.log"
    log.write_text(text)
    assert progress.last_line(log) == "second"


def test_a_log_without_a_line_says_nothing(home):
    log = home / "step.log"
    assert progress.last_line(log) == ""
    log.write_text("\n")
    assert progress.last_line(log) == ""


def test_a_file_gets_whole_lines_what_is_to_be_built_first_and_a_profile_at_the_end(home):
    (home / "log/setup/long-program.seconds").write_text("70\n")
    done = run(home, set_up(home))
    assert done.returncode == 0 and "\x1b" not in done.stdout and "\r" not in done.stdout
    first, *steps, last = done.stdout.splitlines()
    assert first == "set-up of about 70 s (1 as last time): long-program 70 s, short 60 s"
    assert {"long-program: compiling (all of it) (about 70 s)", "short: unpacking (about 60 s)"} < set(steps)
    assert re.fullmatch(r"set-up took \d+ s: long-program \d+ s, short \d+ s", last)


def test_nothing_is_said_where_all_is_built(home):
    assert run(home, set_up(home)).stdout
    done = run(home, set_up(home))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_the_stores_need_is_asked_once(home):
    """Finding the needs of stores loads a study's file and thus Airflow, which takes seconds."""
    asked = [word if word != "all" else "asked" for word in set_up(home)]
    assert "short: done" in run(home, asked).stdout and (home / "steps" / "long-program-1b").exists()
    assert (home / "asked").read_text() == "asked\n"
    done = run(home, asked)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (home / "asked").read_text() == "asked\nasked\n"


def test_what_the_stores_need_is_named_where_it_is_not_known_yet(home):
    (home / "log/setup/short.seconds").touch()  # torn by a power cut
    done = run(home, [*set_up(home, LONG="1"), "needed"], STORES="mongodb")
    assert done.stdout.splitlines()[0].endswith("long-program 4 min, short 60 s, and what only mongodb needs")


def test_a_terminal_has_a_line_for_each_step_that_runs_and_one_for_each_that_is_done(home):
    terminal = Terminal(home, set_up(home, LONG="4", SHORT="sleep 2"))
    both = terminal.wait_for("short +0:01")
    assert both[0].startswith("set-up of about 4 min (a guess: not yet done here): long-program")
    assert sorted(re.sub(r"0:0\d", "0:0N", line) for line in both[1:]) == [
        "long-program    0:0N of about 4 min  package/one",
        "short           0:0N of about 60 s  ",
    ]
    lines, code = terminal.end()
    assert code == 0
    assert [re.sub(r"\d+ s", "N s", line) for line in lines[1:]] == [
        "short: done in N s",
        "long-program: done in N s",
        "set-up took N s: long-program N s, short N s",
    ]


def test_a_failure_stays_readable_on_a_terminal_while_the_other_step_goes_on(home):
    lines, code = Terminal(home, set_up(home, LONG="4", SHORT="echo no space; exit 1")).end()
    text = "\n".join(lines)
    assert code == 2
    assert re.search(r"no space\nshort: failed after \d s. The whole log: .*\nmake: \*\*\* ", text)
    assert re.search(
        r"long-program: done in \d s\nWhat is done is kept: the same `make` goes on from there\.$", text
    )


@pytest.mark.parametrize("by", ["Ctrl-C", "kill"])
def test_an_interrupt_ends_the_steps_and_says_how_to_go_on(home, by):
    terminal = Terminal(home, set_up(home, LONG="300"))
    terminal.wait_for("short: done")
    terminal.wait_for("long-program +0:0[1-9]")
    if by == "Ctrl-C":
        terminal.press(b"\x03")
    else:
        os.kill(terminal.process, signal.SIGTERM)
    lines, code = terminal.end()
    assert code == 130
    assert any(re.fullmatch(r"long-program: interrupted after \d s", line) for line in lines)
    assert lines[-1] == "Interrupted. What is done is kept: the same `make` goes on from there."
    assert [path.name for path in (home / "steps").glob("*-*[ab]")] == ["short-1a"]
    mark = f"STOREBENCH_SETUP={home}".encode()
    assert not [path for path in Path("/proc").glob("[0-9]*/environ") if mark in _content(path)]


def _content(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_steps_of_a_set_up_are_expected_two_at_a_time():
    assert progress.together([300, 60, 100, 200], jobs=2) == 360
    assert progress.together([], jobs=2) == 0


def test_each_recipe_of_the_set_up_is_found_in_a_dry_run(tmp_path):
    """The overview comes from a dry run of local/setup.mk, which prints at least as many steps as the set-up has."""
    variables = {"STOREBENCH_HOME": str(tmp_path / "home")}
    dry = run(
        tmp_path,
        [
            "make",
            "--file=local/setup.mk",
            "--dry-run",
            "chdb",
            "columns",
            "elasticsearch",
            "formats",
            "iceberg",
            "iceberg-spark",
            "jvm",
            "load",
            "mongodb",
            "wendelin",
        ],
        **variables,
    )
    images = {
        "base-image",
        "image-python",
        "image-jvm",
        "image-formats",
        "image-chdb",
        "image-columns",
        "image-iceberg",
        "image-iceberg-spark",
        "image-load",
        "image-wendelin",
    }
    names = {"requirements", "python", "elasticsearch", "pause", "ferretdb", *images}
    found = progress.missing(dry.stdout, tmp_path)
    assert set(found) == names
    assert all(seconds > 0 and not known for seconds, known in found.values())
