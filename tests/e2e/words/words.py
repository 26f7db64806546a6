"""Words in S3: a dataset that is no CSV, and a store one of whose operations is a shell script."""

import json
import time
from collections import Counter

from storebench import s3
from storebench.attempt.clock import OperationClock
from storebench.errors import VerificationFailed
from storebench.stores.base import Pod, Store

# Any program can be a pod: what it is told is JSON in a variable, and what it leaves is JSON in a file (docs/protocol.md).
SORT = r"""
rows=$(printf %s "$STOREBENCH_ATTEMPT" | sed 's/.*"rows":\([0-9]*\).*/\1/')
echo "phase: operation"
began=$(date +%s.%N)
sorted=$(awk -v n="$rows" 'BEGIN { srand(7); for (i = 0; i < n; i++) print "word" int(rand() * 1000) }' | sort | wc -l)
speed=$(echo "$began $(date +%s.%N) $sorted" | awk '{ printf "%f", $3 / ($2 - $1) }')
echo "phase: verify"
if [ "$sorted" = "$rows" ]; then
    result='{"version": 1, "status": "verified", "verification": "%s words sorted", "metrics": {"words_per_s": %s}}'
else
    result='{"version": 1, "status": "failed", "error_kind": "verification_failed", "error": "%s words came out, at %s a second"}'
fi
printf "$result" "$sorted" "$speed" > "${STOREBENCH_TERMINATION_LOG:-/dev/termination-log}"
"""


def make(client, bucket, prefix, rows, seed):
    """Put so many lines of words into S3, and their manifest, which is written last."""
    lines = "\n".join(f"word{(number * seed) % 1000} and {number}" for number in range(rows)).encode()
    manifest = {"rows": rows, "bytes": len(lines), "words": 3 * rows}
    with s3.errors(client, bucket, prefix):
        client.put_object(Bucket=bucket, Key=f"{prefix}words.txt", Body=lines)
        client.put_object(Bucket=bucket, Key=f"{prefix}manifest.json", Body=json.dumps(manifest).encode())
    return manifest


class Words(Store):
    """The parts are objects below `words/`."""

    name = "words"
    connection = "s3"
    operations = ("put", "count", "sort")
    figures_cover = "engine"
    pods = {"sort": Pod(command=("sh", "-c", SORT))}  # noqa: RUF012

    def connect(self):
        self._client, self._folder = s3.client_for(self.server), f"words/{self.target}/"

    def operate(self, attempt):
        clock = OperationClock()
        with attempt.phase("prepare"), s3.errors(self._client, self.bucket):
            manifest = json.loads(s3.read(self._client, self.bucket, f"{attempt.spec.dataset}manifest.json"))
            lines = s3.read(self._client, self.bucket, f"{attempt.spec.dataset}words.txt").splitlines()
        with attempt.measuring(clock), attempt.operation(), s3.errors(self._client, self.bucket):
            if self.operation == "put":
                parts = len(lines) if self.values["parts"] == "lines" else int(self.values["parts"])
                self._put(attempt, clock, lines, parts)
            else:
                with clock.operation():
                    self._words()
                attempt.metric("count_s", clock.operation_s)
        with attempt.phase("verify"), s3.errors(self._client, self.bucket):
            words = self._words()
        if words != manifest["words"]:
            raise VerificationFailed(f"{words:,} words of {manifest['words']:,}")
        return f"{words:,} words counted"

    def _put(self, attempt, clock, lines, parts):
        took_s, points, done = Counter(), [], 0
        for part in range(parts):
            body, began_s = b"\n".join(lines[part::parts]), time.perf_counter()
            with clock.operation():
                self._client.put_object(Bucket=self.bucket, Key=f"{self._folder}{part:06}", Body=body)
            took_s[round(time.perf_counter() - began_s, 4)] += 1
            done += len(body)
            points.append((clock.operation_s, done))
        attempt.metric("puts_per_s", parts / clock.operation_s)
        attempt.histogram("latency_s", took_s)
        attempt.series("progress_bytes", points)

    def _words(self):
        return sum(len(s3.read(self._client, self.bucket, key).split()) for key in self._keys())

    def drop(self):
        for key in self._keys():
            self._client.delete_object(Bucket=self.bucket, Key=key)

    def _keys(self):
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket, Prefix=self._folder
        )
        return [item["Key"] for page in pages for item in page.get("Contents", [])]
