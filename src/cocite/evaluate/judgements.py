"""Judgements (the right results for a page) and runs (the results of a method).

Two kinds of files, plain or compressed, recognised by their rows:

    judgements   query<TAB>page[<TAB>rating]          or TREC: query 0 page rating
    run          query<TAB>rank<TAB>answer[<TAB>…]    or TREC: query Q0 answer rank score name

TREC's runs are ordered by score, as trec_eval does, and then by rank. Addresses are compared by their canonical
spelling. A page with a rating above 0, or without one, is right. Unusable rows are counted by reason and never stop an
evaluation. A study is stricter: its raters would work in vain.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from cocite.errors import BadAddress, BadSource
from cocite.pages.address import parse_query
from cocite.sources.compressed import open_lines
from cocite.sources.records import ReadReport
from cocite.text import count

MAX_ROWS = 50_000_000
DEAD = -1.0
"""The rating of a page that could not be opened."""
COLUMN_NAMES = frozenset({
    "answer", "doc", "docid", "document", "iter", "iteration", "label", "page", "q", "qid", "query", "rank", "rating",
    "rel", "related", "relevance", "relevant", "result", "score", "source", "target", "topic", "url",
})  # fmt: skip
"""Names of columns in such files."""


@dataclass
class Judgements:
    """Ratings of pages by query."""

    ratings: dict[str, dict[str, float]] = field(default_factory=dict)
    repeated: int = 0
    contradicted: int = 0  # of those, with another rating

    def __len__(self) -> int:
        return len(self.ratings)

    def right(self, query: str) -> set[str]:
        """The right pages for a query, without the query itself."""
        return {page for page, rating in self.ratings.get(query, {}).items() if rating > 0 and page != query}

    def rate(self, query: str, page: str, rating: float) -> None:
        """Add a rating; of several for the same pair the best counts."""
        known = self.ratings.setdefault(query, {})
        self.repeated += page in known
        self.contradicted += known.get(page, rating) != rating
        known[page] = max(rating, known.get(page, rating))


@dataclass
class Run:
    """The results of a method by query, best first."""

    name: str
    answers: dict[str, list[str]] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Mapping[str, object]] = field(default_factory=dict)

    def of(self, query: str) -> list[str]:
        """The results for a query; empty if it has none."""
        return self.answers.get(query, [])

    def size(self, query: str, name: str) -> float | None:
        """How many edges, siblings and so on the method read; None if it doesn't report that."""
        value = self.facts.get(query, {}).get(name)
        return float(value) if isinstance(value, int | float) else None


def page_of(text: str) -> str:
    """The canonical spelling of an address in a file; raises BadAddress."""
    return parse_query(text).canonical


def read_judgements(path: Path, report: ReadReport, page_of: Callable[[str], str] = page_of) -> Judgements:
    """Read judgements; raises BadSource if no row is usable. `page_of` turns a text into a page."""
    found = Judgements()
    for _, row in _rows(path, report):
        trec = len(row) == 4 and row[1] in ("0", "Q0")
        query, page = (row[0], row[2]) if trec else (row[0], row[1] if len(row) > 1 else "")
        rating = _number((row[3] if trec else row[2] if len(row) > 2 else "") or "1")
        if rating is None:
            report.skip("rating that isn't a number", "\t".join(row))
            continue
        pair = _pages(report, query, page, page_of)
        if pair:
            found.rate(*pair, rating)
    if not found.ratings:
        raise BadSource(f"{path} has no judgements: a row is query<TAB>page, or TREC's query 0 page rating")
    return found


