"""Read references: what Zotero and others export as RDF, CSL-JSON or BibTeX.

Every reference with an address (a DOI or a URL) is a page with its title, its abstract as the text, and its date. The
library is a page, too, whose sections are the collections (RDF) and the keywords. References that a library declares
as related (RDF) link to each other.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from cocite.errors import BadSource
from cocite.sources.collections.link_list import MAX_GROUPS_PER_LINK, MAX_TEXT, GroupedLinks, shortened
from cocite.sources.compressed import head, open_lines
from cocite.sources.json_items import as_object, as_text, json_items
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Link, Page, ReadReport
from cocite.sources.xml_chunks import new_parser, xml_items

MAX_ENTRY = 1 << 20  # characters of a BibTeX entry
MAX_ABSTRACT = 100_000
MAX_REFERENCES = 1_000_000  # of one library
NO_ADDRESS = "reference without an address (DOI or URL)"

_MAX_TAG = 8 << 20
_MAX_DEPTH = 50
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_DC, _TERMS = "http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/"
_CSL_NAME = re.compile(rb'"(?:issued|DOI|container-title|author)"')
_BIBTEX = re.compile(rb"^[ \t]*@[ \t]*[a-zA-Z]+[ \t]*[{(][^\n]*(?:,|$)", re.MULTILINE)
_BIB_FIELD = re.compile(r"\s*,?\s*([A-Za-z][\w:+-]*+)\s*=\s*")  # biblatex has author+an for notes on authors
_BIB_PLAIN = re.compile(r"\s*([\w.-]*+)")
_BIB_MARK = re.compile(r"\\.|[{}]", re.DOTALL)
_BIB_QUOTED_MARK = re.compile(r"\\.|[{}\"]", re.DOTALL)
_ACCENT = re.compile(r"\\([\"'`^~=.]|[cvuHrk](?![A-Za-z]))[ \t]*\{?[ \t]*(\\?[A-Za-z])[ \t]*\}?")
_MARKS = "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u030a\u0328"
_ACCENTS = dict(zip("\"'`^~=.cvuHrk", _MARKS, strict=True))
_COMMANDS = dict(zip(["ss", "ae", "AE", "oe", "OE", "o", "O", "aa", "AA", "l", "L"], "ßæÆœŒøØåÅłŁ", strict=True))
_COMMAND = re.compile(r"\\([A-Za-z]++)[ \t]*(?:\{\})?")
_DOI = re.compile(r"(?:doi:?\s*|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_DATE = re.compile(r"\s*(\d{4})(?:[-/](\d\d?)(?:[-/](\d\d?))?)?(?!\d)", re.ASCII)
_YEAR = re.compile(r"(?<!\d)([12]\d{3})(?!\d)", re.ASCII)
_JOINED = re.compile(r"\s*#\s*")
_MONTHS = dict(zip(re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec"), range(1, 13), strict=True))


class Reference(NamedTuple):
    """One work."""

    url: str
    title: str
    abstract: str = ""
    date: str = ""  # a year, a month or a day
    groups: tuple[str, ...] = ()
    related: tuple[str, ...] = ()  # addresses


def _format(start: bytes) -> str | None:
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] == b"[":
        is_csl = all(name in start for name in (b'"title"', b'"type"', b'"id"')) and _CSL_NAME.search(start)
        return "csl" if is_csl else None
    if start[:1] == b"<":
        return "rdf" if b"<rdf:RDF" in start[:4096] and b"http://www.zotero.org/namespaces/" in start[:4096] else None
    return "bibtex" if start[:1] in (b"@", b"%") and _BIBTEX.search(start) else None


def read_references(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the page of every reference, and that of the library."""
    readers = {"csl": _from_csl, "rdf": _from_rdf, "bibtex": _from_bibtex}
    start = head(path)
    kind = _format(start) or ("bibtex" if _BIBTEX.search(start) else None)  # BibTeX may begin with any text
    if kind is None:
        raise BadSource(
            f"{path.name} is neither Zotero RDF, CSL-JSON nor BibTeX: export it again in one of these forms"
        )
    library = GroupedLinks.of_file(path, report, options.base)
    for number, work in enumerate(readers[kind](path, report)):
        if number >= MAX_REFERENCES:
            report.skip(f"reference beyond the first {MAX_REFERENCES:,} of a library", work.title)
            continue
        if not work.url:
            report.read[NO_ADDRESS] += 1
            continue
        title = shortened(work.title, MAX_TEXT)
        library.add(work.url, title, "", work.groups)
        links = [Link(there, block=0) for there in work.related]
        yield Page(
            work.url, title, work.abstract[:MAX_ABSTRACT] if options.text else "", links,
            headings=["Related"] if links else [], captured=work.date,
        )  # fmt: skip
    yield from library.pages(path.name)


