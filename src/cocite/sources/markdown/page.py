"""Markdown files → pages: a link list such as a README, a folder of notes, the sources of a documentation site.

Every heading begins a block. A page's address is the `url` of its front matter, else `base` with the file's path in the
folder, with its `.md`, so that links between files meet their pages. A single file's address is `base` itself, or, if
`base` ends with a slash, the file under it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urljoin

from cocite.errors import BadSource
from cocite.sources.link_list import checked_base, decoded, files, leave_out, under, web_link, whole
from cocite.sources.markdown.links import MarkdownHeading, read_blocks
from cocite.sources.page_records import EMPTY
from cocite.sources.records import Link, Page, ReadReport

SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
MAX_FRONT_MATTER = 64 << 10

_YAML = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d:\d\d.*)?)?)?", re.ASCII)


def read_markdown(path: Path, report: ReadReport, *, base: str | None = None) -> Iterator[Page]:
    """The pages of a Markdown file, or of all Markdown files of a folder."""
    base = None if base is None else checked_base(base)
    found = False
    for file in files(path) if path.is_dir() else [path]:
        if path.is_dir() and file.suffix.lower() not in SUFFIXES:
            continue
        content = whole(file, report)
        if content is not None:
            found = True
            yield parse(decoded(content), _address(base, path, file), report, file.name)
    if not found:
        report.skip(EMPTY, path.name)


def _address(base: str | None, path: Path, file: Path) -> str | None:
    if base is None:
        return None
    if path.is_dir():
        return under(base, path, file)
    return base + quote(os.fsencode(file.name)) if base.endswith("/") else base


def parse(text: str, address: str | None, report: ReadReport, name: str = "the text") -> Page:
    """One Markdown text as a page; `address` is its own unless its front matter names one."""
    front, text = _front_matter(text.replace("\r\n", "\n"), report, name)
    url = _resolved(front.get("url", ""), address)
    if not url:
        raise BadSource(f"{name} does not say its address: give --base, or a line `url: https://…` in its front matter")
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
                leave_out(item.url, url, report)
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
    """The fields of a page's front matter (simple YAML or TOML), and the text after it."""
    if found := _TOML.match(text, 0, MAX_FRONT_MATTER):
        try:
            values = tomllib.loads(found[1])
        except tomllib.TOMLDecodeError as error:
            report.skip("front matter that is not TOML", f"{name}: {error}")
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
            report.skip(f"front matter's {key} that is no ISO date", f"{name}: {value}")
    return ""
