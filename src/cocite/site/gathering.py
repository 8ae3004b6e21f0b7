"""All pages of a folder, read by several processes; those that did not change since the last time from a cache."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cocite.site.reading import Read, read_page
from cocite.site.stamps import MAX_CONTENT, Cache, Files, Stamp, digest_of
from cocite.sources.folders import address_under

if TYPE_CHECKING:
    from cocite.graph.generation import Progress

ALONE = 200
"""Pages up to which starting processes takes longer than reading."""
CHUNK = 32


class Gathered(NamedTuple):
    """All pages of a folder."""

    pages: dict[str, Read]  # by their paths in the folder, sorted
    stamps: dict[str, Stamp]
    read: int  # of them, now
    unreadable: dict[str, str]


def gather(
    folder: Path, base: str, files: Files, stamps: Mapping[str, Stamp], cache: Cache, progress: Progress
) -> Gathered:
    """Read what is new or changed, take the rest from the cache; it is kept at once, whatever comes after."""
    kept = cache.pages() if stamps else {}
    pages = {path: kept[stamp.digest] for path, stamp in stamps.items() if stamp.digest in kept}
    stamps = {path: stamps[path] for path in pages}
    todo = [path for path in files.found if path not in pages]
    unreadable: dict[str, str] = {}
    for path, digest, page in _read_all(folder, base, todo, progress):
        if isinstance(page, Read):
            pages[path], stamps[path] = page, Stamp(*files.found[path], digest)
        else:
            unreadable[path] = page
    pages = {path: pages[path] for path in files.found if path in pages}
    stamps = {path: stamps[path] for path in pages}
    if todo:
        cache.keep(stamps, {stamps[path].digest: read for path, read in pages.items()})
    return Gathered(pages, stamps, len(todo) - len(unreadable), unreadable)


Told = tuple[str, str, Read | str]
"""A path, the fingerprint of its content, and what was read, or why it could not be."""


def _read_all(folder: Path, base: str, paths: list[str], progress: Progress) -> Iterator[Told]:
    chunks = [paths[at : at + CHUNK] for at in range(0, len(paths), CHUNK)]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(paths) <= ALONE or cores == 1:
        for chunk in chunks:
            yield from _read_some(folder, base, chunk)
            progress("reading pages", len(chunk), len(paths))
        return
    pool = ProcessPoolExecutor(min(cores, 8), get_context("spawn"), _begin)
    try:
        waiting = [pool.submit(_read_some, folder, base, chunk) for chunk in chunks]
        for future in waiting:
            told = future.result()
            yield from told
            progress("reading pages", len(told), len(paths))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _read_some(folder: Path, base: str, paths: list[str]) -> list[Told]:
    return [_read_one(folder, base, path) for path in paths]


def _read_one(folder: Path, base: str, path: str) -> Told:
    try:
        with (folder / path).open("rb") as file:
            content = file.read(MAX_CONTENT)
    except OSError as error:
        return path, "", error.strerror or str(error)
    return path, digest_of(content, path), read_page(content, address_under(base, folder, folder / path))


def _begin() -> None:
    """In a process of its own: Ctrl-C is for the one that started it, and without that one it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