def _address(doi: str, url: str) -> str:
    """The address of a work: that of its DOI, which is the same in every library, or else its URL."""
    found = _DOI.match(doi.strip())
    if found:
        return f"https://doi.org/{found[1].rstrip('.,;')}"
    url = url.strip()
    return url if url.lower().startswith(("http://", "https://")) else ""


def _date(text: str) -> str:
    """A year, a month or a day in ISO form, if a text begins with one or has a year."""
    found = _DATE.match(text) or _YEAR.search(text)
    if not found:
        return ""
    parts = [part for part in found.groups() if part]
    return "-".join([parts[0], *(f"{int(part):02d}" for part in parts[1:])])


def _from_csl(path: Path, report: ReadReport) -> Iterator[Reference]:
    for item in json_items(path, report):
        if not isinstance(item, dict):
            report.skip("reference that is not an object", str(item)[:80])
            continue
        title, abstract, keyword = (as_text(item.get(name)) for name in ("title", "abstract", "keyword"))
        url = _address(as_text(item.get("DOI")), as_text(item.get("URL")))
        groups = tuple(name.strip() for name in re.split("[,;]", keyword))
        yield Reference(url, title, abstract, _csl_date(item.get("issued")), groups)


def _csl_date(issued: object) -> str:
    given = as_object(issued)
    parts = given.get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts else None
    if isinstance(first, list):
        return _date("-".join(str(part) for part in first[:3] if isinstance(part, int | str)))
    return _date(as_text(given.get("raw")) or as_text(given.get("literal")))


def _from_bibtex(path: Path, report: ReadReport) -> Iterator[Reference]:
    for entry in _entries(path, report):
        fields = _fields(entry)
        if fields:
            given = {name: _plain(value) for name, value in fields.items() if name in ("title", "abstract", "keywords")}
            month = _MONTHS.get(fields.get("month", "").strip("{} ").lower()[:3])
            date = _date(fields.get("date", "")) or _date(fields.get("year", "") + (f"-{month:02d}" if month else ""))
            address = _address(fields.get("doi", "").replace("\\_", "_"), fields.get("url", "").replace("\\", ""))
            groups = tuple(re.split("[,;]", given.get("keywords", "")))
            yield Reference(address, given.get("title", ""), given.get("abstract", ""), date, groups)


def _entries(path: Path, report: ReadReport) -> Iterator[str]:
    """The entries of a BibTeX file, without @string, @preamble and @comment. An entry begins a line."""
    lines: list[str] = []
    size = 0
    for line in open_lines(path, report):
        text = line.decode("utf-8", "replace")
        if text.lstrip().startswith("@"):
            if lines:
                yield "\n".join(lines)
            lines, size = [], 0
            is_work = not text.lstrip().lower().startswith(("@string", "@preamble", "@comment"))
            if not is_work:
                size = MAX_ENTRY + 1  # up to the next entry
        size += len(text) + 1
        if size <= MAX_ENTRY and (lines or text.lstrip().startswith("@")):
            lines.append(text)
        elif lines:
            report.skip(f"entry longer than {MAX_ENTRY >> 20} MiB", lines[0])
            lines = []
    if lines:
        yield "\n".join(lines)


def _fields(entry: str) -> dict[str, str]:
    """The fields of an entry as they are written."""
    fields: dict[str, str] = {}
    at = entry.find(",")
    while at >= 0 and (name := _BIB_FIELD.match(entry, at)):
        value, at = _value(entry, name.end())
        fields.setdefault(name[1].lower(), value)
    return fields


def _value(entry: str, at: int) -> tuple[str, int]:
    """A value that begins at a place, and where it ends; parts may be joined by #."""
    parts: list[str] = []
    while True:
        mark = entry[at : at + 1]
        if mark in ("{", '"') and mark:
            depth, end = 0, len(entry)
            for found in (_BIB_MARK if mark == "{" else _BIB_QUOTED_MARK).finditer(entry, at):
                if found[0] == "{":
                    depth += 1
                elif found[0] == "}":
                    depth -= 1
                if (mark == "{" and depth <= 0) or (found[0] == '"' and depth <= 0 and found.start() > at):
                    end = found.start()
                    break
            parts.append(entry[at + 1 : end])
            at = end + 1
        else:
            plain = _BIB_PLAIN.match(entry, at)
            assert plain is not None
            parts.append(plain[1])
            at = plain.end()
        joined = _JOINED.match(entry, at)
        if not joined:
            return "".join(parts), at
        at = joined.end()


