"""Answer and Answers: the results of a question as data; `present.py` makes text and tables of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from cocite.results.reasons import Reason as Reason

if TYPE_CHECKING:
    from cocite.graph.store import Graph


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
