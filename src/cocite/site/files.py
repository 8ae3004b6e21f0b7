"""The files of a site, and which of them changed since the last run: only these are read.

A file is unchanged if its size and time are, or else its content: generators write every file anew. Nothing slow is
imported here, since most runs find that nothing changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import zstandard

from cocite import __version__
from cocite.errors import BadSource

if TYPE_CHECKING:
    from cocite.site.read import SitePage

FORMAT = f"{__version__} 5"
"""Of the cache: one of another format is ignored."""
SUFFIXES = (".html", ".htm", ".xhtml")
MAX_CACHE_BYTES = 1 << 31
CHUNK_FILES = 100
MAX_FILE_BYTES = 16 << 20
"""The rest of a larger page is ignored."""
INSERTED_LIST = rb"<!--\s*cocite:related\s*-->(?:(?:(?!<!--\s*cocite:related\s*-->).)*?<!--\s*/cocite:related\s*-->)?"
"""The comment that marks a place, with the list that may already be there."""
_LIST = re.compile(INSERTED_LIST, re.DOTALL | re.IGNORECASE)


class Stamp(NamedTuple):
    """Identifies a version of a file."""

    size: int
    time: int  # nanoseconds
    digest: str


class Files(NamedTuple):
    """The files of a site by their paths in the folder, and which of them are symbolic links out of it."""

    found: dict[str, tuple[int, int]]  # size, time
    outside: list[str]


def list_files(folder: Path, exclude: Sequence[str] = ()) -> Files:
    """The HTML files of a folder, sorted; hidden ones and those that match a pattern are skipped."""
    root = str(folder.resolve()) + os.sep
    found, outside = {}, []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inner = os.path.relpath(place, folder)
        for name in sorted(names):
            if not name.lower().endswith(SUFFIXES) or name.startswith("."):
                continue
            path = name if inner == "." else f"{inner}/{name}".replace(os.sep, "/")
            if any(fnmatchcase(path, pattern.lstrip("/")) for pattern in exclude):
                continue
            file = Path(place, name)
            if file.is_symlink() and not str(file.resolve()).startswith(root):
                outside.append(path)
                continue
            with suppress(OSError):  # gone, or a link to nothing
                about = file.stat()
                found[path] = about.st_size, about.st_mtime_ns
    if not found:
        raise BadSource(f"{folder} holds no HTML pages: give the folder that your generator writes, such as public")
    return Files(dict(sorted(found.items())), outside)


def without_related(content: bytes) -> bytes:
    """A page without the list that was inserted before, which the owner did not write."""
    return _LIST.sub(b"", content) if b"cocite:related" in content else content


def digest_of(content: bytes, path: str) -> str:
    """A digest of a page as its owner wrote it, and of its path: relative links depend on that."""
    found = hashlib.blake2b(path.encode("utf-8", "surrogateescape") + b"\0", digest_size=12)
    found.update(without_related(content))
    return found.hexdigest()


class PageCache:
    """The pages of the last run: stamps in a small file, pages in a larger one that is opened when needed."""

    def __init__(self, folder: Path, site: str) -> None:
        name = hashlib.blake2b(site.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        self._stamps, self._pages = folder / f"site-{name}.json", folder / f"site-{name}.pages.zst"
        self.about: dict[str, Any] = {}
        with suppress(OSError, ValueError, TypeError):
            about = json.loads(self._stamps.read_bytes())
            if about.get("format") == FORMAT:
                self.about = about

    @property
    def stamps(self) -> dict[str, Stamp]:
        """The stamp of every file."""
        try:
            return {path: Stamp(*stamp) for path, stamp in self.about.get("stamps", {}).items()}
        except TypeError:
            return {}

    def pages(self) -> dict[str, SitePage]:
        """Pages by the digests of their contents."""
        from cocite.site.read import SitePage

        try:
            packed = self._pages.read_bytes()
            found = json.loads(zstandard.ZstdDecompressor().decompress(packed, max_output_size=MAX_CACHE_BYTES))
            if found.pop("format", None) != FORMAT:
                return {}
            pages = {key: SitePage.from_json(json.dumps(page).encode(), page["wishes"]) for key, page in found.items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError, zstandard.ZstdError):
            return {}
        return {key: page for key, page in pages.items() if page is not None}

    def keep(self, stamps: dict[str, Stamp], pages: dict[str, SitePage] | None, **about: Any) -> None:
        """Write stamps, and pages if they are given. A failure to write is ignored: it is a cache."""
        with suppress(OSError):
            self._stamps.parent.mkdir(parents=True, exist_ok=True)
            if pages is not None:
                kept = {key: page.to_json() for key, page in pages.items()}
                text = json.dumps({"format": FORMAT, **kept}, ensure_ascii=True, separators=(",", ":"))
                replace_file(self._pages, zstandard.ZstdCompressor(level=1).compress(text.encode()))
            replace_file(self._stamps, json.dumps({"format": FORMAT, "stamps": stamps, **about}).encode())


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically. As `page_records.replacing`, which would import far more."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_bytes(content)
        with suppress(OSError):
            unfinished.chmod(path.stat().st_mode & 0o777)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def stamps_now(folder: Path, files: Files, cache: PageCache) -> dict[str, Stamp]:
    """The stamps of files of the last run: the same if size and time are, else by their contents."""
    before = cache.stamps
    same = {path: before[path] for path, stat in files.found.items() if path in before and before[path][:2] == stat}
    other = [path for path in files.found if path in before and path not in same]

    def fresh(paths: list[str]) -> dict[str, Stamp]:
        found = {}
        for path in paths:
            with suppress(OSError):  # read_site reports it
                found[path] = Stamp(*files.found[path], digest_of((folder / path).read_bytes()[:MAX_FILE_BYTES], path))
        return found

    with ThreadPoolExecutor(4) as threads:  # reading and hashing let others run
        for some in threads.map(fresh, (other[at : at + CHUNK_FILES] for at in range(0, len(other), CHUNK_FILES))):
            same |= some
    return same
