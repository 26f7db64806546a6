import subprocess
import sys

PROGRAM = """
import atexit, threading, time
from storebench import cli
from storebench.attempt import run

run.main = lambda: print("result") or 4
atexit.register(print, "taken apart")
threading.Thread(target=time.sleep, args=(60,)).start()
cli.main(["attempt"])
"""


def test_an_attempt_ends_with_its_code_whatever_its_clients_threads_do():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=False, capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stdout) == (4, "result\n"), done.stderr
