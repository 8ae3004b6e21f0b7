"""Judgements and runs: which answers are right for a page, and which answers a method gave.

Files, plain or compressed, of two kinds, told apart by their rows:

    judgements   query<TAB>page[<TAB>rating]          or TREC: query 0 page rating
    run          query<TAB>rank<TAB>answer[<TAB>…]    or TREC: query Q0 answer rank score name

TREC's runs are in the order of their scores, as trec_eval has it, and of the ranks where scores are equal. Addresses
are compared by their canonical spelling. A rating above 0 is right; without one a row says "right". Rows that cannot be
used are counted by reason and never stop an evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from cocite.errors import BadAddress, BadSource
from cocite.pages.address import parse_query
from cocite.sources.compressed import open_lines
from cocite.sources.records import ReadReport

MOST_ROWS = 50_000_000
DEAD = -1.0
"""The rating of a page that could not be opened."""
COLUMNS = frozenset({
    "answer", "doc", "docid", "document", "iter", "iteration", "label", "page", "q", "qid", "query", "rank", "rating",
    "rel", "related", "relevance", "relevant", "result", "score", "source", "target", "topic", "url",
})  # fmt: skip
"""What the columns of such files are called."""


@dataclass
class Judgements:
    """The rating of pages by query; what has none is unrated."""

    ratings: dict[str, dict[str, float]] = field(default_factory=dict)
    repeated: int = 0
    contradicted: int = 0  # of those, with another rating

    def __len__(self) -> int:
        return len(self.ratings)

    def right(self, query: str) -> set[str]:
        """The pages that are right for a query; itself is none of them."""
        return {page for page, rating in self.ratings.get(query, {}).items() if rating > 0 and page != query}

    def rate(self, query: str, page: str, rating: float) -> None:
        """Note a rating; of several for the same pair the best counts."""
        known = self.ratings.setdefault(query, {})
        self.repeated += page in known
        self.contradicted += known.get(page, rating) != rating
        known[page] = max(rating, known.get(page, rating))


@dataclass
class Run:
    """What a method answered, best first, by query."""

    name: str
    answers: dict[str, list[str]] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Mapping[str, object]] = field(default_factory=dict)

    def of(self, query: str) -> list[str]:
        """The answers to a query; none if it was not answered."""
        return self.answers.get(query, [])

    def size(self, query: str, name: str) -> float | None:
        """How many edges, siblings or whatever it is the method looked at; None if it does not say."""
        value = self.facts.get(query, {}).get(name)
        return float(value) if isinstance(value, int | float) else None


def page_of(text: str) -> str:
    """The page that an address in a file means; raises BadAddress."""
    return parse_query(text).canonical


def read_judgements(path: Path, report: ReadReport, page_of: Callable[[str], str] = page_of) -> Judgements:
    """The judgements of a file; raises BadSource if no row of it can be used. `page_of` says what a text names."""
    found = Judgements()
    for _, row in _rows(path, report):
        trec = len(row) == 4 and row[1] in ("0", "Q0")
        query, page = (row[0], row[2]) if trec else (row[0], row[1] if len(row) > 1 else "")
        rating = _number((row[3] if trec else row[2] if len(row) > 2 else "") or "1")
        if rating is None:
            report.skip("rating is no number", "\t".join(row))
            continue
        pair = _pages(report, query, page, page_of)
        if pair:
            found.rate(*pair, rating)
    if not found.ratings:
        raise BadSource(f"{path} has no judgements: a row is query<TAB>page, or query 0 page rating as TREC has it")
    return found


def read_run(path: Path, report: ReadReport, page_of: Callable[[str], str] = page_of) -> Run:
    """The answers of a file; raises BadSource if no row of it can be used. `page_of` says what a text names."""
    ranked: dict[str, list[tuple[float, float, int, str]]] = {}
    for number, row in _rows(path, report):
        trec = len(row) == 6 and row[1].upper() in ("Q0", "0")  # trec_eval does not look at it
        if len(row) < 3:
            report.skip("row of fewer than three fields", "\t".join(row))
            continue
        rank, score = _number(row[3] if trec else row[1]), _number(row[4]) if trec else 0.0
        if rank is None or score is None:
            report.skip("rank is no number" if rank is None else "score is no number", "\t".join(row))
            continue
        pair = _pages(report, row[0], row[2], page_of)
        if pair:
            ranked.setdefault(pair[0], []).append((-score, rank, number, pair[1]))
    if not ranked:
        raise BadSource(f"{path} has no answers: a row is query<TAB>rank<TAB>answer, or as TREC has it")
    answers = {query: list(dict.fromkeys(page for *_, page in sorted(rows))) for query, rows in ranked.items()}
    repeated = sum(map(len, ranked.values())) - sum(map(len, answers.values()))
    if repeated:
        report.skip("answer given more than once to a query", count=repeated)
    itself = [query for query, pages in answers.items() if query in pages]
    for query in itself:
        answers[query].remove(query)
    if itself:
        report.skip("answer that is the query itself, left out", itself[0], len(itself))
    return Run(path.name, answers)


def is_header(row: list[str]) -> bool:
    """Whether the first row of a file names its columns; pages may be called anything else."""
    return len(row) > 1 and all(field.casefold() in COLUMNS for field in row[:3] if field)


def _rows(path: Path, report: ReadReport) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file, without the names of its columns; empty lines and remarks may stand before these."""
    first = True
    for number, raw in enumerate(open_lines(path, report), 1):
        if number > MOST_ROWS:
            report.skip(f"row beyond the first {MOST_ROWS:,}", "")
            return
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip("\r\n")
        if line.strip() and not line.startswith("#"):
            row = [part.strip() for part in (line.split("\t") if "\t" in line else line.split())]
            if not (first and is_header(row)):
                yield number, row
            first = False


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
