"""Read many Markdown files in several processes: python -P -m cocite.sources.collections.note_workers

A note takes half a millisecond of Python, and a vault has thousands. Each process gets files in chunks, and the names
of all notes once. Requests are lines of JSON. An answer is a line of JSON with the counts, then an Arrow stream of
records. The pages come in the order of the files, as in one process.

These are programs of their own, not children of `multiprocessing`: a script without `if __name__ == "__main__"` may
call `build`.
"""

import json
import subprocess
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
from cocite.sources.arrow_batches import merge_small_batches
from cocite.sources.kinds import ReadOptions, SourceFolder
from cocite.sources.records import ReadReport
from cocite.sources.wikis.notes import Notes
from cocite.system import usable_cores

MIN_FILES = 5000  # fewer are read sooner than processes start, which takes half a second of each core
CHUNK_FILES, CHUNK_BYTES = 100, 1 << 20
MAX_PROCESSES = 8


class NoteReader:
    """A process that reads files."""

    def __init__(self, settings: bytes) -> None:
        command = [sys.executable, "-P", "-m", __name__]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        with suppress(OSError):  # one that has ended is noticed when it is asked
            self._write(settings)

    def _write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self, paths: list[str]) -> tuple[dict[str, Any], list[pa.RecordBatch]]:
        """The counts and records of some files. Raises OSError, ValueError or ArrowException if the process ended."""
        assert self.process.stdout is not None
        self._write(json.dumps(paths).encode())
        said = json.loads(self.process.stdout.readline())
        with pa.ipc.open_stream(self.process.stdout) as stream:
            return said, list(stream)

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        with suppress(OSError):
            self.process.communicate()


def processes_for(files: int) -> int:
    """How many processes should read so many files; 0 for none but this one."""
    cores = usable_cores()
    return 0 if files < MIN_FILES or cores == 1 or not sys.executable else min(cores, MAX_PROCESSES)


def read_in_processes(
    files: list[Path], count: int, folder: SourceFolder, report: ReadReport, options: ReadOptions
) -> Iterator[pa.RecordBatch]:
    """Yield the records of Markdown files of a folder, read by `count` processes."""
    given: dict[str, Any] = {"folder": str(folder.path.absolute()), "base": options.base, "text": options.text}
    given |= {"strict": report.strict, "aliases": folder.know(Notes).aliases}
    settings = json.dumps(given).encode()
    idle, workers = SimpleQueue[NoteReader](), list[NoteReader]()
    for _ in range(count):
        workers.append(NoteReader(settings))
        idle.put(workers[-1])

    def read(paths: list[str]) -> tuple[dict[str, Any], list[pa.RecordBatch]]:
        worker = idle.get()
        try:
            return worker.read(paths)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise BadSource(f"A process that read {folder.path} ended: is there enough memory?") from error
        finally:
            idle.put(worker)

    pool, running = ThreadPoolExecutor(count), deque[Future[tuple[dict[str, Any], list[pa.RecordBatch]]]]()
    waiting = chunks_of(files, folder.path)
    try:
        while True:
            running.extend(pool.submit(read, paths) for paths in islice(waiting, 2 * count - len(running)))
            if not running:
                return
            said, found = running.popleft().result()
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


def chunks_of(files: list[Path], folder: Path) -> Iterator[list[str]]:
    """The paths of files in chunks of bounded size."""
    paths, size = list[str](), 0
    for file in files:
        paths.append(file.relative_to(folder).as_posix())
        with suppress(OSError):  # it is gone; the process that reads it counts it
            size += file.stat().st_size
        if len(paths) >= CHUNK_FILES or size >= CHUNK_BYTES:
            yield paths
            paths, size = [], 0
    if paths:
        yield paths


def main(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until there are no more."""
    from cocite.sources.collections.markdown import read_files

    given = json.loads(requests.readline())
    path = Path(given["folder"])
    folder = SourceFolder(path, {Notes: Notes(path, given["aliases"])})
    for line in requests:
        report, failure, found = ReadReport(given["strict"]), "", list[pa.RecordBatch]()
        files = [path / name for name in json.loads(line)]
        try:
            pages = read_files(files, path, given["base"], folder, report)
            found = list(merge_small_batches(pages, given["text"]))
        except BadSource as error:
            failure = str(error)
        skipped = {} if failure else report.skipped
        said = {"read": report.read, "skipped": skipped, "example": report.example, "failure": failure}
        answers.write(json.dumps(said).encode() + b"\n")
        with pa.ipc.new_stream(answers, found[0].schema if found else pa.schema([])) as writer:
            for batch in found:
                writer.write_batch(batch)
        answers.flush()


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
