"""The real agent around the program of an attempt, in another language than Python, beside real neighbours."""

import json
import os
import signal
import subprocess
import time

import pytest

from storebench import protocol
from storebench.airflow.outcome.result_check import with_disturbances
from storebench.attempt.result import AttemptResult
from storebench.stores.base import Store
from tests.integration.watched import BINARY, MIB, V1, V2, write
from tests.unit.attempt.test_neighbours import neighbours

RESULT = '{"version": 1, "status": "verified", "verification": "all of it", "metrics": {"a_s": 0.25}}'
# Each program is a shell script. OPERATION keeps a core busy for about as long as a single core needs to count.
OPERATION = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"
MEASURES = f"echo 'phase: operation'; {OPERATION}; echo 'phase: verify'; sleep 0.3; printf %s \"$RESULT\" > \"$STOREBENCH_TERMINATION_LOG\""
PRESSURE = (
    "some avg10=1.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={}\n"
)


class Engine(Store):
    name = "engine"
    figures_cover = "engine"


@pytest.fixture
def pod(agent_built, tmp_path):
    """Run a shell script as the program of a pod; returns the process's end, and the result that is left, if it is JSON."""
    message = tmp_path / "termination-log"
    message.touch()

    def run(script, result=RESULT, **variables):
        environment = {
            **os.environ,
            "STOREBENCH_TERMINATION_LOG": str(message),
            "RESULT": result,
            **variables,
        }
        command = [BINARY, "pod", "sh", "-c", script]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        text = message.read_text()
        assert len(text.encode()) <= protocol.MESSAGE_BYTES
        return done, json.loads(text) if text.startswith("{") else text

    return run


def test_the_window_of_the_operation_comes_to_the_result_and_what_the_program_says_stays(pod):
    done, found = pod(f"echo 'phase: prepare'; sleep 0.3; {MEASURES}; echo said; echo erred >&2; exit 4")
    assert done.returncode == 4
    assert done.stdout.splitlines() == ["phase: prepare", "phase: operation", "phase: verify", "said"]
    assert done.stderr.splitlines() == ["erred"]
    assert {name: found[name] for name in json.loads(RESULT)} == json.loads(RESULT)
    assert protocol.problem("result", found) is None
    window = found["window"]
    assert window["seconds"] > 0 and window["cores"] == os.cpu_count()
    assert window["cpu_s"] <= sum(window["node_cpu_s"].values()) + 0.05
    assert {"cpu_some", "memory_full", "io_some"} <= window["stalled_s"].keys()
    assert found["cpu_s"] > 0 and found["memory_working_set_peak_bytes"] > 0


def test_neighbours_mark_a_pod_in_another_language(pod, tmp_path):
    # Here the neighbours are in the cgroup of the pod, where a node's are not: so it has one of its own.
    root = write(tmp_path / "cgroup", V2)
    with neighbours(2 * (os.cpu_count() or 1)):
        _, found = pod(MEASURES, STOREBENCH_AGENT_CGROUP=str(root))
    result = with_disturbances(AttemptResult.from_json(json.dumps(found)), Engine, cpu_limit=False)
    assert result.not_judged is None and result.disturbed.startswith("others kept ")
    assert result.figures_cover == "engine"


def test_a_program_that_marks_no_operation_is_not_judged(pod):
    done, found = pod('printf %s "$RESULT" > "$STOREBENCH_TERMINATION_LOG"')
    assert found == json.loads(RESULT)
    assert "the program printed no line `phase: operation`" in done.stderr
    assert with_disturbances(AttemptResult.from_json(json.dumps(found)), Engine, cpu_limit=False).not_judged


def test_an_operation_that_is_entered_again_adds_up_and_the_end_of_the_program_ends_it(pod):
    script = "echo 'phase: operation'; sleep 0.2; echo 'phase: other'; sleep 0.6; printf %s \"$RESULT\" > \"$STOREBENCH_TERMINATION_LOG\"; echo 'phase: operation'; sleep 0.2"
    _, found = pod(script)
    assert (
        0.39 <= found["window"]["seconds"] < 0.9
    )  # the agent reads a phase a little after the pod writes it