def read_run(path: Path, report: ReadReport, page_of: Callable[[str], str] = page_of) -> Run:
    """Read a run; raises BadSource if no row is usable. `page_of` turns a text into a page."""
    ranked: dict[str, list[tuple[float, float, int, str]]] = {}
    for number, row in _rows(path, report):
        trec = len(row) == 6 and row[1].upper() in ("Q0", "0")  # trec_eval ignores it
        if len(row) < 3:
            report.skip("row with fewer than three fields", "\t".join(row))
            continue
        rank, score = _number(row[3] if trec else row[1]), _number(row[4]) if trec else 0.0
        if rank is None or score is None:
            report.skip(f"{'rank' if rank is None else 'score'} that isn't a number", "\t".join(row))
            continue
        pair = _pages(report, row[0], row[2], page_of)
        if pair:
            ranked.setdefault(pair[0], []).append((-score, rank, number, pair[1]))
    if not ranked:
        raise BadSource(f"{path} has no results: a row is query<TAB>rank<TAB>page, or as in TREC's runs")
    answers = {query: list(dict.fromkeys(page for *_, page in sorted(rows))) for query, rows in ranked.items()}
    repeated = sum(map(len, ranked.values())) - sum(map(len, answers.values()))
    if repeated:
        report.skip("repeated result of a query", count=repeated)
    itself = [query for query, pages in answers.items() if query in pages]
    for query in itself:
        answers[query].remove(query)
    if itself:
        report.skip("result that is the query itself, skipped", itself[0], len(itself))
    return Run(path.name, answers)


def read_systems(path: Path, page_of: Callable[[str], str] = page_of) -> list[Run]:
    """Read a TREC run for a study: a run for each tag, with the results as they are written.

    Raises BadSource at the first row that isn't right.
    """
    found: dict[tuple[str, str], dict[str, tuple[float, float, str]]] = {}
    taken: set[tuple[str, str, float]] = set()
    for number, row in _rows(path, ReadReport()):

        def wrong(what: str, line: int = number) -> BadSource:
            return BadSource(f"{path}, line {line}: {what}")

        if len(row) != 6:
            raise wrong(f"{count(len(row), 'field')} instead of six; a row is: topic Q0 page rank score tag")
        topic, _, text, rank, score, tag = row
        place, value = _number(rank), _number(score)
        if place is None or value is None:
            what = f"rank {rank!r:.50}" if place is None else f"score {score!r:.50}"
            raise wrong(f"the {what} isn't a number")
        try:
            query, page = page_of(topic), page_of(text)
        except BadAddress as error:
            raise wrong(str(error)) from error
        if (tag, query, place) in taken:
            raise wrong(f"{tag} has rank {rank} for {topic:.200} twice; give each result a rank of its own")
        results = found.setdefault((tag, query), {})
        if page in results:
            raise wrong(f"{tag} has {text:.200} twice for {topic:.200}; remove one of them")
        taken.add((tag, query, place))
        results[page] = (-value, place, text)
    if not found:
        raise BadSource(f"{path} has no results: a row of a TREC run is: topic Q0 page rank score tag")
    systems: dict[str, Run] = {}
    for (tag, query), results in found.items():
        results.pop(query, None)
        run = systems.setdefault(tag, Run(tag))
        run.answers[query] = [text for *_, text in sorted(results.values())]
    return list(systems.values())


def _rows(path: Path, report: ReadReport) -> Iterator[tuple[int, list[str]]]:
    """Yield the numbered rows of a file, without the header, empty lines and comments."""
    first = True
    for number, raw in enumerate(open_lines(path, report), 1):
        if number > MAX_ROWS:
            report.skip(f"row beyond the first {MAX_ROWS:,}", "")
            return
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip("\r\n")
        if line.strip() and not line.startswith("#"):
            row = [part.strip() for part in (line.split("\t") if "\t" in line else line.split())]
            header = first and len(row) > 1 and all(name.casefold() in COLUMN_NAMES for name in row[:3] if name)
            first = False
            if not header:
                yield number, row


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _pages(report: ReadReport, query: str, page: str, page_of: Callable[[str], str]) -> tuple[str, str] | None:
    try:
        return page_of(query), page_of(page)
    except BadAddress as error:
        report.skip(str(error).partition(": ")[0], f"{query} {page}")
        return None
