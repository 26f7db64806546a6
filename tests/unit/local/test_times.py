import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MAKEFILE = """
first:
	@cp short.xml reports/first.xml
second:
	@cp long.xml reports/second.xml; false
third:
	@touch third
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "reports").mkdir()
    for name, seconds in (("short", (0.1, 20.0)), ("long", range(1, 12)), ("reports/of_before", (99.0,))):
        cases = "".join(
            f'<testcase classname="{name}.file" name="{n}" time="{s}"/>' for n, s in enumerate(seconds)
        )
        (tmp_path / f"{name}.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    return tmp_path


def run(folder, *parts):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = [sys.executable, "-S", "-m", "local.times", folder / "reports", *parts, "--"]
    return subprocess.run(
        [*command, "make", "--silent", f"--directory={folder}"],
        cwd=ROOT,
        env=kept,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_parts_and_the_ten_slowest_tests_of_all_parts_are_printed(folder):
    done = run(folder, "first", "second")
    head, *slowest = done.stdout.splitlines()
    assert re.match(r"The parts took 0\.0 min: first \d s, second \d s\. The slowest tests", head)
    assert slowest[0].split() == ["20.0", "s", "short.file::1"]
    assert [float(line.split()[0]) for line in slowest] == [20.0, *range(11, 2, -1)]


def test_a_part_that_fails_ends_the_rest_and_the_times_are_still_printed(folder):
    done = run(folder, "first", "second", "third")
    assert done.returncode == 2 and not (folder / "third").exists()
    assert "second" in done.stdout and "third" not in done.stdout
    assert run(folder, "first", "third").returncode == 0 and (folder / "third").exists()
