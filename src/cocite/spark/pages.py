"""Any sources → page records as Parquet: each file is read by one task, with the reader of a single machine.

Sources are on disks that all workers see, in object storage, or behind a web server. Readers read files, so a remote
file is copied to the worker's own disk while it is read. Sources are read in groups, one after another, each into a
folder `group=…`: an interrupted job continues with the first incomplete group. The names of groups, and of files in
them, are in the order of the sources.
"""

import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pyarrow as pa
from pyarrow import fs

from cocite import __version__
from cocite.errors import BadSource
from cocite.sources.arrow_batches import to_schema
from cocite.sources.compressed import open_lines
from cocite.sources.folders import PAGES_DONE, WORK, walk_files
from cocite.sources.kinds import kind_of
from cocite.sources.open_source import open_source
from cocite.sources.records import SCHEMA, ReadReport
from cocite.sources.webgraphs.files import PART
from cocite.spark.batches import Batches, Task
from cocite.spark.outputs import REMOTE, JobFolder, OnStep

MAX_GROUPS = 100
"""At the end of each group, cores wait for the last of its tasks."""
MIN_GROUP_SOURCES, GROUP_TASKS_PER_CORE = 64, 16
"""Sources of a group at least: starting it must cost little compared to reading it."""
FOLDER_KINDS = ("html", "webgraph")
"""Kinds of sources whose files have a meaning only together with the other files of their folder."""
TIMEOUT_SECONDS = 60  # without a byte from a web server
RETRY_SECONDS = (2, 10, 30)  # pauses before retries: of tens of thousands of files some fail once
_WEB = re.compile(r"https?://", re.IGNORECASE)
_HIDDEN = re.compile(r"(?:^|/)[._]")


