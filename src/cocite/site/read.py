"""The pages of a folder as page records. Only new and changed files are read, by several processes.

A file is unchanged if its size and time are, or else its content: generators write every file anew. The other pages
come from a cache. Nothing slow is imported at the top, since most runs find that nothing changed.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache, partial
from operator import attrgetter
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import unquote, urljoin, urlsplit

import orjson
import zstandard

from cocite import __version__
from cocite.errors import BadSource
from cocite.processes import in_processes
from cocite.system import replace_file, usable_cores, without_collection

if TYPE_CHECKING:
    from cocite.graph.generation import Progress
    from cocite.sources.records import Page

CACHE_FORMAT = f"{__version__} 8"
"""A cache of another format is ignored."""
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
MAX_CACHE_BYTES = 1 << 31
MAX_FILE_BYTES, MAX_HEAD_BYTES, MAX_WISH_CHARS = 16 << 20, 1 << 17, 10_000
"""The rest of a larger page is ignored."""
MIN_PAGES_FOR_PROCESSES = 200
"""Reading fewer pages takes less time than starting processes."""
CHUNK_PAGES = 32
INSERTED_LIST = rb"<!--\s*cocite:related\s*-->(?:(?:(?!<!--\s*cocite:related\s*-->).)*?<!--\s*/cocite:related\s*-->)?"
"""The comment that marks a place, with the list that may already be there."""
TEMPLATE_LIST = rb"<nav\b(?=[^<>]*?\sdata-cocite-list\b)[^<>]*+>(?:(?!<nav\b).)*?</nav\s*>"
"""A list that a template has made from the data of an earlier run."""
_LIST = re.compile(INSERTED_LIST + b"|" + TEMPLATE_LIST, re.DOTALL | re.IGNORECASE)
_PLAIN_PATH = re.compile(
    r"(/(?:[\w-][\w.-]*/)*(?:(?!index\.x?html?(?:[?#]|\Z))[\w-][\w.-]*)?)(?:[?#]\S*)?\Z", re.ASCII | re.IGNORECASE
)
"""A path that is in one spelling already: no dots at the beginning of a part, no escapes, no name of an index."""
_META = re.compile(r"<meta\s([^>]*\bcocite:[^>]*)>", re.IGNORECASE)


class Stamp(NamedTuple):
    """Identifies a version of a file."""

    size: int
    time: int  # nanoseconds
    digest: str


class SiteFiles(NamedTuple):
    """The files of a site by their paths in the folder, and which of them are symbolic links out of it."""

    found: dict[str, tuple[int, int]]  # size, time
    outside: list[str]


class SitePage(NamedTuple):
    """A page of the site, and what its owner wants for it."""

    record: "Page"
    wishes: dict[str, str]  # by <meta name="cocite:…">


class ReadSite(NamedTuple):
    """All pages of a folder."""

    pages: dict[str, SitePage]  # by their paths in the folder, sorted
    stamps: dict[str, Stamp]
    read: int  # pages that were not in the cache
    unreadable: dict[str, str]


def list_files(folder: Path, exclude: Sequence[str] = ()) -> SiteFiles:
    """The HTML files of a folder, sorted; hidden ones and those that match a pattern are skipped."""
    root = str(folder.resolve()) + os.sep
    found, outside = {}, []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(place, name)
            path = file.relative_to(folder).as_posix()
            if not name.lower().endswith(HTML_SUFFIXES) or name.startswith(".") or not file.is_file():
                continue  # a link to itself, or a pipe, isn't a file
            if any(fnmatchcase(path, pattern.lstrip("/")) for pattern in exclude):
                continue
            if file.is_symlink() and not str(file.resolve()).startswith(root):
                outside.append(path)
                continue
            with suppress(OSError):  # gone, or a link to nothing
                about = file.stat()
                found[path] = about.st_size, about.st_mtime_ns
    if not found:
        raise BadSource(f"{folder} has no HTML pages: give the folder that your generator writes, such as public")
    return SiteFiles(dict(sorted(found.items())), outside)


class PageCache:
    """The pages of the last run: stamps in a small file, pages in a larger one that is opened when needed."""

    def __init__(self, folder: Path, site: str) -> None:
        name = hashlib.blake2b(site.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        self._stamps, self._pages = folder / f"site-{name}.json", folder / f"site-{name}.pages.zst"
        self.about: dict[str, Any] = {}
        self.stamps: dict[str, Stamp] = {}
        with suppress(OSError, ValueError, TypeError, AttributeError):
            about = json.loads(self._stamps.read_bytes())
            if about.get("format") == CACHE_FORMAT:
                self.stamps = {path: Stamp(*stamp) for path, stamp in about["stamps"].items()}
                self.about = about

    def pages(self) -> dict[str, bytes]:
        """Packed pages by the digests of their contents; none if the cache is damaged, which its checksum shows."""
        with suppress(OSError, ValueError, MemoryError, zstandard.ZstdError):
            packed = self._pages.read_bytes()
            first, *lines = zstandard.decompress(packed, max_output_size=MAX_CACHE_BYTES).splitlines()
            if first.decode() == CACHE_FORMAT:
                return {digest.decode(): page for digest, _, page in (line.partition(b"\t") for line in lines)}
        return {}

    def keep(self, stamps: Mapping[str, Stamp], pages: Mapping[str, bytes] | None = None, **about: Any) -> None:
        """Write stamps, and packed pages if they are given. A failure to write is ignored: it is a cache."""
        with suppress(OSError):
            self._stamps.parent.mkdir(parents=True, exist_ok=True)
            if pages is not None:
                lines = [CACHE_FORMAT.encode(), *(digest.encode() + b"\t" + page for digest, page in pages.items())]
                packer = zstandard.ZstdCompressor(level=1, write_checksum=True)
                replace_file(self._pages, packer.compress(b"\n".join(lines)))
            replace_file(self._stamps, json.dumps({"format": CACHE_FORMAT, "stamps": stamps, **about}))


def stamps_now(folder: Path, files: SiteFiles, cache: PageCache) -> dict[str, Stamp]:
    """The stamps of files of the last run: the same if size and time are, else by their contents."""

    def stamp(path: str) -> tuple[str, Stamp | None]:
        if cache.stamps[path][:2] == files.found[path]:
            return path, cache.stamps[path]
        try:
            return path, Stamp(*files.found[path], digest_of((folder / path).read_bytes()[:MAX_FILE_BYTES], path))
        except OSError:  # read_site reports it
            return path, None

    with ThreadPoolExecutor(4) as threads:  # reading and hashing let others run
        found = list(threads.map(stamp, [path for path in files.found if path in cache.stamps]))
    return {path: each for path, each in found if each is not None}


def read_site(
    folder: Path, base: str, files: SiteFiles, stamps: Mapping[str, Stamp], cache: PageCache, progress: "Progress"
) -> ReadSite:
    """Read new and changed pages, and take the others from the cache. The cache is written at once."""
    cached = cache.pages() if stamps else {}
    packed = {path: cached[stamp.digest] for path, stamp in stamps.items() if stamp.digest in cached}
    stamps = {path: stamps[path] for path in packed}
    todo = [path for path in files.found if path not in packed]
    unreadable: dict[str, str] = {}
    read = partial(_read_some, folder, base)
    for path, digest, page in in_chunks(read, todo, "reading pages", MIN_PAGES_FOR_PROCESSES, 8, progress):
        if isinstance(page, bytes):
            packed[path], stamps[path] = page, Stamp(*files.found[path], digest)
        else:
            unreadable[path] = page
    packed = {path: packed[path] for path in files.found if path in packed}
    stamps = {path: stamps[path] for path in packed}
    if todo:
        cache.keep(stamps, {stamps[path].digest: page for path, page in packed.items()})
    with without_collection():
        pages = {path: unpack_page(page) for path, page in packed.items()}
    return ReadSite(pages, stamps, len(todo) - len(unreadable), unreadable)


def pack_page(page: SitePage) -> bytes:
    """A page as one line, for other processes and the cache: pickle takes four times as long."""
    record, fields = page.record, link_fields()
    columns = [list(map(attrgetter(name), record.links)) for name in fields]
    return orjson.dumps([replace(record, links=[]), columns, page.wishes])


def unpack_page(line: bytes) -> SitePage:
    """The page of a line."""
    from cocite.sources.records import Link, Page

    record, columns, wishes = orjson.loads(line)
    return SitePage(Page(**{**record, "links": list(map(Link, *columns))}), wishes)


@cache
def link_fields() -> tuple[str, ...]:
    """The names of the fields of links: packed links are a list for each, not a name for each value."""
    from cocite.sources.records import Link

    return tuple(field.name for field in fields(Link))


ReadResult = tuple[str, str, bytes | str]
"""A path, the digest of its content, and the packed page, or why it couldn't be read."""