def _plain(text: str) -> str:
    """A text without the commands of LaTeX."""
    text = _ACCENT.sub(lambda found: unicodedata.normalize("NFC", found[2].strip("\\") + _ACCENTS[found[1]]), text)
    text = _COMMAND.sub(lambda found: _COMMANDS.get(found[1], ""), text)
    return " ".join(text.replace("\\", "").replace("{", "").replace("}", "").replace("~", " ").split())


def _from_rdf(path: Path, report: ReadReport) -> Iterator[Reference]:
    """The items of a library. It is read twice: collections and related items may come after an item."""
    first, urls = _RdfReader(path.name), dict[str, str]()
    for key, item in first.read(path, ReadReport()):
        if len(urls) < MAX_REFERENCES:
            urls[key] = item.url
    for key, item in _RdfReader(path.name).read(path, report):
        related = dict.fromkeys(urls.get(there, "") for there in item.related)
        groups = (*first.collections.get(key, ()), *item.groups)
        yield item._replace(groups=groups, related=tuple(url for url in related if url and url != item.url))


class _RdfReader:
    """Collects items and collections from the events of the XML parser."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.items: list[tuple[str, Reference]] = []  # since the last chunk, by their keys
        self.count = 0
        self.collections: dict[str, list[str]] = {}  # the names of an item's first collections, by its key
        self.open: list[str] = []
        self.key = ""
        self.fields: dict[str, list[str]] = {}
        self.collected: list[str] = []
        self.length = 0

    def read(self, path: Path, report: ReadReport) -> Iterator[tuple[str, Reference]]:
        """Yield the items of a library by their keys; afterwards `collections` is complete."""
        parser = new_parser(self.name, "RDF doesn't", self.start, self.end, self.characters, namespaces=" ")
        return xml_items(path, parser, self.items, report, _MAX_TAG)

    def start(self, tag: str, given: dict[str, str]) -> None:
        self.open.append(tag)
        if len(self.open) > _MAX_DEPTH:
            raise expat.ExpatError(f"elements more than {_MAX_DEPTH} deep")
        self.collected, self.length = [], 0
        if len(self.open) == 2:
            self.key, self.fields = given.get(f"{_RDF} about", ""), {}
        elif len(self.open) == 3 and (there := given.get(f"{_RDF} resource")):
            self.fields.setdefault(f"{tag}@", []).append(there)

    def characters(self, text: str) -> None:
        self.length += len(text)
        if self.length <= MAX_ENTRY:
            self.collected.append(text)

    def end(self, tag: str) -> None:
        self.open.pop()
        if len(self.open) == 1:
            self.finish(tag)
        elif len(self.open) > 1:
            text = "".join(self.collected).strip()
            name = self.open[2] if len(self.open) > 2 else tag
            is_value = tag == f"{_RDF} value" or len(self.open) == 2
            if tag == f"{_DC} identifier" and _DOI.match(text):  # of the journal that an article is part of
                name, is_value = tag, True
            if text and is_value:
                self.fields.setdefault(name, []).append(text)
        self.collected = []

    def finish(self, tag: str) -> None:
        """Make an item or a collection of its fields."""
        fields, key = self.fields, self.key
        first = {name: values[0] for name, values in fields.items()}
        title = first.get(f"{_DC} title", "")
        if tag.endswith("Collection"):
            for there in fields.get(f"{_TERMS} hasPart@", ()):
                names = self.collections.setdefault(there, [])
                if len(names) < MAX_GROUPS_PER_LINK and title not in names:
                    names.append(title)
        elif title and not tag.endswith(("Attachment", "Memo", "Journal")):
            identifiers = [*fields.get(f"{_DC} identifier", ()), key]
            doi = next((each for each in identifiers if _DOI.match(each)), "")
            url = next((each for each in identifiers if each.lower().startswith(("http://", "https://"))), "")
            self.count += 1
            self.items.append((key or f"#{self.count}", Reference(
                _address(doi, url), title[:MAX_TEXT], first.get(f"{_TERMS} abstract", "")[:MAX_ABSTRACT],
                _date(first.get(f"{_DC} date", "")), tuple(fields.get(f"{_DC} subject", ())),
                tuple(fields.get(f"{_DC} relation@", ())),
            )))  # fmt: skip


SOURCE = SourceKind(
    "references", "references (Zotero RDF, CSL-JSON, BibTeX)", lambda path, head: _format(head) is not None,
    read_references, order=47,
)  # fmt: skip