def write_pages(
    spark: Any,
    sources: Sequence[str],
    output: str,
    *,
    base: str | None = None,
    kind: str | None = None,
    text: bool = True,
    strict: bool = False,
    group: int = 0,
    on_step: OnStep | None = None,
) -> dict[str, Any]:
    """Read sources into a folder of page records. Return the counts of read and skipped input.

    `group` is the number of sources that are read at a time; 0 chooses one that suits the cluster.
    """
    folder, specs = JobFolder(spark, output, on_step), expand(sources, kind)
    for source in sources:
        if not REMOTE.match(source) and Path(source).is_dir():
            folder.refuse_inside(source)
    options = {"base": base, "kind": kind, "text": text, "strict": strict}
    digest = blake2b("\n".join(specs).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    done = folder.claim({"job": "pages", "sources": digest, **options, "version": __version__}, PAGES_DONE)
    if done is not None:
        return done
    cores = int(spark.sparkContext.defaultParallelism)
    group = group or max(MIN_GROUP_SOURCES, -(-len(specs) // MAX_GROUPS), GROUP_TASKS_PER_CORE * cores)
    if (groups := folder.read_json(f"{WORK}/groups.json")) is None:
        folder.write_json(f"{WORK}/groups.json", groups := {"size": group})
    size, report = groups["size"], ReadReport()  # a job that continues, perhaps on another cluster, keeps its groups
    for number, start in enumerate(range(0, len(specs), size)):
        report.merge(_write_group(folder, f"group={number:05d}", specs[start : start + size], options))
    if not report.read["records"]:
        folder.remove("")
        raise BadSource(f"The sources have no usable page record{most_skipped(report.skipped)}")
    return folder.finish(PAGES_DONE, counts_of(report))


def counts_of(report: ReadReport) -> dict[str, Any]:
    """A report as JSON."""
    return {"read": report.read, "skipped": report.skipped, "example": report.example}


def most_skipped(skipped: Counter[str]) -> str:
    """The most common reasons for skipped input, in brackets."""
    found = ", ".join(f"{count:,} × {reason}" for reason, count in skipped.most_common(3))
    return found and f" ({found})"


def report_accumulator(spark: Any) -> Any:
    """A ReadReport that tasks add to."""
    from pyspark import AccumulatorParam

    class Merging(AccumulatorParam[ReadReport]):
        def zero(self, value: ReadReport) -> ReadReport:
            return ReadReport()

        def addInPlace(self, value1: ReadReport, value2: ReadReport) -> ReadReport:
            value1.merge(value2)
            return value1

    return spark.sparkContext.accumulator(ReadReport(), Merging())


def _write_group(folder: JobFolder, name: str, specs: Sequence[str], options: dict[str, Any]) -> ReadReport:
    """Read one group, unless it and its counts are there. Return the counts."""
    from pyspark.sql.pandas.types import from_arrow_schema

    known, report = folder.read_json(f"{WORK}/{name}.json"), ReadReport()
    if known is not None:
        report.read.update(known["read"])
        report.skipped.update(known["skipped"])
        report.example = known["example"]
        return report
    folder.remove(name)  # it may be complete, but what was skipped is counted while it is made
    spark, total = folder.spark, report_accumulator(folder.spark)
    rows = spark.sparkContext.parallelize(list(enumerate(specs)), len(specs))
    records = spark.createDataFrame(rows, "place long, spec string")
    folder.step(name, records.mapInArrow(_reader(total, **options), from_arrow_schema(SCHEMA)))
    report.merge(total.value)
    folder.write_json(f"{WORK}/{name}.json", counts_of(report))
    return report


def _reader(total: Any, strict: bool, **options: Any) -> Task:
    """The function for tasks: read sources. An unreadable one is counted, as in a folder on one machine."""

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        for spec in (spec for batch in batches for spec in batch.column("spec").to_pylist()):
            report, counts = ReadReport(strict), Counter(sources=1, records=0, links=0)
            try:
                with on_disk(spec) as path:
                    for batch in open_source(path, report, **options).records():
                        records = to_schema(batch, report, dictionaries=False).cast(SCHEMA)
                        counts.update(records=records.num_rows, links=len(records.column("links").flatten()))
                        yield records
            except BadSource as error:
                if strict:
                    raise
                report.skip("file that can't be read", str(error))
            report.read.update(counts)
            total.add(report)

    return read


def check_sources(sources: Sequence[str], kind: str | None) -> None:
    """Fail if local files or folders don't exist; the job looks for others."""
    if not sources:
        raise BadSource("No source: give files, folders, or --list FILE with their names")
    for source in sources:
        if kind != "webgraph" and not REMOTE.match(source) and not Path(source).exists():
            raise BadSource(f"{source} does not exist: check the path, which every worker must see")


def read_list(file: str, prefix: str = "") -> list[str]:
    """The names in a file (gzip or plain), one per line, each after a prefix: Common Crawl's lists of paths."""
    path = Path(file)
    if not path.is_file():
        raise BadSource(f"{file} is not a file: --list names one with a source per line")
    names = (line.decode("utf-8", "replace").strip() for line in open_lines(path, ReadReport()))
    return [prefix + name for name in names if name and not name.startswith("#")]


def expand(sources: Sequence[str], kind: str | None = None) -> list[str]:
    """The sources of tasks, in reading order: files, and folders whose files belong together."""
    check_sources(sources, kind)
    found: list[str] = []
    for source in sources:
        files = _remote_files(source) if REMOTE.match(source) else _local_files(source, kind)
        if REMOTE.match(source) and (kind == "webgraph" or (kind is None and _has_graph(files))):
            raise BadSource(
                f"{source} is a web graph, whose files are read together: copy it to a disk that every worker sees,"
                " use cocite build, or name another --kind"
            )
        found += files
    if not found:
        check_sources(found, kind)
    return found


def _local_files(source: str, kind: str | None) -> list[str]:
    path = Path(source).absolute()
    if not path.is_dir():
        return [str(path)]
    kinds = {str(file): kind or kind_of(file) for file in walk_files(path)}
    if kind in (*FOLDER_KINDS, "markdown") or any(each in FOLDER_KINDS for each in kinds.values()):
        return [str(path)]
    return [name for name, each in kinds.items() if each]


def _remote_files(source: str) -> list[str]:
    """The files at or below an address of object storage, without names that begin with _ or a dot."""
    if _WEB.match(source):
        return [source]
    filesystem, path = _file_system(source)
    info = filesystem.get_file_info(path)
    if info.type == fs.FileType.File:
        return [source]
    if info.type == fs.FileType.NotFound:
        raise BadSource(f"{source} does not exist: check the address and the credentials")
    below = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
    names = sorted(each.path for each in below if each.type == fs.FileType.File and each.size)
    scheme = source.partition("://")[0]
    return [f"{scheme}://{name}" for name in names if not _HIDDEN.search(name[len(path) :].lstrip("/"))]


def _has_graph(files: list[str]) -> bool:
    """Whether remote files are a BVGraph, vertices, a list of parts, or edges with vertices beside them.

    Read one by one, the edges of a web graph would be links between mere numbers.
    """
    edges: set[tuple[str, str]] = set()
    for file in files:
        folder, _, name = file.rpartition("/")
        parent, _, folder_name = folder.rpartition("/")
        # The file itself, or the folder of parts that it is in.
        for place, found in ((folder, PART.fullmatch(name)), (parent, PART.fullmatch(folder_name))):
            if name.endswith(".graph") or (found and (found["kind"] == "vertices" or ".paths" in name)):
                return True
            if found:
                edges.add((place, found["stem"]))
                break
    return any(_has_vertices(folder, stem) for folder, stem in edges)


def _has_vertices(folder: str, stem: str) -> bool:
    """Whether a folder has vertices of that name. Web servers don't list their files, so there the answer is no."""
    if _WEB.match(folder):
        return False
    try:
        filesystem, path = _file_system(folder)
        names = [PART.fullmatch(each.base_name) for each in filesystem.get_file_info(fs.FileSelector(path))]
    except (BadSource, OSError):
        return False
    return any(name is not None and (name["kind"], name["stem"]) == ("vertices", stem) for name in names)


def _file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it; Hadoop's s3a is S3."""
    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(re.sub("^s3[an]:", "s3:", address))
        return found
    except (OSError, ValueError) as error:
        raise BadSource(f"Cannot open {address}: {str(error).splitlines()[0][:150]}") from error


@contextmanager
def on_disk(source: str) -> Iterator[str]:
    """A path of a source on disk, while the context lasts."""
    if not REMOTE.match(source):
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="cocite-source-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / (source.rstrip("/").rpartition("/")[2] or "source")
        try:
            _copy(source, copy)
        except (OSError, HTTPException) as error:
            raise BadSource(f"Cannot read {source}: {str(error)[:150]}") from error
        yield str(copy)


def _copy(source: str, to: Path) -> None:
    """Copy a remote file. PyArrow retries object storage; requests to web servers are retried here."""
    if not _WEB.match(source):
        filesystem, path = _file_system(source)
        with to.open("wb") as out, filesystem.open_input_stream(path) as stream:
            shutil.copyfileobj(stream, out, 1 << 20)
        return
    for pause in (*RETRY_SECONDS, None):
        try:
            with to.open("wb") as out, urlopen(source, timeout=TIMEOUT_SECONDS) as response:
                shutil.copyfileobj(response, out, 1 << 20)
                expected = int(response.headers.get("Content-Length", out.tell()))
            if to.stat().st_size == expected:
                return
            raise OSError(f"received {to.stat().st_size:,} bytes instead of {expected:,}")
        except (OSError, HTTPException) as error:
            is_final = isinstance(error, HTTPError) and error.code != 429 and error.code < 500
            if pause is None or is_final:
                raise
            time.sleep(pause)
