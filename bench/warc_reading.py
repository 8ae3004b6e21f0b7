"""How many HTML pages of web archives are read in a second on one core, against a plain walk over a browser's tree.

    python bench/warc_reading.py [ARCHIVE OR FOLDER ...]

Every HTML page of the archives (default: ../shared/data/warc beside the checkout) is read in three depths, by cocite
and by the plain way: lexbor's tree (resiliparse), walked node by node in Python, with its own extraction of main text.
Then the archives are read as a build reads them, from the file to the page, with decompression, headers and records
that aren't HTML. All figures are CPU time. Five rounds of all seven alternate; the best round of each counts, because
other work on the machine slowed the others down more.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import can_ada
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding
from resiliparse.parse.html import HTMLTree, NodeType

from cocite.sources.archives.archive_records import open_records
from cocite.sources.archives.warc import decode_body, read_warc, record_type
from cocite.sources.html.encoding import decode
from cocite.sources.html.page import HTML_TYPES, read_html
from cocite.sources.html.tokens import tokens
from cocite.sources.records import ReadReport
from tables import show

ARCHIVES = Path(__file__).parents[2] / "shared" / "data" / "warc"
ROUNDS = 5
BLOCKS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "section", "p"))
BOILERPLATE = frozenset(("nav", "header", "footer", "aside"))

Job = Callable[[bytes, str], object]


def html_pages(files: list[Path]) -> Iterator[tuple[bytes, str]]:
    """The content and address of every HTML answer, whatever its status."""
    for path in files:
        for record in open_records(path, ReadReport()):
            if record.kind == "response" and record.url and record_type(record) in HTML_TYPES:
                http = record.http
                coding = http.get("content-encoding", "")
                yield decode_body(record.body(), http.get("transfer-encoding", ""), coding, 16 << 20)[0], record.url


def plain_tree(content: bytes) -> HTMLTree:
    return HTMLTree.parse(bytes_to_str(content, detect_encoding(content, from_html_meta=True)))


def plain_walk(tree: HTMLTree, url: str) -> list[tuple[str, str, int, str, bool]]:
    """Links with text, block, rel and boilerplate mark: every node in order, the least that could be done for each."""
    base = can_ada.parse(url)
    links = []
    block = 0
    inside: list[object] = []  # open boilerplate elements
    root = tree.document
    node = root.first_child
    while node is not None:
        if node.type == NodeType.ELEMENT:
            tag = node.tag
            if tag in BLOCKS:
                block += 1
            elif tag in BOILERPLATE:
                inside.append(node)
            elif tag == "a" and (href := node.getattr("href")) is not None:
                try:
                    address = str(base + href)
                except ValueError:
                    address = ""
                if address.startswith("http"):
                    text = " ".join(node.text.split())
                    links.append((address, text, block, node.getattr("rel", ""), bool(inside)))
        following = node.first_child
        while following is None and node is not None and node != root:
            if inside and inside[-1] == node:
                inside.pop()
            following = node.next
            if following is None:
                node = node.parent
        node = following if node is not None and node != root else None
    return links


def plain_text(tree: HTMLTree) -> str:
    return str(extract_plain_text(tree, main_content=True, links=False))


def plain_all(content: bytes, url: str) -> object:
    tree = plain_tree(content)
    return plain_walk(tree, url), plain_text(tree)


JOBS: dict[str, tuple[Job, Job]] = {
    "parse only": (
        lambda content, url: list(tokens(decode(content))),
        lambda content, url: plain_tree(content),
    ),
    "links + blocks": (
        lambda content, url: read_html(content, url, text=False),
        lambda content, url: plain_walk(plain_tree(content), url),
    ),
    "links + blocks + main text": (
        lambda content, url: read_html(content, url),
        plain_all,
    ),
}


WHOLE = "read_warc, from the files"


def measure(pages: list[tuple[bytes, str]], files: list[Path]) -> dict[tuple[str, int], float]:
    """CPU seconds of the best round, by job and side; `WHOLE` is the reading of the files."""
    rounds: dict[tuple[str, int], Callable[[], object]] = {
        (name, side): partial(read_pages, job, pages) for name, sides in JOBS.items() for side, job in enumerate(sides)
    }
    rounds[WHOLE, 0] = partial(read_files, files)
    best = dict.fromkeys(rounds, float("inf"))
    for _ in range(ROUNDS):
        for key, read in rounds.items():
            start = time.process_time()
            read()
            best[key] = min(best[key], time.process_time() - start)
    return best


def read_pages(job: Job, pages: list[tuple[bytes, str]]) -> None:
    for content, url in pages:
        job(content, url)


def read_files(files: list[Path]) -> tuple[int, int]:
    """Read the archives; return the number of pages, and of those that are HTML with links and text."""
    pages = html = 0
    for path in files:
        for page in read_warc(path, ReadReport()):
            pages += 1
            html += page.status == 200 and not page.redirect
    return pages, html


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[ARCHIVES])
    files = []
    for path in parser.parse_args().paths:
        files += sorted(path.glob("*arc*")) if path.is_dir() else [path]
    if not files:
        raise SystemExit("no archives: name some, or put them into ../shared/data/warc")
    pages = list(html_pages(files))
    size = sum(len(content) for content, _ in pages)
    links = sum(len(read_html(content, url, text=False).links) for content, url in pages)
    seconds = measure(pages, files)
    rows = []
    for name in JOBS:
        ours, plain = (len(pages) / seconds[name, side] for side in (0, 1))
        rows.append([name, f"{ours:,.0f}", f"{plain:,.0f}", f"{ours / plain:.2f}"])
    count, html = read_files(files)
    whole = seconds[WHOLE, 0]
    rows.append([f"{WHOLE}: {count} pages, {html} of them live HTML", f"{count / whole:,.0f}", "", ""])
    title = f"Reading {len(pages)} HTML pages of {len(files)} archives, {size / 1e6:.1f} MB, {links:,} links"
    show(title, ["pages per CPU second", "cocite", "tree walk", "times as fast"], rows)


if __name__ == "__main__":
    main()
