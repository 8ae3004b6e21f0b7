"""Shared parts of the readers of link lists: bookmarks, OPML and Markdown.

A link list becomes one page with its links in sections. Links to mail addresses, scripts and places within the page are
skipped.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Self
from urllib.parse import urljoin

from cocite.sources.compressed import head, read_start
from cocite.sources.folders import address_of_file, checked_base
from cocite.sources.records import EMPTY_SOURCE, Link, Page, ReadReport, expect_some

MAX_FILE = 32 << 20  # bytes of a list; the longest known lists have 2 MB
MAX_TEXT, MAX_CONTEXT = 1000, 120  # characters kept of a link's text, and of the words around it
MAX_HEADING_FOLDERS = 8
MAX_FOLDER_NAME = 200
MAX_GROUPS_PER_LINK = 50
MAX_GROUPED_LINKS = 2_000_000  # a link counts once in each group
HASH_DIGITS = 20  # 80 bits of a made-up address; with the longest name, a label of 61 characters

INVALID_LINK, NOT_A_PAGE = "link with an invalid address", "link to something other than a web page"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WEB_ADDRESS = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_WEB_SCHEME = re.compile(r"\s*(?:https?:|//)", re.IGNORECASE)
_BLANKS = re.compile(r"[\x00-\x20]++")


def web_link(page: str, href: str) -> str | None:
    """Return the absolute address of a link on a page, or None if it does not lead to another web page."""
    # Browsers remove line breaks and tabs from addresses; with them goes the white space around them.
    href = _BLANKS.sub(lambda blanks: "" if set(blanks[0]) & {*"\n\r\t"} else blanks[0], href).strip()
    if not href or href[0] == "#":
        return None
    absolute = href
    if not _WEB_ADDRESS.match(href):
        if _SCHEME.match(href):
            return None
        try:
            absolute = urljoin(page, href)
        except ValueError:  # such as //[
            return None
    address, mark, _ = absolute.partition("#")
    if (mark and address == page.partition("#")[0]) or not _WEB_ADDRESS.match(absolute):
        return None
    return absolute


def has_web_scheme(href: str) -> bool:
    """Return whether a link should lead to a web page, unlike `mailto:` and `javascript:`."""
    return _WEB_SCHEME.match(href) is not None


def count_skipped_link(href: str, page: str, report: ReadReport) -> None:
    """Count a link that is not kept: as an error if it should lead to another web page, else as read."""
    if has_web_scheme(href) and "#" not in href:  # with a fragment it may lead to the page itself
        report.skip(INVALID_LINK, f"{href} on {page}")
    else:
        report.read[NOT_A_PAGE] += 1


def read_list_file(path: Path, report: ReadReport) -> bytes | None:
    """Return the content of a list, or None if it is too long."""
    content = read_start(path, report, MAX_FILE + 1)
    if len(content) > MAX_FILE:
        report.skip(f"link list longer than {MAX_FILE >> 20} MiB", path.name)
        return None
    return content


def decoded(content: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark, or else Windows-1252."""
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


def list_address(path: Path, content: bytes, base: str | None) -> str:
    """Return the address of a list: `base`, or the file under it if `base` ends with a slash, or else a made-up one.

    A made-up address is under the reserved domain .example. It has the file's name and a hash of its content: the
    `bookmarks.html` of two people are two sites, and the address does not reveal a path on somebody's disk. Nobody can
    make another file that has the same address.
    """
    if base is not None:
        return address_of_file(checked_base(base), path, path)
    name = path.name.partition(".")[0].encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", name).strip("-")[:40].strip("-") or "links"
    return f"https://{slug}-{hashlib.sha256(content).hexdigest()[:HASH_DIGITS]}.example/"


def read_folders(
    path: Path, report: ReadReport, base: str | None, parse: Callable[[bytes, "FolderPage"], None]
) -> Iterator[Page]:
    """Yield the page that `parse` makes of the content of a file."""
    if content := read_list_file(path, report):
        folders = FolderPage(list_address(path, content, base), report)
        parse(content, folders)
        if folders.page.links:
            yield folders.page
            return
    report.skip(EMPTY_SOURCE, path.name)


class FolderPage:
    """A page of links under headings or in nested folders. Each one that holds links is a section."""

    def __init__(self, url: str, report: ReadReport) -> None:
        self.page, self.report = Page(url), report
        self._open: list[tuple[str, list[int]]] = [("", [])]  # names and, once they hold a link, sections

    @property
    def in_folder(self) -> bool:
        """Whether the present folder, or one around it, has a name."""
        return any(name for name, _ in self._open[-MAX_HEADING_FOLDERS:])

    def begin_section(self, heading: str) -> None:
        """Begin a section that ends all folders."""
        self._open = [(heading, [])]

    def enter(self, name: str) -> None:
        """Begin a folder inside the present one."""
        self._open.append((" ".join(name[: 4 * MAX_FOLDER_NAME].split())[:MAX_FOLDER_NAME], []))

    def leave(self) -> None:
        """End the present folder."""
        if len(self._open) > 1:
            self._open.pop()

    def add_link(self, href: str, text: str, context: str) -> None:
        """Add a link to the present folder."""
        address = web_link(self.page.url, href)
        if address is None:
            count_skipped_link(href, self.page.url, self.report)
            return
        _, section = self._open[-1]
        if not section:
            section.append(len(self.page.headings))
            self.page.headings.append(" / ".join(name for name, _ in self._open[-MAX_HEADING_FOLDERS:] if name))
        self.page.links.append(Link(address, text=text, block=section[0], context=context))


class GroupedLinks:
    """A page of links in folders or under tags. A link may be in several of them, or in none."""

    def __init__(self, url: str, report: ReadReport) -> None:
        self.page, self.report = Page(url), report
        self._groups: dict[str, list[Link]] = {}
        self._loose: list[Link] = []
        self._count = 0

    @classmethod
    def of_file(cls, path: Path, report: ReadReport, base: str | None) -> Self:
        """The page of a file, whose address is made of its beginning and its size."""
        links = cls(list_address(path, head(path) + b"%d" % path.stat().st_size, base), report)
        links.page.title = path.name.partition(".")[0]
        return links

    def add(self, href: str, text: str, context: str, groups: Iterable[str]) -> None:
        """Add a link to its groups."""
        address = web_link(self.page.url, href)
        if address is None:
            count_skipped_link(href, self.page.url, self.report)
            return
        named = dict.fromkeys(filter(None, (shortened(name, MAX_FOLDER_NAME) for name in groups)))
        names = list(named)[:MAX_GROUPS_PER_LINK]
        self._count += max(1, len(names))
        if self._count > MAX_GROUPED_LINKS:
            self.report.skip(f"link beyond the first {MAX_GROUPED_LINKS:,} of a list", href)
            return
        for name in names:
            self._groups.setdefault(name, []).append(Link(address, text, None, context))
        if not names:
            self._loose.append(Link(address, text, None, context))

    def finished(self) -> Page:
        """The page, with a section for each group. Links without a group come last."""
        for name, links in self._groups.items():
            for link in links:
                link.block = len(self.page.headings)
            self.page.headings.append(name)
            self.page.links += links
        self.page.links += self._loose
        return self.page

    def pages(self, name: str) -> Iterator[Page]:
        """Yield the page. Count a file without links."""
        return expect_some(filter(lambda page: page.links, [self.finished()]), self.report, name)
