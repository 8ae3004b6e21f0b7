"""Parquet files of strangers: their columns, and their records in batches of bounded size.

`parquet_worker.py` decodes in a process of its own. The decoded size stays in proportion to the file's size.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from cocite.errors import BadSource
from cocite.sources import parquet_worker
from cocite.sources.compressed import FREE_OUTPUT, MAX_RATIO
from cocite.sources.records import ReadReport

BATCH_ROWS = 1 << 16
BATCH_ENCODED_BYTES = 8 << 20
"""Encoded bytes of a row group read at a time: 140,000 plain links. Where a dictionary makes an address two bytes or
less, these are some millions of links and 200 MB."""
PIPE_BYTES = 1 << 20  # not all systems have so large ones
MEMORY_SETTINGS = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # others reserve more than they use
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),  # else the system would clear the memory of each batch anew
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}
DAMAGED_GROUP = "damaged row group of a Parquet file"


class Worker:
    """A process that answers each request, a line of JSON, by an Arrow stream and then a line of JSON."""

    def __init__(self, *program: str) -> None:
        command, pipe = [sys.executable, "-P", *program], subprocess.PIPE
        environment = {**os.environ, **MEMORY_SETTINGS}
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment, pipesize=PIPE_BYTES
        )

    def send(self, message: Any) -> None:
        """Send a request, or what the process needs to know before the first one."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def batches(self, request: Any) -> Iterator[pa.RecordBatch]:
        """The batches of an answer. Raises what pyarrow raises for a stream that ends early, and OSError."""
        assert self.process.stdout is not None
        self.send(request)
        with pa.ipc.open_stream(self.process.stdout) as stream:
            yield from stream

    def said(self) -> dict[str, Any]:
        """What the process says after the batches, such as what was skipped."""
        assert self.process.stdout is not None
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        return said

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        with suppress(OSError):
            self.process.communicate()


_idle: list[Worker] = []
os.register_at_fork(after_in_child=_idle.clear)  # two processes can't share a worker


def open_parquet(path: Path) -> Any:
    """Open a Parquet file, for its schema and its row groups."""
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path, pre_buffer=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        why = " ".join(str(error).split())[:150]
        raise BadSource(
            f"{path.name} is an incomplete or damaged Parquet file ({why}): write or copy it again"
        ) from error


def parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file."""
    with open_parquet(path) as file:
        return list(file.schema_arrow.names)


def row_groups(
    file: Any, path: Path, columns: list[str], rows: int | None, report: ReadReport
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of all row groups, of `rows` rows or of bounded size. What can't be decoded is counted."""
    total, produced = path.stat().st_size, 0
    bytes_per_row = total / max(1, file.metadata.num_rows)
    count = file.metadata.num_row_groups
    for number in range(count):
        group = file.metadata.row_group(number)
        # The sizes of single columns would be more exact, but reading them from a damaged file ends the process.
        encoded = max(1, group.total_byte_size / max(1, group.num_rows))
        size = rows or max(1, min(BATCH_ROWS, int(BATCH_ENCODED_BYTES / encoded)))
        request = {"path": str(path.absolute()), "group": number, "last": number == count - 1}
        request |= {"rows": size, "columns": columns}
        worker, done = _idle.pop() if _idle else Worker(parquet_worker.__file__), False
        try:
            for batch in worker.batches(request):
                report.read["bytes"] += int(batch.num_rows * bytes_per_row)
                produced += batch.nbytes
                yield batch
                if produced > max(FREE_OUTPUT, MAX_RATIO * total):
                    report.skip(f"Parquet file that expands over {MAX_RATIO} times: stopped", path.name)
                    return
            said, done = worker.said(), True
            if said["failure"]:
                report.skip(DAMAGED_GROUP, f"{path.name}: {said['failure']}")
            if said["skipped"]:
                report.skip(
                    f"record larger than {parquet_worker.MAX_RECORD_BYTES >> 20} MiB", path.name, said["skipped"]
                )
        except (pa.ArrowException, OSError, ValueError):  # the process has ended
            report.skip(DAMAGED_GROUP, f"{path.name}: its decoder ended")
        finally:
            if done:
                _idle.append(worker)
            else:
                worker.end()


def rows_of(batch: pa.RecordBatch, report: ReadReport) -> Iterator[dict[str, Any]]:
    """Yield the rows of a batch. A value that Python can't have is None, and counted: text that isn't UTF-8, a date of
    the year 12,000."""
    columns = [_values_of(column, name, report) for name, column in zip(batch.schema.names, batch.columns, strict=True)]
    for values in zip(*columns, strict=True):
        yield dict(zip(batch.schema.names, values, strict=True))


def _values_of(column: pa.Array, name: str, report: ReadReport) -> list[Any]:
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException):
        pass
    values = []
    for item in column:
        try:
            values.append(item.as_py())
        except (ValueError, OverflowError, pa.ArrowException) as error:
            report.skip("value that can't be read", f"{name}: {error}"[:100])
            values.append(None)
    return values
