"""Read many Markdown files in several processes: python -P -m cocite.sources.collections.note_workers

A note takes half a millisecond of Python, and a vault has thousands. Each process gets files in chunks, and the names
of all notes once. An answer is an Arrow stream of records, then a line of JSON with the counts. The pages come in
the order of the files, as in one process.

These are programs of their own, not children of `multiprocessing`: a script without `if __name__ == "__main__"` may
call `build`.
"""

import json
import os
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

import pyarrow as pa

from cocite.errors import BadSource
from cocite.processes import WithoutPandas
from cocite.sources.arrow_batches import merge_small_batches
from cocite.sources.kinds import ReadOptions, SourceFolder
from cocite.sources.parquet import Worker
from cocite.sources.records import ReadReport
from cocite.sources.wikis.notes import Notes
from cocite.system import usable_cores

MIN_FILES = 5000  # fewer are read sooner than processes start, which takes half a second of each core
CHUNK_FILES, CHUNK_BYTES = 100, 1 << 20
MAX_PROCESSES = 8


def processes_for(files: int) -> int:
    """How many processes should read so many files; 0 for none but this one."""
    cores = usable_cores()
    return 0 if files < MIN_FILES or cores == 1 or not sys.executable else min(cores, MAX_PROCESSES)


def read_in_processes(
    files: list[str], count: int, folder: SourceFolder, report: ReadReport, options: ReadOptions
) -> Iterator[pa.RecordBatch]:
    """Yield the records of Markdown files of a folder, given by path in it, read by `count` processes."""
    idle, workers = SimpleQueue[Worker](), [Worker("-m", __name__) for _ in range(count)]

    def read(paths: list[str]) -> tuple[list[pa.RecordBatch], dict[str, Any]]:
        worker = idle.get()
        try:
            return list(worker.batches(paths)), worker.said()
        except (OSError, ValueError, pa.ArrowException) as error:
            raise BadSource(f"A process that read {folder.path} ended: is there enough memory?") from error
        finally:
            idle.put(worker)

    pool, running = ThreadPoolExecutor(count), deque[Future[tuple[list[pa.RecordBatch], dict[str, Any]]]]()
    waiting = chunks_of(files, folder.path)
    try:
        given: dict[str, Any] = {"folder": str(folder.path.absolute()), "base": options.base, "text": options.text}
        given |= {"strict": report.strict, "mentions": options.mentions}
        given["aliases"] = folder.know(Notes).aliases  # meanwhile the processes start
        for worker in workers:
            with suppress(OSError):  # one that has ended is noticed when it is asked
                worker.send(given)
            idle.put(worker)
        while True:
            running.extend(pool.submit(read, paths) for paths in islice(waiting, 2 * count - len(running)))
            if not running:
                return
            found, said = running.popleft().result()
            report.read.update(said["read"])
            for reason, number in said["skipped"].items():
                report.skip(reason, said["example"].get(reason, ""), number)
            if said["failure"]:
                raise BadSource(said["failure"])
            yield from found
    finally:
        for worker in workers:
            worker.end()
        pool.shutdown(wait=True, cancel_futures=True)


def chunks_of(files: list[str], folder: Path) -> Iterator[list[str]]:
    """The paths of files in chunks of bounded size."""
    paths, size = list[str](), 0
    for file in files:
        paths.append(file)
        with suppress(OSError):  # it is gone; the process that reads it counts it
            size += os.stat(f"{folder}/{file}").st_size  # noqa: PTH116 - a third of the time of Path.stat
        if len(paths) >= CHUNK_FILES or size >= CHUNK_BYTES:
            yield paths
            paths, size = [], 0
    if paths:
        yield paths


def main(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until there are no more."""
    from cocite.sources.collections.markdown import read_files

    WithoutPandas.install()
    given = json.loads(requests.readline())
    path = Path(given["folder"])
    folder = SourceFolder(path, {Notes: Notes(path, given["aliases"])})
    for line in requests:
        report, failure, found = ReadReport(given["strict"]), "", list[pa.RecordBatch]()
        try:
            pages = read_files(json.loads(line), given["base"], folder, report, given["mentions"])
            found = list(merge_small_batches(pages, given["text"]))
        except BadSource as error:
            failure = str(error)
        skipped = {} if failure else report.skipped
        said = {"read": report.read, "skipped": skipped, "example": report.example, "failure": failure}
        with pa.ipc.new_stream(answers, found[0].schema if found else pa.schema([])) as writer:
            for batch in found:
                writer.write_batch(batch)
        answers.write(json.dumps(said).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