@pytest.mark.parametrize("files", [V1, V2], ids=["version 1", "version 2"])
def test_the_container_s_figures_are_those_of_its_cgroup(pod, tmp_path, files):
    more = {
        "memory/memory.max_usage_in_bytes": f"{300 * MIB}\n",
        "memory/memory.limit_in_bytes": f"{2**63 - 4096}\n",
        "memory.peak": f"{300 * MIB}\n",
        "memory.max": f"{1024 * MIB}\n",
    }
    root = write(tmp_path / "cgroup", {**files, **more})
    _, found = pod(MEASURES, STOREBENCH_AGENT_CGROUP=str(root))
    assert (found["cpu_s"], found["throttled_s"], found["throttled_periods"], found["oom_kills"]) == (
        2.5,
        1.5,
        4,
        3,
    )
    assert (found["memory_working_set_peak_bytes"], found["memory_peak_bytes"]) == (150 * MIB, 300 * MIB)
    assert found.get("memory_limit_bytes") == (1024 * MIB if files is V2 else None)
    assert (found["window"]["cpu_s"], found["window"]["throttled_periods"]) == (0, 0)


def test_what_the_kernel_does_not_tell_is_excluded(pod, tmp_path):
    (tmp_path / "proc").mkdir()
    _, found = pod(
        MEASURES, STOREBENCH_AGENT_PROC=str(tmp_path / "proc"), STOREBENCH_AGENT_CGROUP=str(tmp_path)
    )
    assert (found["window"]["stalled_s"], found["window"]["node_cpu_s"], found["window"]["cpu_s"]) == (
        {},
        {},
        None,
    )
    assert protocol.problem("result", found) is None and "cpu_s" not in found


def test_figures_that_the_program_says_itself_stay(pod):
    said = {**json.loads(RESULT), "cpu_s": 0.125, "memory_peak_bytes": None, "phases": {"b": 1.0, "a": 2.0}}
    _, found = pod(MEASURES, result=json.dumps(said))
    assert found["cpu_s"] == 0.125 and list(found["phases"]) == ["b", "a"]
    assert found.get("memory_peak_bytes") is None or found["memory_peak_bytes"] > 0


def test_a_result_that_leaves_no_room_stays_whole_and_says_why_it_is_not_judged(pod):
    long = json.dumps({**json.loads(RESULT), "verification": "v" * 3900})
    done, found = pod(MEASURES, result=long)
    assert found == json.loads(long)
    assert "the result would have more than 4096 bytes" in done.stderr


def test_a_program_without_a_result_is_left_alone(pod):
    done, found = pod("echo 'phase: operation'; exit 3")
    assert (done.returncode, found) == (3, "")


def test_a_program_that_cannot_be_started_is_named(agent_built):
    done = subprocess.run(
        [BINARY, "pod", "/nowhere"], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 127 and "cannot start the program" in done.stderr


def test_a_signal_comes_to_the_program_and_its_end_is_the_shell_s_code(agent_built, tmp_path):
    environment = {**os.environ, "STOREBENCH_TERMINATION_LOG": str(tmp_path / "message")}
    script = "trap 'echo told; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    for sent, code in ((signal.SIGTERM, 7), (None, 128 + signal.SIGKILL)):
        text = script if sent else "kill -9 $$"
        with subprocess.Popen(
            [BINARY, "pod", "sh", "-c", text], env=environment, stdout=subprocess.PIPE
        ) as program:
            if sent:
                assert program.stdout.readline() == b"ready\n"
                program.send_signal(sent)
            assert program.wait(20) == code


def test_output_that_a_child_holds_open_does_not_keep_the_pod(pod):
    began = time.monotonic()
    done, found = pod(f"sleep 20 2> /dev/null & {MEASURES}")
    assert done.returncode == 0 and "window" in found
    assert time.monotonic() - began < 15
