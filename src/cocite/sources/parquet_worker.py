"""A program that reads row groups of Parquet files within bounded memory: python -P parquet_worker.py

A file of 600 bytes can describe gigabytes: one text, repeated by a run length, or one record with a billion links.
Arrow has no limit of its own, and it ends the process for some damaged files. So this is a process of its own, with a
limit. Standard input has one request per line, as JSON; each is answered by an Arrow stream, and then by a line of JSON
with what was skipped. It imports nothing of cocite: it must start quickly.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

MEMORY_BYTES = 1 << 30  # beyond what the libraries take
MAX_RECORD_BYTES = 128 << 20
BATCH_BYTES = 64 << 20


def main(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until there are no more."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    limit_memory()
    path, file = "", None  # the file of the last request, unless that was the last for it
    for line in requests:
        request, failure, skipped, writer = json.loads(line), "", [0], None
        try:
            if file is None or path != request["path"]:  # without pre_buffer, pages are held instead of whole chunks
                path = request["path"]
                file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20, page_checksum_verification=True)
            groups, columns = [request["group"]], request["columns"]
            for batch in file.iter_batches(request["rows"], row_groups=groups, columns=columns, use_threads=False):
                for part in parts_of(batch, skipped):
                    writer = writer or pa.ipc.new_stream(answers, batch.schema)
                    writer.write_batch(part)
        except MemoryError:
            failure, file = f"it needs over {MEMORY_BYTES >> 20} MiB of memory", None
        except BrokenPipeError:
            return
        except (pa.ArrowException, OSError, ValueError) as error:
            failure, file = " ".join(str(error).split())[:150], None
        if file is not None and request["last"]:
            file.close()
            file = None
        writer = writer or pa.ipc.new_stream(answers, pa.schema([]))
        writer.close()
        answers.write(json.dumps({"failure": failure, "skipped": skipped[0]}).encode() + b"\n")
        answers.flush()


def parts_of(batch: Any, skipped: list[int]) -> Iterator[Any]:
    """A batch in parts of bounded size. Records that are too large alone are counted."""
    if batch.nbytes <= BATCH_BYTES or (batch.num_rows <= 1 and batch.nbytes <= MAX_RECORD_BYTES):
        yield batch
    elif batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from parts_of(batch.slice(0, half), skipped)
        yield from parts_of(batch.slice(half), skipped)
    else:
        skipped[0] += 1


def limit_memory() -> None:
    """Limit the address space, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 (pathlib takes longer to import)
            taken = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY_BYTES, taken + MEMORY_BYTES))


if __name__ == "__main__":
    given, taken = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not part of an answer
    main(given, taken)
    sys.exit()
