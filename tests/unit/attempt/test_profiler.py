"""The profile of an operation: the sampler in a process without capabilities, its stacks, and the reasons for none."""

import base64
import json
import os
import platform
import stat
import subprocess
import sys
from collections import Counter

import pytest

from storebench.attempt import profiler
from storebench.attempt.profiler import NO_SAMPLES, Profiler
from storebench.protocol.profiles import stacks_of, unpacked
from storebench.study.observing import CPU

# An attempt whose work burns CPU in this process and in a child process. The argument is the run's parameter `profile`.
PROGRAM = """
import subprocess, sys, time
from storebench.attempt import run
from storebench.attempt.clock import OperationClock, PhaseClock
from storebench.attempt.spec import AttemptSpec
from storebench.stores.base import Durability, Server, Store

def burn(seconds):
    until_s = time.process_time() + seconds
    while time.process_time() < until_s:
        pass

def burn_before(): burn(0.3)
def burn_in_the_window(): burn(0.6)
def sleep_in_the_window(): time.sleep(0.4)
def burn_after(): burn(0.3)

CHILD = 'import time\\ndef burn_in_the_child():\\n  while time.process_time() < 1.0: pass\\nif input() == "go": burn_in_the_child()'

class Burning(Store):
    name, operations, dropped, packages = "burning", ("burn",), False, ()
    def connect(self): pass
    def drop(self): pass
    def describe(self): return Server("Server", "7", {})
    def server_processes(self): return {}
    def operate(self, attempt):
        child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE)
        burn_before()
        with attempt.measuring(clock := OperationClock()), attempt.operation(), clock.operation():
            child.stdin.write(b"go")
            child.stdin.close()
            burn_in_the_window()
            sleep_in_the_window()
            child.wait()
        burn_after()
        attempt.durability(Durability("memory", "w=1"))
        return "done"

spec = AttemptSpec(
    operation="burn", cell_key="s/burning/reference/rows=1/seed=42", study="s", store="burning", client="reference", target="t", bucket="b",
    dataset=None, results="r", axes={}, rows=1, seed=42, options={"profile": sys.argv[1]},
)
attempt = run.Attempt(spec, Burning, PhaseClock())
attempt.run()
assert sys.argv[1] != "off" or "storebench.attempt.profiler" not in sys.modules
print("\\n" + attempt.result.to_json())
"""
WITHOUT_CAPABILITIES = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
# Refuses system calls, and becomes the program of the further arguments. The first argument: the numbers of the system calls.
REFUSING = """
import ctypes, os, struct, sys
numbers = [int(number) for number in sys.argv[1].split(",")]
jumps = [(0x15, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
program = [(0x20, 0, 0, 0), *jumps, (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Filter(len(program), ctypes.addressof(code))), 0, 0) == 0
os.execvp(sys.argv[2], sys.argv[2:])
"""
X86 = platform.machine() == "x86_64"
READ_MEMORY, TRACE = (310, 101) if X86 else (270, 117)  # process_vm_readv and ptrace


OUTSIDE = {"burn_before", "burn_after", "Attempt.operation", "operation"}  # of the window


def functions_of(stacks):
    """Return the number of samples of each function, with the functions that it called."""
    functions = Counter()
    for stack, samples in stacks.items():
        functions.update({frame.split(" ")[0]: samples for frame in {*stack.split(";")}})
    return functions


def profiles_of(profile, *refused):
    """Run the program as a container with all capabilities dropped does. `refused`: the numbers of system calls that its runtime refuses.

    Return the profiles of its result.
    """
    command = [sys.executable, "-c", PROGRAM, profile]
    if os.geteuid() == 0:
        command = [*WITHOUT_CAPABILITIES, *command]
    if refused:
        command = [sys.executable, "-c", REFUSING, ",".join(map(str, refused)), *command]
    environment = {**os.environ, "STOREBENCH_CONN_S3": "{}"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=100, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])["profiles"]


