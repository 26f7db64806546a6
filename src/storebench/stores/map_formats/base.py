"""The base class of the study's stores: a format whose jobs an attempt runs and verifies."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from storebench import __version__
from storebench.attempt.cgroup import Cgroup
from storebench.attempt.clock import OperationClock
from storebench.errors import SpecError, StoreRefused, VerificationFailed, unknown
from storebench.stores.base import Pod, Server, Store, TypicalTime
from storebench.stores.map_formats.check import digest_of, digest_of_all
from storebench.stores.map_formats.common import check_interface
from storebench.stores.map_formats.formats import check_access, format_of
from storebench.stores.map_formats.network import NETWORKS
from storebench.stores.map_formats.runner import Ended, Jobs, each, program_of
from storebench.stores.map_formats.tables import JOBS, benchmark_of, key_of
from storebench.stores.map_formats.verify import verify
from storebench.study.dataset import MANIFEST

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec
    from storebench.connection import Connection

MEMORY_FOLD = (
    4  # memory relative to the table: the table, the output, a copy of either in transit, and the processes
)


class MapStore(Store):
    """A format. Its operation is a map with ten processes, each with a tenth of the table as input."""

    operations = ("map",)
    # Medians of runs with 2,000, 100,000 and 500,000 rows, without the clients that the larger runs lack
    typical: ClassVar[tuple[TypicalTime, ...]] = (
        TypicalTime("map", fixed_s=4, million_s=1),
        TypicalTime("map", fixed_s=4.5, million_s=15, client="python"),
    )
    clients: ClassVar[tuple[str, ...]] = ("python", "compiled")
    keeps_data = False
    figures_cover = "engine"
    pod = Pod("formats")
    encoding: ClassVar[str]  # the dataset's encoding of the table for this format
    _s3: Any  # client of the dataset's S3

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        store = super().of(spec, connection, s3_client)
        store._s3 = s3_client
        return store

    def connect(self) -> None:
        axes = self.values  # without axes that do not apply
        self._benchmark = benchmark_of(
            axes.get("benchmark", ""), axes.get("values", "random"), axes.get("position", "end")
        )
        self._interface = check_interface(axes.get("interface", "direct"))
        base, _, columns = self.client.partition("-")
        self._access = check_access("column" if columns else "row", self.name, self._interface)
        network = axes.get("network", "unlimited")
        if network not in NETWORKS:
            raise unknown("network", network, NETWORKS)
        self._bits_per_s = NETWORKS[network]
        self._program, self._base = program_of(base), base
        self._format = self.name.replace("-", "_")

    def describe(self) -> Server:
        return Server(self.name, __version__)

    def client_settings(self) -> Mapping[str, Any]:
        return {"jobs": JOBS, "parallel_jobs": self._parallel}

    @property
    def _parallel(self) -> int:
        return int(self.values["parallel_jobs"])

    def operate(self, attempt: Attempt) -> str:
        spec = attempt.spec
        clock = OperationClock(lambda: sum(os.times()[:4]))  # includes the jobs after their end
        with attempt.phase("prepare"):
            key = f"{spec.dataset}{MANIFEST}"
            if (text := self._read(key)) is None:
                raise StoreRefused(f"s3://{self.bucket}/{key} does not exist: the next run makes the dataset")
            manifest = json.loads(text)
            encoding = self.encoding_of(manifest)
            _check_memory(manifest["format_bytes"][encoding], Cgroup().memory_limit_bytes())
            table = self._table(str(spec.dataset), encoding, manifest["digests"][encoding])
            written = self.written(manifest, spec.rows)
        bench = self._benchmark
        how = (bench.position, self._interface, self._access)

        def command(part: int, report: int) -> Sequence[str]:
            numbers = (str(number) for number in (written[part].start, written[part].stop, report))
            return *self._program, self._format, bench.name, *numbers, *how

        jobs = Jobs(self._parallel, float(self.values["job_timeout_s"]), self._bits_per_s)
        with attempt.measuring(clock), attempt.operation(), clock.operation():
            ended = jobs.run(table, command)
        self._report(attempt, manifest["table_rows"], sum(map(len, table)), ended)
        with attempt.phase("verify"):
            return self.verified(spec, manifest, [job.output for job in ended])

    def encoding_of(self, manifest: Mapping[str, Any]) -> str:
        """Return the encoding of the table that the jobs read."""
        return self.encoding

    def written(self, manifest: Mapping[str, Any], rows: int) -> list[range]:
        """Return the row numbers of each job. `rows`: the dataset's requested number of rows."""
        return [self._benchmark.part(rows, part) for part in range(JOBS)]

    def verified(self, spec: AttemptSpec, manifest: Mapping[str, Any], outputs: Sequence[bytes]) -> str:
        """Verify the outputs of all jobs. Return the subject and way of the verification. Raises VerificationFailed."""
        bench = self._benchmark
        encoded = manifest["output_bytes_digests"][bench.position][self.encoding]
        if digest_of_all(map(digest_of, outputs)) == encoded:
            return f"the bytes of {JOBS} jobs are those of the benchmark's plain definition, as the dataset's pod has encoded them"
        wanted = manifest["output_digests"][bench.position]

        def check(part: int) -> int:
            wrong = verify(
                self._format,
                self._base,
                bench,
                "output",
                spec.rows,
                spec.seed,
                part,
                wanted[part],
                outputs[part],
            )
            if wrong:
                raise VerificationFailed(f"The output of job {part}: {wrong}")
            return 1

        count = sum(each(check, JOBS, len(os.sched_getaffinity(0))))
        how = format_of(self._format, bench).decoded_by
        return f"the rows of {count} jobs decoded by {how}; all values by the benchmark's plain definition"

    def drop(self) -> None:
        """Do nothing: nothing was stored."""

    def _report(self, attempt: Attempt, rows: int, in_bytes: int, ended: Sequence[Ended]) -> None:
        out_bytes, all_s = sum(len(job.output) for job in ended), sum(job.seconds for job in ended)
        attempt.metric("job_s", all_s / len(ended))
        attempt.metric("rows_per_s", rows / all_s)
        attempt.metric("mb_per_s", (in_bytes + out_bytes) / all_s / 1e6)
        attempt.metric("job_cpu_s", sum(job.cpu_s for job in ended) / len(ended))
        attempt.metric("job_off_cpu_s", sum(job.off_cpu_s for job in ended) / len(ended))
        attempt.metric("job_start_s", sum(job.start_s for job in ended) / len(ended))
        attempt.metric("job_memory_peak_bytes", max(job.memory_peak_bytes for job in ended))
        attempt.metric("in_bytes", in_bytes)
        attempt.metric("out_bytes", out_bytes)
        attempt.series("each_job_s", ((job.began_s, job.seconds) for job in ended))

    def _table(self, prefix: str, encoding: str, wanted: Sequence[str]) -> list[bytes]:
        """Load the input of each job into memory. Raises StoreRefused for an input that differs from the dataset's manifest."""
        if self._benchmark.name == "write":
            return [b""] * JOBS
        table = []
        for part in range(JOBS):
            key = key_of(prefix, encoding, part)
            data = self._read(key)
            if data is None or digest_of(data) != wanted[part]:
                raise StoreRefused(
                    f"s3://{self.bucket}/{key} {'is not there' if data is None else 'has other bytes than it was made of'}:"
                    f" remove s3://{self.bucket}/{prefix}{MANIFEST}, and the next run makes the dataset anew"
                )
            table.append(data)
        return table

    def _read(self, key: str) -> bytes | None:
        from storebench import s3  # a late import: jobs import this module, and would load boto3

        with s3.errors(self._s3, self.bucket, key):
            return s3.read(self._s3, self.bucket, key)


def _check_memory(table_bytes: int, limit_bytes: int | None) -> None:
    needed = MEMORY_FOLD * table_bytes
    if limit_bytes is not None and needed > limit_bytes:
        raise SpecError(
            f"The table has {table_bytes:,} bytes, for which a pod needs about {needed:,} bytes of memory, and it has"
            f" {limit_bytes:,}: give pods more (pod_memory), or ask for fewer rows"
        )
