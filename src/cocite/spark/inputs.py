"""The input of a job: files on disks that all workers see, in object storage, or behind a web server.

Readers read files, so a file that isn't on a disk is copied to the worker's own disk while it is read. Before Spark
starts, which takes seconds, the `check_` functions see whether there is anything to read. They look only at what this
machine sees: a bare path may belong to the cluster's file system, and only workers may have credentials.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote
from urllib.request import urlopen

from cocite.errors import BadSource
from cocite.sources.compressed import open_lines
from cocite.sources.folders import is_unfinished, unfinished_folder, walk_files
from cocite.sources.kinds import kind_of
from cocite.sources.records import ReadReport
from cocite.sources.webgraphs.files import PART
from cocite.spark.session import is_local

REMOTE = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_WEB = re.compile(r"https?://", re.IGNORECASE)
TOGETHER = ("html", "webgraph")
"""Kinds of files that mean something only beside the other files of their folder."""
WAIT = 60  # seconds without a byte from a web server
PAUSES = (2, 10, 30)  # seconds before a web server is asked again: of tens of thousands of files some fail once


def no_source() -> BadSource:
    """What to say where nothing is to be read."""
    return BadSource("no source: give files, folders, or --list FILE with their names")


def not_there(source: str) -> BadSource:
    """What to say of a path that leads nowhere."""
    return BadSource(f"{source} does not exist: check the path, which every worker must see")


def expand(sources: Sequence[str], kind: str | None = None) -> list[str]:
    """What tasks are to read, one each: files, and folders whose files belong together; in the order of reading."""
    found: list[str] = []
    for source in sources:
        if _WEB.match(source):
            found.extend(_no_graph(source, [source], kind))
        elif REMOTE.match(source):
            found.extend(_no_graph(source, _remote_files(source), kind))
        else:
            found.extend(_local_files(source, kind))
    if not found:
        raise no_source()
    return found


def read_list(file: str, prefix: str = "") -> list[str]:
    """The names in a file, one a line (gzip or plain), each with a prefix before it: Common Crawl's lists of paths."""
    path = Path(file)
    if not path.is_file():
        raise BadSource(f"{file} is not a file: --list names one with a source a line")
    names = (line.decode("utf-8", "replace").strip() for line in open_lines(path, ReadReport()))
    return [prefix + name for name in names if name and not name.startswith("#")]


def _local_files(source: str, kind: str | None) -> list[str]:
    path = Path(source).absolute()
    if not path.is_dir():
        if not path.exists() and kind != "webgraph":
            raise not_there(source)
        return [str(path)]
    kinds = {str(file): kind or kind_of(file) for file in walk_files(path)}
    if kind in (*TOGETHER, "markdown") or any(each in TOGETHER for each in kinds.values()):
        return [str(path)]
    return [name for name, each in kinds.items() if each]


def _remote_files(source: str) -> list[str]:
    """The files at or below an address of object storage, without those that begin with _ or a dot."""
    from pyarrow import fs

    filesystem, path = _open(source)
    scheme = source.partition("://")[0]
    info = filesystem.get_file_info(path)
    if info.type == fs.FileType.File:
        return [source]
    if info.type == fs.FileType.NotFound:
        raise BadSource(f"{source} does not exist: check the address and the credentials")
    below = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
    names = sorted(each.path for each in below if each.type == fs.FileType.File and each.size)
    hidden = re.compile(r"(?:^|/)[._]")
    return [f"{scheme}://{name}" for name in names if not hidden.search(name[len(path) :].lstrip("/"))]


def _no_graph(source: str, files: list[str], kind: str | None) -> list[str]:
    """The same files, unless some belong to a web graph: alone, its edges would be links between mere numbers."""
    if kind == "webgraph" or (kind is None and _is_graph(files)):
        raise BadSource(
            f"{source} is a web graph, whose files are read together: copy it to a disk that every worker sees,"
            " use cocite build, or say by --kind what else it is"
        )
    return files


def _is_graph(files: list[str]) -> bool:
    """Whether files that are not on a disk name vertices, list parts, are a BVGraph, or edges with vertices beside."""
    edges: set[tuple[str, str]] = set()
    for file in files:
        folder, _, name = file.rpartition("/")
        if name.endswith(".graph"):
            return True
        named = PART.fullmatch(name)
        if named is None:  # perhaps one of the files of a folder of parts
            folder, _, parts = folder.rpartition("/")
            named = PART.fullmatch(parts)
        if named is not None:
            if named["kind"] == "vertices" or ".paths" in name:
                return True
            edges.add((folder, named["stem"]))
    return any(_has_vertices(*each) for each in edges)


