"""The pages of a folder as page records, read by several processes; unchanged ones come from a cache."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from cocite.site.files import MAX_FILE_BYTES, Files, PageCache, Stamp, digest_of, without_related
from cocite.sources.folders import address_under
from cocite.sources.html.page import read_html
from cocite.sources.html.tokens import attributes
from cocite.sources.page_records import page_from_json, page_to_json
from cocite.sources.records import Page, ReadReport

if TYPE_CHECKING:
    from cocite.graph.generation import Progress

MIN_PAGES_FOR_PROCESSES = 200
"""Reading fewer pages takes less time than starting processes."""
CHUNK_PAGES = 32
MAX_HEAD_BYTES = 1 << 17
MAX_WISH_CHARS = 10_000
_META = re.compile(r"<meta\s([^>]*\bcocite:[^>]*)>", re.IGNORECASE)
_PREFIX = "cocite:"
"""Begins the names of <meta> by which a page says what its owner wants."""


class SitePage(NamedTuple):
    """A page of the site, and what its owner wants for it."""

    record: Page
    wishes: dict[str, str]  # by <meta name="cocite:…">

    def to_json(self) -> dict[str, Any]:
        """For the cache."""
        return {**page_to_json(self.record), "wishes": self.wishes}

    @classmethod
    def from_json(cls, line: bytes, wishes: dict[str, str]) -> SitePage | None:
        """A page of the cache; None if it is damaged."""
        record = page_from_json(line, 0, ReadReport())
        return None if record is None else cls(record, wishes)


class ReadSite(NamedTuple):
    """All pages of a folder."""

    pages: dict[str, SitePage]  # by their paths in the folder, sorted
    stamps: dict[str, Stamp]
    read: int  # pages that were not in the cache
    unreadable: dict[str, str]


def read_site(
    folder: Path, base: str, files: Files, stamps: Mapping[str, Stamp], cache: PageCache, progress: Progress
) -> ReadSite:
    """Read new and changed pages, and take the others from the cache. The cache is written at once."""
    cached = cache.pages() if stamps else {}
    pages = {path: cached[stamp.digest] for path, stamp in stamps.items() if stamp.digest in cached}
    stamps = {path: stamps[path] for path in pages}
    todo = [path for path in files.found if path not in pages]
    unreadable: dict[str, str] = {}
    for path, digest, page in _read_all(folder, base, todo, progress):
        if isinstance(page, SitePage):
            pages[path], stamps[path] = page, Stamp(*files.found[path], digest)
        else:
            unreadable[path] = page
    pages = {path: pages[path] for path in files.found if path in pages}
    stamps = {path: stamps[path] for path in pages}
    if todo:
        cache.keep(stamps, {stamps[path].digest: page for path, page in pages.items()})
    return ReadSite(pages, stamps, len(todo) - len(unreadable), unreadable)


def read_page(content: bytes, address: str) -> SitePage:
    """Read a page that will be at `address`, without the list that may be inserted in it."""
    content = without_related(content)
    wishes = {}
    for match in _META.finditer(content[:MAX_HEAD_BYTES].decode("utf-8", "replace")):
        meta = attributes(match[1])
        name, value = meta.get("name", "").lower(), meta.get("content", "")
        if name.startswith(_PREFIX) and len(value) < MAX_WISH_CHARS:
            wishes[name.removeprefix(_PREFIX)[:50]] = value
    return SitePage(read_html(content, address), wishes)


ReadResult = tuple[str, str, SitePage | str]
"""A path, the digest of its content, and the page, or why it couldn't be read."""


def _read_all(folder: Path, base: str, paths: list[str], progress: Progress) -> Iterator[ReadResult]:
    chunks = [paths[at : at + CHUNK_PAGES] for at in range(0, len(paths), CHUNK_PAGES)]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(paths) <= MIN_PAGES_FOR_PROCESSES or cores == 1:
        for chunk in chunks:
            yield from _read_some(folder, base, chunk)
            progress("reading pages", len(chunk), len(paths))
        return
    pool = ProcessPoolExecutor(min(cores, 8), get_context("spawn"), _start_worker)
    try:
        for future in [pool.submit(_read_some, folder, base, chunk) for chunk in chunks]:
            results = future.result()
            yield from results
            progress("reading pages", len(results), len(paths))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _read_some(folder: Path, base: str, paths: list[str]) -> list[ReadResult]:
    return [_read_one(folder, base, path) for path in paths]


def _read_one(folder: Path, base: str, path: str) -> ReadResult:
    try:
        with (folder / path).open("rb") as file:
            content = file.read(MAX_FILE_BYTES)
    except OSError as error:
        return path, "", error.strerror or str(error)
    return path, digest_of(content, path), read_page(content, address_under(base, folder, folder / path))


def _start_worker() -> None:
    """Ignore Ctrl-C, which is for the parent process, and end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def path_of(href: str, address: str) -> str | None:
    """The path on its host that a reference on a page leads to; None if it leads to another host."""
    try:
        there = urlsplit(urljoin(address, href.strip()))
    except ValueError:
        return None
    if there.netloc.lower() != urlsplit(address).netloc.lower():
        return None
    return normal_path(unquote(there.path or "/"))


def normal_path(path: str) -> str:
    """A path in one spelling: no dots, one slash, `…/` for `…/index.html`."""
    slash = path.endswith(("/", "/.", "/.."))
    path = "/" + normpath("/" + path).lstrip("/")
    path += "/" if slash and path != "/" else ""
    head, _, name = path.rpartition("/")
    return head + "/" if name.lower() in ("index.html", "index.htm", "index.xhtml") else path
