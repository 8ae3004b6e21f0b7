"""Files of a job's input, wherever they are: on disks that all workers see, in object storage, or behind a web server.

Readers read files. What is not on a disk is copied to the worker's own for as long as it is read.
"""

from __future__ import annotations

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
from urllib.request import urlopen

from cocite.errors import BadSource
from cocite.sources.compressed import open_lines
from cocite.sources.folders import walk_files
from cocite.sources.kinds import kind_of
from cocite.sources.records import ReadReport
from cocite.sources.webgraphs.files import PART

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
        raise BadSource(f"cannot open {address}: {str(error).splitlines()[0][:150]}") from error


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
            raise BadSource(f"cannot read {source}: {str(error)[:150]}") from error
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
