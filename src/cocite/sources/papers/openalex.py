"""Read works of OpenAlex, the open catalogue of papers: a page for each work, with its references as links.

The snapshot has JSON Lines; others convert it to Parquet with the same names, and the API gives lists of results. A
DOI is an alias of its work. Topics are weak links in a section of their own, as tags of notes are. The date of a page
is that of its publication, so that `--since` and `--until` choose papers by their year.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cocite.sources.collections.link_list import MAX_TEXT, shortened
from cocite.sources.compressed import BYTE_ORDER_MARK, head
from cocite.sources.json_items import as_list, as_object, as_text, json_items, json_lines, json_value
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.page_records import first_record
from cocite.sources.parquet import open_parquet, parquet_columns, row_groups, rows_of
from cocite.sources.records import Link, Page, ReadReport, expect_some

MAX_WORDS = 20_000  # of an abstract
MAX_TOPICS = 50
TOPIC_WEIGHT = 0.25
NAMES = (
    "id", "doi", "title", "display_name", "publication_date", "publication_year", "language", "referenced_works",
    "topics", "abstract_inverted_index", "abstract",
)  # fmt: skip
_WORK = re.compile(r"(?:https?://(?:api\.)?openalex\.org/(?:works/)?)?([Ww]\d{1,19})")
_TOPIC = re.compile(r"(?:https?://openalex\.org/)?(?:topics/)?([TCtc]\d{1,19})")
_LIST = re.compile(rb'\s*\{\s*"meta"\s*:')


def recognises(path: Path, beginning: bytes) -> bool:
    """Return whether a file with this beginning has works of OpenAlex."""
    if beginning.startswith(b"PAR1"):
        return {"id", "referenced_works"} <= set(parquet_columns(path))
    if b"openalex.org/W" not in beginning:
        return False
    start = beginning.removeprefix(BYTE_ORDER_MARK).lstrip()
    if _LIST.match(start):
        return b'"results"' in beginning
    first = start.partition(b"\n")[0]
    record = first_record(first)
    if record is not None:
        return "referenced_works" in record and "id" in record
    return first.startswith(b"{") and b'"referenced_works"' in first and b'"id"' in first  # longer than the beginning


def read_openalex(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the works, each after the alias that is its DOI."""
    pages = (page for work in _works(path, report, options.text) for page in _pages(work, report, options.text))
    return expect_some(pages, report, path.name)


def _works(path: Path, report: ReadReport, text: bool) -> Iterable[Any]:
    start = head(path).removeprefix(BYTE_ORDER_MARK)
    if start.startswith(b"PAR1"):
        with open_parquet(path) as table:
            names = [name for name in NAMES if name in table.schema_arrow.names and (text or "abstract" not in name)]
            for batch in row_groups(table, path, names, None, report):
                yield from rows_of(batch, report)
    elif _LIST.match(start):
        yield from json_items(path, report, "results")
    else:
        yield from json_lines(path, report)


def _pages(work: Any, report: ReadReport, text: bool) -> Iterator[Page]:
    """The page of a work, and its alias."""
    given = as_object(work)
    url = _work_address(given.get("id"))
    if not url:
        report.skip("work without an id", str(given.get("id", work))[:80])
        return
    title = as_text(given.get("title")) or as_text(given.get("display_name"))
    year = given.get("publication_year")
    date = as_text(given.get("publication_date")) or (str(year) if type(year) is int and 1000 <= year <= 9999 else "")
    page = Page(url, title=shortened(title, MAX_TEXT), captured=date, lang=as_text(given.get("language")))
    cited = (_work_address(there) for there in as_list(given.get("referenced_works")))
    page.links = [Link(there, block=0) for there in cited if there and there != url]
    page.headings = ["References"] if page.links else []
    block = len(page.headings)
    for topic in as_list(given.get("topics"))[:MAX_TOPICS]:
        if found := _TOPIC.fullmatch(as_text(as_object(topic).get("id"))):
            name = shortened(as_text(topic.get("display_name")), MAX_TEXT)
            there = f"https://openalex.org/{found[1].upper()}"
            page.links.append(Link(there, name, block, weight=TOPIC_WEIGHT, boilerplate=True))
    page.headings += ["Topics"] if page.links and page.links[-1].block == block else []
    if text:
        page.text = _abstract(given)
    doi = as_text(given.get("doi"))
    if doi.lower().startswith(("http://", "https://")):
        yield Page(doi, redirect=url)
    yield page


def _work_address(value: object) -> str:
    found = _WORK.fullmatch(as_text(value))
    return f"https://openalex.org/{found[1].upper()}" if found else ""


def _abstract(given: dict[str, Any]) -> str:
    """The abstract, which OpenAlex gives as the positions of every word."""
    index = given.get("abstract_inverted_index")
    if isinstance(index, str):  # Parquet files often have it as JSON
        try:
            index = json_value(index)
        except (ValueError, RecursionError):
            index = None
    if not isinstance(index, dict):
        return as_text(given.get("abstract"))
    words = {
        place: as_text(word)
        for word, places in index.items()
        for place in as_list(places)
        if type(place) is int and 0 <= place < MAX_WORDS
    }
    return " ".join(words[place] for place in sorted(words))


SOURCE = SourceKind("openalex", "works of OpenAlex", recognises, read_openalex, order=45)
