"""Read a list of addresses: one on each line, under headings that begin with #."""

from collections.abc import Iterator
from pathlib import Path

from cocite.sources.collections.link_list import list_address, read_list_file
from cocite.sources.kinds import ReadOptions, SourceKind, content_suffix
from cocite.sources.records import Link, Page, ReadReport


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file that begins with `head` is such a list."""
    return content_suffix(path) == ".addresses"


def read(path: Path, report: ReadReport, options: ReadOptions) -> Iterator[Page]:
    """Yield the list as one page, whose sections are the headings."""
    content = read_list_file(path, report) or b""
    page = Page(list_address(path, content, options.base), title=path.name.partition(".")[0], headings=[""])
    for line in content.decode("utf-8", "replace").splitlines():
        text = line.strip()
        if text.startswith("#"):
            page.headings.append(text.strip("# "))
        elif text.startswith(("http://", "https://")):
            page.links.append(Link(text, block=len(page.headings) - 1))
        elif text:
            report.skip("line without an address", text)
    yield page


SOURCE = SourceKind("addresses", "addresses, one per line", recognises, read, order=75)
