"""What the readers of hand-made lists of links share: which links count, and what a list's own address is.

Bookmarks, OPML and Markdown are lists that somebody keeps: one page, its links in sections. Only web links count;
mail addresses, scripts and jumps within the page are left out.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urljoin

from cocite.errors import BadSource
from cocite.sources.compressed import open_bytes
from cocite.sources.records import Link, Page, ReadReport, cut
from cocite.sources.unfinished import is_begun, not_whole

MAX_FILE = 32 << 20
"""Bytes of one list; the longest known lists have 2 MB."""

MAX_TEXT, MAX_CONTEXT = 1000, 120
"""Characters kept of a link's text, and of the words around it."""
MAX_FOLDERS = 8  # names that a section's heading shows of the folders around it
MAX_NAME = 200
PARQUET = ".parquet"

UNREADABLE, NO_PAGE = "link whose address cannot be read", "link that leads to no web page"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_STORE_POINTER = re.compile(rb"g[0-9]{6,} [0-9a-f]{32}\n")  # see graph/FORMAT.md
_KEY = re.compile(r"\w+=")  # the name of a folder that tells a column's value
_NOTE = re.compile(r"_.*\.(?:md|markdown|mdown|mkd)", re.IGNORECASE)  # Hugo's _index.md is a page wherever it lies
_MEANT_FOR_WEB = re.compile(r"\s*(?:https?:|//)", re.IGNORECASE)
_NOT_IN_ADDRESS = re.compile(r"[\x00-\x20]*[\n\r\t][\x00-\x20]*")  # browsers take line ends and tabs out


def web_link(page: str, href: str) -> str | None:
    """The absolute address of a link on a page; None if it leads to no other web page."""
    href = _NOT_IN_ADDRESS.sub("", href).strip()
    if not href or href[0] == "#":
        return None
    if _WEB.match(href):
        absolute = href
    elif _SCHEME.match(href):
        return None
    else:
        try:
            absolute = urljoin(page, href)
        except ValueError:  # such as //[
            return None
    address, mark, _ = absolute.partition("#")
    if (mark and address == page.partition("#")[0]) or not _WEB.match(absolute):
        return None
    return absolute


def meant_for_web(href: str) -> bool:
    """Whether a link should have led to a web page, as `mailto:` and `javascript:` should not."""
    return _MEANT_FOR_WEB.match(href) is not None


def leave_out(href: str, page: str, report: ReadReport) -> None:
    """Count a link that is not kept: a mistake if it was meant for another web page, else only noted."""
    if meant_for_web(href) and "#" not in href:  # with a fragment it may have been meant for the page itself
        report.skip(UNREADABLE, f"{href} on {page}")
    else:
        report.read[NO_PAGE] += 1


def whole(path: Path, report: ReadReport) -> bytes | None:
    """The content of a list; None, and counted, if it is too long to be one."""
    with open_bytes(path, report) as stream:
        content = stream.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        report.skip(f"list of links longer than {MAX_FILE >> 20} MiB", path.name)
        return None
    return content


def decoded(content: bytes) -> str:
    """A text in UTF-8 or, as its marks say, UTF-16; what is neither is taken for Windows' Western encoding."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def shortened(text: str, length: int) -> str:
    """Return a text on one line, cut between words."""
    text = " ".join(text[: 4 * length].split())
    if len(text) <= length:
        return text
    return text[:length].rpartition(" ")[0] or text[:length]


def own_address(path: Path, content: bytes, base: str | None) -> str:
    """The address of a list that has none of its own: `base`, or a made-up one under the reserved domain .example.

    It is made of the file's name and a fingerprint of its content, so two people's `bookmarks.html` are two sites, and
    nothing tells where on whose disk they lay.
    """
    if base is not None:
        return checked_base(base)
    name = path.name.partition(".")[0].encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", name).strip("-")[:40].strip("-") or "links"
    return f"https://{slug}-{hashlib.sha256(content).hexdigest()[:8]}.example/"


def checked_base(base: str) -> str:
    """A base address, or an error that says what one looks like."""
    if not _WEB.match(base.strip()):
        raise BadSource(f"--base {cut(base)!r} is no web address: give one such as https://example.org/notes/")
    return base.strip()


def under(base: str, folder: Path, path: Path) -> str:
    """The address of a file in a folder whose address is `base`."""
    return base.rstrip("/") + "/" + quote(os.fsencode(path.relative_to(folder).as_posix()))


def is_store(folder: Path) -> bool:
    """Whether a folder is one of cocite's own stores, told by the file that names its current generation."""
    pointer = folder / "CURRENT"
    try:
        if not pointer.is_file():  # a pipe of that name would never end
            return False
        with pointer.open("rb") as file:
            return _STORE_POINTER.fullmatch(file.read(100)) is not None
    except OSError:
        return False


def files(folder: Path) -> Iterator[Path]:
    """The regular files of a folder and its folders, sorted; hidden ones, linked folders and stores are left out.

    So are names that begin with _ where Spark or Hive has written, and Parquet below such names anywhere: to them that
    is no data. Elsewhere it may be: documentation tools write pages into `_modules`. A folder that is not whole is
    refused.
    """
    for place, folders, names in os.walk(folder):
        here = Path(place)
        if is_begun(here, folders, names):
            raise not_whole(place)
        hidden = (".", "_") if _is_table(folders, names) else (".",)
        no_data = any(part.startswith("_") for part in here.relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(hidden) and not is_store(here / name))
        for name in sorted(names):
            if name.startswith(hidden) and not _NOTE.fullmatch(name):
                continue
            if (here / name).is_file() and not (no_data and name.endswith(PARQUET)):
                yield here / name


def _is_table(folders: list[str], names: list[str]) -> bool:
    """Whether Spark, Hive or the like has written these folders and files."""
    return "_SUCCESS" in names or any(name.endswith(PARQUET) for name in names) or any(map(_KEY.match, folders))


class Folders:
    """A page of links in folders within each other. A folder is a block, numbered when its first link comes."""

    def __init__(self, url: str, title: str = "") -> None:
        self.page = Page(url, title=title)
        self._open: list[tuple[str, list[int]]] = [("", [])]

    def enter(self, name: str) -> None:
        """A folder begins."""
        self._open.append((" ".join(name[: 4 * MAX_NAME].split())[:MAX_NAME], []))

    def leave(self) -> None:
        """The innermost folder ends."""
        if len(self._open) > 1:
            self._open.pop()

    def link(self, href: str, text: str, context: str, report: ReadReport) -> None:
        """A link in the innermost folder."""
        address = web_link(self.page.url, href)
        if address is None:
            leave_out(href, self.page.url, report)
            return
        _, number = self._open[-1]
        if not number:
            number.append(len(self.page.headings))
            names = [name for name, _ in self._open[-MAX_FOLDERS:] if name]
            self.page.headings.append(" / ".join(names))
        self.page.links.append(Link(address, text=text, block=number[0], context=context))
