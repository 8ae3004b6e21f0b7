"""Reasons: the evidence of a method, put into words and into the fields of the public JSON format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from cocite.graph.store import Graph
from cocite.related.evidence import ByLinks, Evidence, ListedTogether, Listing, SharedLink, SharedLinks
from cocite.results.memory import Memory, memory_of

CACHED_PAGES = 1 << 14
"""Pages whose names, and lists whose headings, are cached with a graph: results share lists, and recur."""
MAX_LABEL_CHARS, MIN_BRIEF_SHARE = 80, 0.05
GENERIC_TITLES = frozenset(
    ("about", "blog", "contents", "docs", "documentation", "download", "github", "home", "homepage", "index",
     "introduction", "links", "list", "lists", "logo", "main", "news", "overview", "page", "readme", "resources",
     "start", "untitled", "welcome", "wiki")
)  # fmt: skip
"""Titles that don't tell which page is meant: the host follows them."""

TOTALS = {Listing.kind: ListedTogether.kind, SharedLink.kind: SharedLinks.kind}
"""Examples, and the kind that counts them."""


@dataclass(slots=True, kw_only=True)
class Reason:
    """One reason why a page is related. `text` is the sentence; fields that don't belong to its kind are empty."""

    kind: str
    by: str = ""  # the page that links to both
    title: str = ""  # of that page
    block: str | None = None  # the heading of the section in which it does, perhaps empty; None: not in one section
    distance: int | None = None  # links apart on that page: 1 is next to each other; None: unknown
    to: str = ""  # the page that both link to
    through: str = ""  # the page in between
    count: int | None = None  # how many there are in all
    of: int | None = None  # of how many that were read
    voices: int | None = None  # as how many they count: near-duplicates, or pages of one site, count as one
    copy: str = ""  # the near-duplicate of the result that it is about, if not the result itself
    pages: tuple[str, ...] = ()  # near-duplicates, or the pages or sites of a path
    share: float | None = None  # the part of the score that this kind of evidence gives
    words: tuple[str, ...] = ()
    back: int | None = None  # clicks from the result to the query page, beside `count` the other way
    together: int | None = None  # sessions in which both were visited, not one from the other
    query: str = ""  # the query page that it is about, if there are several
    text: str = ""

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the fields that belong to its kind."""
        found: dict[str, Any] = {}
        for name in _FIELDS:
            value = getattr(self, name)
            if type(value) is tuple:
                value = list(value)
            if value or value == 0 or (name == "block" and value is not None):  # a heading may be empty
                found[name] = value
        return found


_FIELDS = tuple(each.name for each in fields(Reason))


class ReasonNames:
    """Names of pages for reasons, cached with the graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._about: Memory[tuple[str, str, str]] = memory_of(graph, "about", CACHED_PAGES)
        self._headings: Memory[list[str]] = memory_of(graph, "headings", CACHED_PAGES)

    def address(self, page: int) -> str:
        """The address of a page."""
        return self._about.get(page, self._read)[0]

    def title(self, page: int) -> str:
        """The page's own title, perhaps empty."""
        return self._about.get(page, self._read)[1]

    def label(self, page: int) -> str:
        """The title on one line, with the host if it is generic; without a title the address, without its scheme."""
        return self._about.get(page, self._read)[2]

    def heading(self, page: int, section: int) -> str:
        """The heading of a section of a page, perhaps empty."""
        headings = self._headings.get(page, self._graph.headings)
        return headings[section] if section < len(headings) else ""

    def _read(self, page: int) -> tuple[str, str, str]:
        address, title = self._graph.address(page), self._graph.title(page)
        return address, title, label_of(address, title)


def label_of(address: str, title: str) -> str:
    """What to call a page in a sentence."""
    label, bare = one_line(title), address.partition("://")[2] or address
    if not label:
        return shortened(one_line(bare.removeprefix("www.").rstrip("/")))
    host = bare.partition("/")[0].removeprefix("www.")
    generic = label.lower().strip(" .:!|-") in GENERIC_TITLES
    return f"{label} ({host})" if generic and host else shortened(label)


def shortened(text: str) -> str:
    """A text of at most MAX_LABEL_CHARS."""
    return text if len(text) <= MAX_LABEL_CHARS else text[: MAX_LABEL_CHARS - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """Text on one line, without control characters, which could steer a terminal."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in "\u200c\u200d" else " " for c in text)
    return " ".join(text.split())


def reasons_of(names: ReasonNames, evidence: Iterable[Evidence]) -> tuple[Reason, ...]:
    """The reasons for one result, in the order of its evidence."""
    found = []
    for each in evidence:
        reason = Reason(**each.to_json(names))
        if not reason.text.isprintable():
            reason.text = one_line(reason.text)
        found.append(reason)
    return tuple(found)


def sentences(reasons: Sequence[Reason]) -> list[str]:
    """Every sentence once, without the remark that links count where links themselves are named."""
    found = dict.fromkeys(each.text for each in reasons if each.kind != ByLinks.kind)
    return list(found) or [each.text for each in reasons[:1]]


def brief(reasons: Sequence[Reason], limit: int = 3) -> list[str]:
    """The sentences of the strongest reasons: counts instead of their examples, no small parts of the score."""
    totals = {(each.kind, each.query): each for each in reasons if each.kind in TOTALS.values()}
    chosen = [totals.get((TOTALS.get(each.kind, ""), each.query), each) for each in reasons]
    strong = [each for each in chosen if each.share is None or each.share >= MIN_BRIEF_SHARE]
    return sentences(strong or chosen)[:limit]
