"""Jobs of each format and benchmark as processes, as in an attempt, and jobs with invalid bytes."""

import io
import pickle
import subprocess
import sys

import pytest

from storebench.errors import SpecError, StoreRefused
from storebench.stores.map_formats.check import digest
from storebench.stores.map_formats.common import INTERFACES
from storebench.stores.map_formats.formats import FORMATS, format_of
from storebench.stores.map_formats.runner import PYTHON, Jobs
from storebench.stores.map_formats.tables import VALUES, benchmark_of
from storebench.stores.map_formats.verify import verify
from tests.unit.stores.map_formats.checking import checked

SEED, PART = 7, 3
MODIFY, NARROW, WIDE = map(benchmark_of, ("modify", "narrow", "wide"))


def encoded(name, bench, rows):
    sink = io.BytesIO()
    format_of(name, bench).encode(bench.table, bench.input(rows, SEED, PART), sink)
    return sink.getvalue()


def run(name, bench, rows, inputs, timeout_s=60, interface="direct"):
    numbers = bench.part(rows, PART)

    def command(part, report):
        numbered = (str(number) for number in (numbers.start, numbers.stop, report))
        return *PYTHON, name, bench.name, *numbered, bench.position, interface, "row"

    return Jobs(2, timeout_s).run(inputs, command)


def wrong(name, bench, rows, output):
    return verify(
        name, "python", bench, "output", rows, SEED, PART, digest(bench.expected(rows, SEED, PART)), output
    )


# test_maps.py has all formats, benchmarks and axes without processes.
@pytest.mark.parametrize(
    ("name", "bench", "interface"),
    [
        ("yson", benchmark_of("narrow"), "common"),
        ("skiff", benchmark_of("extend", "few", "middle"), "direct"),
        ("protobuf_dynamic", benchmark_of("write"), "direct"),
        ("arrow", benchmark_of("extend", "few", "middle"), "common"),
    ],
    ids=["yson", "skiff", "protobuf_dynamic", "arrow"],
)
def test_a_job_has_the_rows_of_the_plain_definition(name, bench, interface):
    rows = 1_000
    given = b"" if bench.name == "write" else encoded(name, bench, rows)
    (ended,) = run(name, bench, rows, [given], interface=interface)
    assert wrong(name, bench, rows, ended.output) == ""
    assert ended.seconds > 0 and ended.start_s > 0 and ended.cpu_s > 0 and ended.memory_peak_bytes > 10 << 20


def test_of_the_rows_of_another_job_it_says_what_differs():
    (ended,) = run("yson", MODIFY, 1_000, [encoded("yson", MODIFY, 1_000)])
    other = digest(MODIFY.expected(1_000, SEED, PART + 1))
    assert "anew" in verify("yson", "python", MODIFY, "output", 1_000, SEED, PART, other, ended.output)
    said = verify("yson", "python", MODIFY, "output", 1_000, SEED, PART + 1, other, ended.output)
    assert said == "row 1, column id: 300, and not 400 (exit code 1)"


def test_rows_of_another_position_or_with_other_values_are_not_verified():
    bench = benchmark_of("extend", "few", "middle")
    output = io.BytesIO()
    format_of("skiff", bench).encode(bench.output, bench.expected(1_000, SEED, PART), output)
    others = [("extend", "few", "end"), ("extend", "random", "middle")]
    cases = [
        ("skiff", of, "output", 1_000, SEED, PART, digest(benchmark_of(*of).expected(1_000, SEED, PART)))
        for of in [("extend", "few", "middle"), *others]
    ]
    right, *wrong_ = checked([(*case, output.getvalue()) for case in cases])
    assert right == ""
    assert all(wrong_)


def test_all_jobs_are_ready_before_the_first_clock_begins(tmp_path):
    job = f"""
import json, os, sys, time
from pathlib import Path
report = os.fdopen(int(sys.argv[1]), "w")
time.sleep(0.1)
Path("{tmp_path}", sys.argv[2]).touch()
print(json.dumps({{"cpu_s": 0}}), file=report, flush=True)
sys.stdin.read()
print(len(list(Path("{tmp_path}").iterdir())))
sys.stdout.close()
print(json.dumps({{"cpu_s": 0, "memory_peak_bytes": 1}}), file=report, flush=True)
"""
    done = Jobs(2, 60).run(
        [b""] * 5, lambda part, report: [sys.executable, "-c", job, str(report), str(part)]
    )
    assert [one.output for one in done] == [b"5\n"] * 5
    assert all(one.start_s > 0.1 for one in done)


