"""Answer and Answers: what computing gives to showing. Structure only; `present.py` makes it readable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from cocite.graph.store import Graph

TOGETHER, TOGETHER_IN_ALL = "cited together", "cited together in all"
SHARED, SHARED_IN_ALL = "links to the same page", "links to the same pages in all"
LINKED, LINKS, BEYOND = "linked by the query", "links to the query", "links to a page that links to the query"
STANDS_FOR, REACHED = "stands for near-duplicates", "reached by links"
SITES_ALIKE = "sites cited alike"
KEYWORDS, WORDS_ALIKE, WORDS_APART = "keywords in common", "keywords alike", "keywords apart"
OUTS_ALIKE, INS_ALIKE = "links to pages alike", "linked by pages alike"
SAME_NAME, BESIDE_NAME, NAME_BESIDE = "same name", "beside the same name", "its name beside"
SAME_HOST, FIRST_PAGE = "same host", "first page of its host"
BY_LINKS, BY_WORDS, BY_COMPANY, BY_USAGE = "links", "words", "company", "usage"
"""What spoke, where a method hears several kinds of evidence."""


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One piece of evidence, mostly from the links. Fields that do not belong to its kind are empty."""

    kind: str
    by: str = ""  # the page that links to both
    title: str = ""  # of that page
    block: str | None = None  # the heading of the block in which it does, perhaps empty; None: not in one block
    distance: int | None = None  # links apart on that page: 1 is side by side; None: not known
    to: str = ""  # the page that both link to
    through: str = ""  # the page in between
    count: int | None = None  # how many there are in all
    of: int | None = None  # of how many that were looked at
    voices: int | None = None  # as how many they count: near-duplicates, or pages of one unit, are one voice
    copy: str = ""  # the near-duplicate of the answer for which it holds, if not for the answer itself
    pages: tuple[str, ...] = ()  # the near-duplicates; or the pages, or sites, on the way, each linked with the next
    share: float | None = None  # the part of the score that this kind of evidence gave
    words: tuple[str, ...] = ()  # that both have, of those that tell most of the query page
    back: int | None = None  # clicks from the answer to the query page, beside `count` the other way
    together: int | None = None  # times that both were seen in one session, not one from the other
    query: str = ""  # the query page for which it holds, if there are several

    def to_dict(self) -> dict[str, Any]:
        """For JSON: what belongs to its kind."""
        found: dict[str, Any] = {"kind": self.kind}
        for name, value in vars(self).items():
            if value is None or name == "kind":
                continue
            if type(value) is tuple:
                if value:
                    found[name] = list(value)
            elif value != "" or name == "block":  # the heading of a block may be empty
                found[name] = value
        return found


@dataclass(frozen=True)
class Answer:
    """A related page."""

    rank: int
    url: str
    title: str
    score: float
    reasons: tuple[Reason, ...] = ()
    page: int = field(default=-1, compare=False)  # its number in the store

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = {"rank": self.rank, "url": self.url, "title": self.title, "score": self.score}
        return {**found, "reasons": [reason.to_dict() for reason in self.reasons]}


@dataclass(frozen=True, repr=False)
class Answers(Sequence[Answer]):
    """The answers to one question, best first, with what was asked and how."""

    query: tuple[str, ...]
    method: str
    params: Mapping[str, Any]
    used: tuple[str, ...]  # differs from the query where an address was chopped or led elsewhere
    answers: tuple[Answer, ...]
    store: Mapping[str, Any]
    milliseconds: float  # without those in which loops are compiled or loaded, once by a process
    facts: Mapping[str, Any] = field(default_factory=dict)  # nodes, edges, rounds …; what did not count
    steps: Sequence[Mapping[str, Any]] = ()  # what each round did, for a method that reports rounds
    note: str = ""  # what to know about the whole result, in words
    graph: Graph | None = field(default=None, compare=False)  # for drawings, where they were asked from Python

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Answer]: ...
    def __getitem__(self, index: int | slice) -> Answer | Sequence[Answer]:
        return self.answers[index]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def to_dict(self) -> dict[str, Any]:
        """For JSON, as docs and other programs know it: `facts` differ from method to method and are left out."""
        return {
            "query": list(self.query),
            "method": self.method,
            "params": dict(self.params),
            "used": list(self.used),
            "answers": [answer.to_dict() for answer in self.answers],
            "store": dict(self.store),
            "milliseconds": round(self.milliseconds, 3),
            **({"note": self.note} if self.note else {}),
            **({"steps": [dict(step) for step in self.steps]} if self.steps else {}),
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """The answers as a table of pandas, or of Polars: rank, url, title, score, why in short, reasons as in JSON."""
        from cocite.results.tables import frame

        return frame(self, library)

    def to_networkx(self) -> Any:
        """The neighbourhood, which a notebook draws, as a `networkx.DiGraph` of addresses.

        Nodes have `kind` (asked, related, citing, cited), `title`, `rank`, `score` and `page`, the number.
        """
        from cocite.results.tables import networkx

        return networkx(self)

    def to_igraph(self) -> Any:
        """The same as a directed `igraph.Graph`; `name` is the address."""
        from cocite.results.tables import igraph

        return igraph(self)

    def _repr_html_(self) -> str:
        from cocite.results.pictures.notebook import html

        return html(self)

    def __repr__(self) -> str:  # str(), too: a prompt shows a list, not all reasons of all answers
        from cocite.results.present import text

        return text(self)
