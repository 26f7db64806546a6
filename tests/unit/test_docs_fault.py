"""The webhook of docs/how-to/does-my-store-lose-writes.md makes the fault that an attempt asks for, by commands of the user's own."""

import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from storebench.attempt.fault import _by_webhook
from storebench.errors import FaultFailed
from storebench.planning.faults import check_faults
from storebench.planning.params import grid_of, run_values
from storebench.servers.fault import Fault
from storebench.study import studies
from tests.ports import free_port

PAGE = (Path(__file__).parents[2] / "docs/how-to/does-my-store-lose-writes.md").read_text()
START_S = 20


@pytest.fixture
def webhook(tmp_path):
    """Start the page's webhook with commands that write into a file. Yield its address and the file."""
    (text,) = re.findall(r"```python\n(# fault\.py\n.*?)```", PAGE, re.DOTALL)
    port, log = free_port(), tmp_path / "log"
    for command in set(re.findall(r'"(docker [^"]*)"', text)):
        text = text.replace(f'"{command}"', f'"echo {command} >> {log}"')
    text = text.replace('"10.244.0.1", 8000', f'"127.0.0.1", {port}').replace(
        f"echo docker pause mongodb >> {log}", "exit 3"
    )
    (tmp_path / "fault.py").write_text(text)
    with subprocess.Popen([sys.executable, str(tmp_path / "fault.py")], stderr=subprocess.DEVNULL) as program:
        for _ in range(START_S * 10):
            with socket.socket() as tried:
                if not tried.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/", log
        program.kill()


def test_the_webhook_runs_both_commands_and_answers_at_the_end(webhook):
    url, log = webhook
    found = _by_webhook(Fault("kill", "", after_s=1, for_s=0.3, url=url))
    assert log.read_text() == "docker kill mongodb\ndocker start mongodb\n"
    assert found.healed_s - found.began_s >= 0.3


def test_a_command_that_fails_fails_the_fault_after_the_server_was_continued(webhook):
    url, log = webhook
    with pytest.raises(FaultFailed, match=r"refuses \(500"):
        _by_webhook(Fault("pause", "", after_s=1, for_s=0.1, url=url))
    assert log.read_text() == "docker unpause mongodb\n"


def test_the_commands_of_the_page_are_planned():
    """Each `make run` of the page has stores, axes and parameters that the plan accepts."""
    lines = re.findall(r"^\$ make run (.*)$", PAGE, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        given = dict(re.findall(r"(\w+)=('[^']*'|\S+)", line))
        named = dict(pair.split("=") for pair in given["AXES"].strip("'").split())
        more = dict(pair.split("=") for pair in given["PARAMS"].strip("'").split())
        study = studies.find(given["STUDY"])
        asked = {name: [value] for name, value in named.items()}
        asked |= {"stores": [given["STORES"]], "clients": [given["CLIENTS"]], "rows": int(given["ROWS"])}
        asked |= {
            name: value.strip('"') if value.startswith('"') else int(value) for name, value in more.items()
        }
        params = run_values(study, asked)
        cells = grid_of(study, params).cells
        check_faults(study, cells, params, lambda name: "_" not in name, "own/agent:1")
        assert [study.values_of(cell)["fault"] for cell in cells] == ["kill"]
