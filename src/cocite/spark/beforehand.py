"""What can be told before Spark is started, which takes seconds: whether there is anything to read.

Only of what this machine sees: elsewhere a bare path may be of the cluster's own file system, and object storage asks
for credentials that perhaps only workers have. There the job itself says it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from cocite.errors import BadSource
from cocite.sources.folders import is_unfinished, unfinished_folder
from cocite.spark.inputs import REMOTE, no_source, not_there
from cocite.spark.session import is_local

PARQUET = b"PAR1"


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
    from cocite.spark.store import DONE

    path = _seen(place, master)
    if path is not None and not (path / DONE).is_file():
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
