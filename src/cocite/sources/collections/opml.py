"""Read OPML (subscriptions of feed readers, blogrolls, outlines): one page, whose sections are the folders.

The link of an outline is its web page (`htmlUrl`), or else its feed or link (`xmlUrl`, `url`).
"""

from collections.abc import Iterator
from pathlib import Path

from cocite.errors import BadSource
from cocite.sources.collections.link_list import (
    MAX_CONTEXT,
    MAX_TEXT,
    NOT_A_PAGE,
    FolderPage,
    has_web_scheme,
    read_folders,
    shortened,
)
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Page, ReadReport
from cocite.sources.xml_chunks import XML_ERRORS, new_parser


def read_opml(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the page of an OPML file."""
    return read_folders(path, report, options.base, lambda content, folders: _Reader(folders, path.name).read(content))


class _Reader:
    def __init__(self, folders: FolderPage, name: str) -> None:
        self.folders, self.name = folders, name
        self.title: list[str] | None = None  # the pieces of the title while it is read
        self.outlines = 0

    def read(self, content: bytes) -> None:
        try:
            new_parser(self.name, "OPML doesn't", self.start, self.end, self.text).Parse(content, True)
        except XML_ERRORS as error:
            if not self.outlines:
                raise BadSource(f"{self.name} is not OPML ({error}): export it again, or use --kind") from error
            self.folders.report.skip("damaged OPML file: read up to the damage", f"{self.name}: {error}")

    def start(self, tag: str, given: dict[str, str]) -> None:
        tag = tag.lower()
        if tag == "title" and not self.outlines:
            self.title = []
        if tag != "outline":
            return
        self.outlines += 1
        named = {name.lower(): value.strip() for name, value in given.items()}
        text = shortened(named.get("text") or named.get("title") or "", MAX_TEXT)
        address = named.get("htmlurl") or named.get("xmlurl") or named.get("url")
        if address and not has_web_scheme(address):  # readers name folders of their own so, such as `vfolder`
            self.folders.report.read[NOT_A_PAGE] += 1
        elif address:
            self.folders.add_link(address, text, shortened(named.get("description", ""), MAX_CONTEXT))
        self.folders.enter(text)

    def end(self, tag: str) -> None:
        tag = tag.lower()
        if tag == "outline":
            self.folders.leave()
        elif tag == "title" and self.title is not None:
            self.folders.page.title = shortened("".join(self.title), MAX_TEXT)
            self.title = None

    def text(self, text: str) -> None:
        if self.title is not None:
            self.title.append(text)


SOURCE = SourceKind(
    "opml", "OPML", lambda path, head: b"<opml" in head[:4096].replace(b"\0", b"").lower(), read_opml, order=40
)  # the NULs are those of UTF-16