def _has_vertices(folder: str, stem: str) -> bool:
    """Whether a folder has vertices of that name; if it does not tell, as no web server does, there are none."""
    from pyarrow import fs

    if _WEB.match(folder):
        return False
    try:
        filesystem, path = _open(folder)
        names = [PART.fullmatch(each.base_name) for each in filesystem.get_file_info(fs.FileSelector(path))]
    except (BadSource, OSError):
        return False
    return any(named is not None and (named["kind"], named["stem"]) == ("vertices", stem) for named in names)


def _open(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it; Hadoop's s3a is S3."""
    from pyarrow import fs

    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(re.sub("^s3[an]:", "s3:", address))
        return found
    except (OSError, ValueError) as error:
        raise BadSource(f"Cannot open {address}: {str(error).splitlines()[0][:150]}") from error


@contextmanager
def on_disk(source: str) -> Iterator[str]:
    """A path by which readers can read a source, while the context lasts."""
    if not REMOTE.match(source):
        yield source
        return
    folder = tempfile.mkdtemp(prefix="cocite-source-")
    try:
        copy = Path(folder) / (source.rstrip("/").rpartition("/")[2] or "source")
        try:
            _copy(source, copy)
        except (OSError, HTTPException) as error:
            raise BadSource(f"Cannot read {source}: {str(error)[:150]}") from error
        yield str(copy)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(source: str, to: Path) -> None:
    """Copy a file that is not on a disk; object storage is asked again by PyArrow, web servers here."""
    if not _WEB.match(source):
        filesystem, path = _open(source)
        with to.open("wb") as out, filesystem.open_input_stream(path) as stream:
            shutil.copyfileobj(stream, out, 1 << 20)
        return
    for pause in PAUSES:
        try:
            return _fetch(source, to)
        except HTTPError as error:
            if error.code != 429 and error.code < 500:
                raise  # it will say the same again
        except (OSError, HTTPException):
            pass
        time.sleep(pause)
    _fetch(source, to)


def _fetch(source: str, to: Path) -> None:
    with to.open("wb") as out:
        with urlopen(source, timeout=WAIT) as answer:
            shutil.copyfileobj(answer, out, 1 << 20)
            wanted = answer.headers.get("Content-Length")
        if wanted is not None and out.tell() != int(wanted):
            raise OSError(f"{out.tell():,} bytes came instead of {int(wanted):,}")


PARQUET = b"PAR1"
SHARDS_DONE = "_store.json"  # written by `cocite spark store` when it is done


def no_records(place: str, file: str = "") -> BadSource:
    """What to say of records that are none."""
    found = f": {file} is no Parquet file" if file else ""
    return BadSource(f"{place} holds no page records as Parquet{found}; make them with cocite spark pages")


def no_shards(place: str, why: str = "") -> BadSource:
    """What to say of shards that are none, or no longer whole."""
    return BadSource(f"{place} holds no shards that are whole{why and f' ({why})'}: make them with cocite spark store")


def check_sources(sources: Sequence[str], kind: str | None) -> None:
    """Whether files and folders to read are there; what is not on a disk is looked for by the job."""
    if not sources:
        raise no_source()
    for source in sources:
        if kind != "webgraph" and not REMOTE.match(source) and not Path(source).exists():
            raise not_there(source)


def check_records(place: str, master: str | None) -> None:
    """Whether a place is whole and holds Parquet files, and nothing else that Spark would read as such."""
    path = _seen(place, master)
    if path is None:
        return
    if not path.exists():
        raise BadSource(f"{place} does not exist: give the folder that cocite spark pages made")
    count = 0
    for file in _data(path):
        count += 1
        with file.open("rb") as stream:
            start = stream.read(len(PARQUET))
            stream.seek(max(0, file.stat().st_size - len(PARQUET)))
            if start != PARQUET or stream.read() != PARQUET:
                raise no_records(place, file.name)
    if not count:
        raise no_records(place)


def check_shards(place: str, master: str | None) -> None:
    """Whether a place holds what `cocite spark store` notes when it is done."""
    path = _seen(place, master)
    if path is not None and not (path / SHARDS_DONE).is_file():
        raise no_shards(place)


def _seen(place: str, master: str | None) -> Path | None:
    """The path of a place that the job will see as this process does; None if that is not sure."""
    if found := re.match("file:/+", place):
        return Path("/" + unquote(place[found.end() :]))
    return Path(place) if is_local(master) and not REMOTE.match(place) else None


def _data(path: Path) -> list[Path]:
    """The files that Spark reads: all but those with, or below, names that begin with _ or a dot.

    Nothing is read of a folder that is not whole.
    """
    if path.is_file():
        return [path]
    found = []
    for place, folders, names in os.walk(path):
        if is_unfinished(Path(place), folders, names):
            raise unfinished_folder(place)
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        found += [Path(place, name) for name in sorted(names) if name[0] not in "._"]
    return found