Item = TypeVar("Item")
Made = TypeVar("Made")


def in_chunks(
    work: Callable[[list[Item]], list[Made]], items: list[Item], what: str, few: int, most: int, progress: "Progress"
) -> list[Made]:
    """What `work` makes of the items, in their order; of more than a `few`, in `most` processes."""
    chunks = [items[at : at + CHUNK_PAGES] for at in range(0, len(items), CHUNK_PAGES)]
    found: dict[int, list[Made]] = {}
    for number, made in in_processes(work, chunks, 1 if len(items) <= few else min(usable_cores(), most)):
        found[number] = made
        progress(what, len(chunks[number]), len(items))
    return [each for number in sorted(found) for each in found[number]]


def _read_some(folder: Path, base: str, paths: list[str]) -> list[ReadResult]:
    from cocite.sources.folders import address_under

    found: list[ReadResult] = []
    for path in paths:
        try:
            with (folder / path).open("rb") as file:
                content = file.read(MAX_FILE_BYTES)
        except OSError as error:
            found.append((path, "", error.strerror or str(error)))
            continue
        with without_collection():
            page = pack_page(read_page(content, address_under(base, folder, folder / path)))
        found.append((path, digest_of(content, path), page))
    return found


def read_page(content: bytes, address: str) -> SitePage:
    """Read a page that will be at `address`, without the list that may be inserted in it."""
    from cocite.sources.html.page import read_html
    from cocite.sources.html.tokens import attributes

    content, wishes = without_related(content), {}
    for match in _META.finditer(content[:MAX_HEAD_BYTES].decode("utf-8", "replace")):
        meta = attributes(match[1])
        prefix, _, name = meta.get("name", "").lower().partition(":")
        if prefix == "cocite" and len(meta.get("content", "")) < MAX_WISH_CHARS:
            wishes[name[:50]] = meta.get("content", "")
    return SitePage(read_html(content, address), wishes)


