"""Read Markdown files as pages: a link list such as a README, a folder of notes, the sources of a documentation site.

Every heading begins a block. The address of a page is the `url` of its front matter, or else `base` with the file's
path in the folder, including `.md`, so that links between files lead to their pages. The address of a single file is
`base`, or the file under it if `base` ends with a slash.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urljoin

from cocite.errors import BadSource
from cocite.sources.folders import address_under, checked_base, walk_files
from cocite.sources.kinds import SourceKind, content_suffix
from cocite.sources.link_list import count_skipped_link, decoded, read_list_file, web_link
from cocite.sources.records import EMPTY_SOURCE, Link, Page, ReadReport

SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
MAX_FRONT_MATTER = 64 << 10

_YAML = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d:\d\d.*)?)?)?", re.ASCII)


def read_markdown(path: Path, report: ReadReport, *, base: str | None = None) -> Iterator[Page]:
    """Yield the pages of a Markdown file, or of all Markdown files in a folder."""
    base = None if base is None else checked_base(base)
    found = False
    for file in walk_files(path) if path.is_dir() else [path]:
        if path.is_dir() and file.suffix.lower() not in SUFFIXES:
            continue
        content = read_list_file(file, report)
        if content is not None:
            found = True
            yield parse(decoded(content), _address(base, path, file), report, file.name)
    if not found:
        report.skip(EMPTY_SOURCE, path.name)


def _address(base: str | None, path: Path, file: Path) -> str | None:
    if base is None:
        return None
    if path.is_dir():
        return address_under(base, path, file)
    return base + quote(os.fsencode(file.name)) if base.endswith("/") else base


def parse(text: str, address: str | None, report: ReadReport, name: str = "the text") -> Page:
    """Return one Markdown text as a page. `address` is its own, unless its front matter has another."""
    from cocite.sources.markdown.links import MarkdownHeading, read_blocks  # importing markdown-it takes 0.2 s

    front, text = _front_matter(text.replace("\r\n", "\n"), report, name)
    url = _resolved(front.get("url", ""), address)
    if not url:
        raise BadSource(f"{name} has no address: use --base, or add a line `url: https://…` to its front matter")
    page = Page(url, captured=_captured(front, report, name), lang=front.get("lang", ""))
    texts = []
    heading = ""
    block: int | None = None
    for parsed in read_blocks(text):
        texts.append(parsed.text)
        for item in parsed.items:
            if isinstance(item, MarkdownHeading):
                heading, block = item.text, None
                if item.level == 1 and not page.title:
                    page.title = heading
                continue
            target = web_link(url, item.url)
            if target is None:
                count_skipped_link(item.url, url, report)
                continue
            if block is None:
                block = len(page.headings)
                page.headings.append(heading)
            page.links.append(Link(target, text=item.text, block=block, context=item.context))
    page.title = page.title or front.get("title", "")
    page.text = "\n".join(filter(None, texts))
    return page


def _resolved(url: str, address: str | None) -> str:
    try:
        url = urljoin(address or "", url)
    except ValueError:
        return address or ""
    return url if "://" in url else (address or "")


def _front_matter(text: str, report: ReadReport, name: str) -> tuple[dict[str, str], str]:
    """Return the fields of the front matter (simple YAML or TOML), and the text after it."""
    if found := _TOML.match(text, 0, MAX_FRONT_MATTER):
        try:
            values = tomllib.loads(found[1])
        except tomllib.TOMLDecodeError as error:
            report.skip("front matter that is not valid TOML", f"{name}: {error}")
            values = {}
        return {key.lower(): str(value) for key, value in values.items()}, text[found.end() :]
    if found := _YAML.match(text, 0, MAX_FRONT_MATTER):
        entries = [_ENTRY.match(line) for line in found[1].split("\n")]
        fields = {entry[1].lower(): _scalar(entry[2] or "") for entry in entries if entry}
        if fields:
            return fields, text[found.end() :]
    return {}, text


def _scalar(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text.partition(" #")[0].rstrip()


def _captured(front: dict[str, str], report: ReadReport, name: str) -> str:
    for key in ("captured", "date"):
        value = front.get(key, "")
        if _DATE.fullmatch(value):
            return value
        if value:
            report.skip(f"front matter with a {key} that is not an ISO date", f"{name}: {value}")
    return ""


SOURCE = SourceKind(
    "markdown",
    "Markdown files",
    lambda path, head: content_suffix(path) in SUFFIXES,
    lambda path, report, options: read_markdown(path, report, base=options.base),
    reads_folders=True,
    suffixes=SUFFIXES,
    order=70,
)