def test_a_profile_has_the_functions_that_burn_cpu_in_the_window_of_this_process_and_of_a_child():
    # containerd's default filter refuses the call before its version 1.7
    (name, profile), *others = profiles_of("cpu", READ_MEMORY).items()
    assert (name, others) == ("python", [])
    assert profile.get("unknown") is None
    assert profile["sampler"].startswith("py-spy") and profile["hz"] == 100
    stacks = stacks_of(unpacked(base64.b64decode(profile["stacks"])))
    functions = functions_of(stacks)
    assert functions["burn_in_the_window"] > 20 < functions["burn_in_the_child"]
    assert functions["sleep_in_the_window"] < 5, "a thread that sleeps uses no CPU"
    assert functions.keys().isdisjoint(OUTSIDE)
    most, _ = max(
        ((stack, n) for stack, n in stacks.items() if "process " not in stack), key=lambda item: item[1]
    )
    assert most.split(";")[-1].startswith("burn ("), "the function that burns is the innermost"
    child = next(stack for stack in stacks if "burn_in_the_child" in stack)
    assert child.startswith("process python") and "import time" not in child, "no arguments of the child"
    assert profile["samples"] == sum(stacks.values()) and profile["dropped_samples"] == 0


def test_a_profile_of_wall_time_has_the_functions_that_sleep_in_the_window():
    (name, profile), *others = profiles_of("wall").items()
    assert (name, others) == ("python_wall", [])
    stacks = stacks_of(unpacked(base64.b64decode(profile["stacks"])))
    functions = functions_of(stacks)
    assert functions["sleep_in_the_window"] > 20 < functions["burn_in_the_window"]
    assert functions.keys().isdisjoint(OUTSIDE)
    (sleeping,) = [stack for stack in stacks if "sleep_in_the_window" in stack]
    assert sleeping.split(";")[-1].startswith("sleep_in_the_window ("), "a native call has no frame"


def test_a_runtime_that_refuses_all_tracing_gives_a_reason_and_fails_nothing():
    profile = profiles_of("cpu", READ_MEMORY, TRACE)["python"]
    assert "stacks" not in profile
    assert profile["unknown"].startswith("py-spy did not begin (does the container forbid tracing?)")


def test_without_the_parameter_nothing_is_sampled():
    assert profiles_of("off") == {}


def test_a_child_whose_command_has_semicolons_and_line_breaks_is_named_by_its_program():
    raw = (  # as py-spy writes stacks of several processes
        'process 7:"python -m a";process 9:"/opt/bin/python -c import a\nimport b; b.main()" 4\n'
        'process 7:"python -m a" 1\n'
        'process 7:"python -m a";<module> (a.py) 3\n'
        'process 7:"python -m a";process 9:"/opt/bin/python -c import a\nimport b; b.main()";main (b.py);send (b.py) 2\n'
        'process 7:"python -m a";<module> (a.py);Attempt.operation (storebench/attempt/run.py);wait (c.py) 5\n'
    )
    assert profiler._of_operation(raw, 7) == {
        "process python": 4,  # it has no function yet
        "<module> (a.py)": 3,
        "process python;main (b.py);send (b.py)": 2,
    }


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (None, "the image has no py-spy"),
        (
            "echo 'Error: Permission Denied'; exit 1",
            "py-spy did not begin (does the container forbid tracing?): Error: Permission Denied",
        ),
        (
            "echo Sampling process; trap 'exit 0' INT; while :; do sleep 0.01; done",
            "py-spy left no stacks: No such file",
        ),
    ],
)
def test_a_sampler_that_fails_gives_its_reason(program, reason, tmp_path, monkeypatch):
    if program:
        fake = tmp_path / "py-spy"
        fake.write_text(f"#!/bin/sh\n{program}\n")
        fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    sampler = Profiler(CPU)
    sampler.begin()
    sampler.end()
    profile = sampler.taken()["python"]
    assert profile["unknown"].startswith(reason) and "stacks" not in profile


def test_a_profile_without_samples_or_without_an_operation_says_so(monkeypatch):
    assert Profiler(CPU).taken()["python"]["unknown"] == "the operation did not begin"
    sampler = Profiler(CPU)
    monkeypatch.setattr(sampler, "_stacks", Counter)
    sampler._unknown = None
    assert sampler.taken()["python"]["unknown"] == NO_SAMPLES