def without_related(content: bytes) -> bytes:
    """A page without the list of an earlier run, which the owner did not write."""
    return _LIST.sub(b"", content) if b"cocite:related" in content or b"data-cocite-list" in content else content


def digest_of(content: bytes, path: str) -> str:
    """A digest of a page as its owner wrote it, and of its path: relative links depend on that."""
    found = hashlib.blake2b(path.encode("utf-8", "surrogateescape") + b"\0", digest_size=12)
    found.update(without_related(content))
    return found.hexdigest()


def path_of(href: str, address: str) -> str | None:
    """The path on its host that a reference on a page leads to; None if it leads to another host."""
    root = root_of(address)
    if root and href.startswith(root) and (plain := _PLAIN_PATH.match(href, len(root) - 1)):
        return plain[1]
    try:
        href = href.strip()
        there = urlsplit(href if href.startswith(("https://", "http://")) else urljoin(address, href))
    except ValueError:
        return None
    if there.netloc.lower() != urlsplit(address).netloc.lower():
        return None
    return normal_path(unquote(there.path or "/"))


@lru_cache(16)
def root_of(address: str) -> str:
    """The address of the first page of the host, in the spelling of an address; empty if it isn't a plain one."""
    try:
        there = urlsplit(address)
    except ValueError:
        return ""
    return f"{there.scheme}://{there.netloc}/" if there.netloc == there.netloc.lower() else ""


def normal_path(path: str) -> str:
    """A path in one spelling: no dots, one slash, `…/` for `…/index.html`."""
    slash = path.endswith(("/", "/.", "/.."))
    path = "/" + normpath("/" + path).lstrip("/")
    path += "/" if slash and path != "/" else ""
    head, _, name = path.rpartition("/")
    return head + "/" if name.lower() in ("index.html", "index.htm", "index.xhtml") else path