# In a process of their own, as bad bytes could be the end of it
CUTS = """
import io, pickle, sys
from storebench.stores.map_formats.job import work_of

def made(name, data, benchmark="modify", interface="direct", access="row"):
    sink = io.BytesIO()
    try:
        work_of(name, benchmark, range(0), "end", interface, access)(io.BytesIO(data), sink)
    except Exception as error:
        return None
    return sink.getvalue()

cases = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps([made(*case) for case in cases]))
"""


def made_of(cases):
    """Return the outputs of jobs for inputs, run in sequence in one process; None for a job that fails."""
    done = subprocess.run(
        [sys.executable, "-c", CUTS],
        input=pickle.dumps(cases),
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    return pickle.loads(done.stdout)


@pytest.mark.parametrize(
    ("name", "interface", "access"),
    [
        *((name, interface, "row") for name in FORMATS for interface in INTERFACES),
        ("arrow", "direct", "column"),
    ],
)
def test_a_changed_input_is_an_error_or_other_rows_and_never_a_crash(name, interface, access):
    cases = []
    for benchmark in ("narrow", "modify", "complex"):
        for values in VALUES:
            table = encoded(name, benchmark_of(benchmark, values), 600)
            for at in range(0, len(table), max(1, len(table) // 100)):
                changed = bytearray(table)
                changed[at] ^= 0xFF
                cases.append((name, bytes(changed), benchmark, interface, access))
    outputs = made_of(cases)
    assert None in outputs and any(outputs)


def test_an_input_that_is_cut_short_is_an_error():
    tables = {name: encoded(name, MODIFY, 1_000) for name in FORMATS}
    cut = [
        (name, table[: max(1, int(len(table) * share))])
        for name, table in tables.items()
        for share in (0.001, 0.4, 0.997)
    ]
    outputs = made_of([*tables.items(), *cut])
    assert None not in outputs[: len(tables)]
    wanted = digest(MODIFY.expected(1_000, SEED, PART))
    cases = [
        (name, ("modify",), "output", 1_000, SEED, PART, wanted, output)
        for (name, _), output in zip([*tables.items(), *cut], outputs, strict=True)
        if output is not None
    ]
    said = checked(cases)
    assert not any(said[: len(tables)])
    assert all(said[len(tables) :])


@pytest.mark.parametrize("bench", [MODIFY, WIDE, benchmark_of("complex")], ids=lambda bench: bench.name)
def test_the_offset_that_the_package_of_yson_names_is_in_the_reason(bench):
    table = bytearray(encoded("yson", bench, 2_000))
    second = table.index(b"};{", 100) + 2  # the row after the first one
    table[second] ^= 0xFF
    with pytest.raises(
        StoreRefused, match=rf"^Job 0 has failed: YsonError: .* offset {second}\b.*exit code 1"
    ):
        run("yson", bench, 2_000, [table])


def test_an_output_that_is_cut_or_has_a_flipped_byte_is_not_verified():
    wanted = digest(MODIFY.expected(1_000, SEED, PART))
    cases = []
    for name in FORMATS:
        whole = io.BytesIO()
        format_of(name, MODIFY).encode(MODIFY.output, MODIFY.expected(1_000, SEED, PART), whole)
        output = whole.getvalue()
        for share in (0.05, 0.6):
            place = int(len(output) * share)
            flipped = bytearray(output)
            # In Arrow a byte may be padding, which is no value: a flip of many is seen
            for at in range(place, place + 16):
                flipped[at] ^= 0x55
            cases += [(name, output), (name, output[:place]), (name, bytes(flipped))]
    said = checked(
        [(name, ("modify",), "output", 1_000, SEED, PART, wanted, output) for name, output in cases]
    )
    assert not any(said[::3])
    assert all(said[1::3]) and all(said[2::3])


def test_a_number_of_yson_that_is_of_another_type_than_its_column_is_not_verified():
    from yt.yson import YsonUint64, dumps

    ((length,),) = NARROW.expected(1_000, SEED, PART)
    cases = [
        ("yson", ("narrow",), "output", 1_000, SEED, PART, digest([(length,)]), output)
        for output in (
            dumps([{b"length": value}], yson_type="list_fragment", yson_format="binary")
            for value in (length, YsonUint64(length), float(length))
        )
    ]
    right, unsigned, real = checked(cases)
    assert right == ""
    assert "another type than its column" in unsigned and "another type than its column" in real


@pytest.mark.parametrize("client", ["python", "compiled"])
def test_protobuf_of_each_client_is_decoded_by_an_implementation_that_did_not_write_it(client):
    ((length,),) = NARROW.expected(1_000, SEED, PART)
    wanted, sink = digest([(length,)]), io.BytesIO()
    format_of("protobuf_static", NARROW).encode(NARROW.output, [(length,)], sink)
    message = sink.getvalue()[4:]

    def wrong(message):
        data = len(message).to_bytes(4, "little") + message
        return verify("protobuf_static", client, NARROW, "output", 1_000, SEED, PART, wanted, data)

    assert wrong(message) == ""
    assert "row 1, column length" in wrong(message[:-1] + bytes([message[-1] ^ 1]))
    assert "a message has fields that its table has not" in wrong(message + b"\x78\x01")
    assert "cannot be decoded" in wrong(message[:-1])


def test_the_implementation_of_protobuf_that_runs_the_jobs_does_not_verify_them():
    format_ = format_of("protobuf_static", NARROW)
    with pytest.raises(SpecError, match="'upb' may have written the rows"):
        next(format_.decode(NARROW.output, io.BytesIO(b"x")))


def test_one_job_that_fails_among_several_ends_them_all_and_is_named():
    good = encoded("protobuf_static", NARROW, 1_000)
    inputs = [good, good, good[:-2], good, good]
    with pytest.raises(
        StoreRefused, match=r"^Job 2 has failed: ValueError: Protobuf, byte [\d,]+: .*exit code 1"
    ):
        run("protobuf_static", NARROW, 1_000, inputs)


def test_a_job_that_was_ended_by_the_failure_of_another_one_is_not_the_one_that_is_named():
    says = ["import time; time.sleep(60)", "import sys; sys.exit('it is broken')"]
    with pytest.raises(StoreRefused, match=r"^Job 1 has failed: it is broken \(exit code 1\)$"):
        Jobs(2, 60).run([b"", b""], lambda part, report: [sys.executable, "-c", says[part]])


HANGS = """
import os, signal, sys, threading
from storebench.attempt.termination import raise_on_sigterm
from storebench.stores.map_formats.runner import Jobs

raise_on_sigterm()
threading.Timer(1, os.kill, (os.getpid(), signal.SIGTERM)).start()
Jobs(1, 60).run([b""], lambda part, report: [sys.executable, "-c", "import time; time.sleep(60)"])
"""


def test_a_job_that_hangs_does_not_outlive_the_attempt_that_is_told_to_end():
    done = subprocess.run(
        [sys.executable, "-c", HANGS], stderr=subprocess.PIPE, text=True, timeout=30, check=False
    )
    assert done.returncode == 1 and "The pod was told to stop before it had ended" in done.stderr


def test_a_job_that_takes_too_long_is_killed():
    with pytest.raises(StoreRefused, match=r"^Job 0 has not ended after 0.05 s: it was killed$"):
        run("yson", NARROW, 1_000, [b""], timeout_s=0.05)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("yaml", "narrow", "0", "1", "{}", "end", "direct", "row"), "Unknown format 'yaml'"),
        (("yson", "narow", "0", "1", "{}", "end", "direct", "row"), "Did you mean narrow?"),
        (
            ("yson", "narrow", "0", "1", "{}", "middle", "direct", "row"),
            "'narrow' adds no column, only 'extend' does",
        ),
        (("yson", "narrow", "0", "1", "{}", "end", "direct"), "Usage: job FORMAT BENCHMARK"),
    ],
)
def test_a_job_that_is_not_there_says_so(arguments, says):
    with pytest.raises(StoreRefused) as refused:
        Jobs(1, 60).run([b""], lambda _, report: [*PYTHON, *(one.format(report) for one in arguments)])
    assert says in str(refused.value)
