"""Answer and Answers: the results of a question as data, with their JSON, text, tables and graphs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, overload

from cocite.budget import spend
from cocite.errors import BadParameter
from cocite.related.evidence import Reason as Reason
from cocite.text import clean

if TYPE_CHECKING:
    from cocite.graph.store import Graph
    from cocite.results.pictures.neighbourhood import Picture

Row = TypeVar("Row", covariant=True)
HIDDEN = {"hidden": True}
"""Metadata of a field that the JSON of a result doesn't have."""


@dataclass(frozen=True)
class Result:
    """What an operation returns. Its JSON has its fields, without the hidden ones, and without an empty note."""

    def to_dict(self) -> Any:
        """For JSON."""
        shown = (each.name for each in fields(self) if "hidden" not in each.metadata)
        return {name: _plain(value) for name in shown if (value := getattr(self, name)) or name != "note"}


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


class ResultRows(Sequence[Row]):
    """A result that can be used like a list."""

    _rows: Sequence[Row]

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True)
class Answer(Result):
    """A related page."""

    rank: int
    url: str
    title: str
    score: float
    reasons: tuple[Reason, ...] = ()
    page: int = field(default=-1, compare=False)  # its number in the store

    def to_dict(self) -> dict[str, Any]:
        """For JSON. 1,000 answers about 50 pages have thousands of reasons."""
        spend()
        found = {"rank": self.rank, "url": self.url, "title": self.title, "score": self.score}
        return {**found, "reasons": [reason.to_dict() for reason in self.reasons]}


@dataclass(frozen=True, repr=False)
class Answers(ResultRows[Answer], Result):
    """The answers to one question, best first, with what was asked and how."""

    query: tuple[str, ...]
    method: str
    params: Mapping[str, Any]
    used: tuple[str, ...]  # differs from the query where a shorter address was used, or an alias was followed
    answers: tuple[Answer, ...]
    store: Mapping[str, Any]
    milliseconds: float  # without those in which loops are compiled or loaded, once by a process
    note: str = ""  # what to know about the whole result, in words
    steps: Sequence[Mapping[str, Any]] = ()  # what each round did, for a method that reports rounds
    facts: Mapping[str, Any] = field(default_factory=dict, metadata=HIDDEN)  # nodes, rounds …: each method has others
    graph: "Graph | None" = field(default=None, compare=False, metadata=HIDDEN)  # for drawings, in Python

    @property
    def _rows(self) -> tuple[Answer, ...]:  # type: ignore[override]
        return self.answers

    def to_dict(self) -> dict[str, Any]:
        """For JSON; without note and steps if there are none."""
        found = {**super().to_dict(), "milliseconds": round(self.milliseconds, 3)}
        return {name: value for name, value in found.items() if value or name not in ("note", "steps")}

    def to_frame(self, library: str = "pandas") -> Any:
        """The answers as a table of pandas, or of Polars: rank, url, title, score, why in short, reasons as in JSON."""
        from cocite.graph.export.libraries import frame_of
        from cocite.results.present import briefly

        why = [clean(briefly(answer)) for answer in self]
        reasons = [[reason.to_dict() for reason in answer.reasons] for answer in self]
        return frame_of({**columns_of(self), "why": why, "reasons": reasons}, library)

    def to_networkx(self) -> Any:
        """The neighbourhood, which a notebook draws, as a `networkx.DiGraph` of addresses.

        Nodes have `kind` (asked, related, citing, cited), `title`, `rank`, `score` and `page`, the number.
        """
        from cocite.graph.export.libraries import library

        made, picture = library("networkx").DiGraph(), self._picture()
        made.add_nodes_from((node.url, {name: getattr(node, name) for name in NODE_FACTS}) for node in picture.nodes)
        made.add_edges_from((picture.nodes[a].url, picture.nodes[b].url) for a, b in picture.links)
        return made

    def to_igraph(self) -> Any:
        """The same as a directed `igraph.Graph`; `name` is the address."""
        from cocite.graph.export.libraries import library

        picture = self._picture()
        made = library("igraph").Graph(n=len(picture.nodes), edges=list(picture.links), directed=True)
        made.vs["name"] = [node.url for node in picture.nodes]
        for name in NODE_FACTS:
            made.vs[name] = [getattr(node, name) for node in picture.nodes]
        return made

    def _picture(self) -> "Picture":
        from cocite.results.pictures.neighbourhood import picture_of

        if self.graph is None:
            raise BadParameter("These results have no store to read links from: use cocite.open(...).related(...)")
        return picture_of(self.graph, self)

    def _repr_html_(self) -> str:
        from cocite.results.pictures.notebook import html

        return html(self)

    def __repr__(self) -> str:  # str(), too: a prompt shows a list, not all reasons of all answers
        head = clean(f"related to {', '.join(self.query)} by {self.method}")
        rows = [f"{each.rank:3d}  {each.score:<11g} {clean(f'{each.url}  {each.title}')}" for each in self]
        return "\n".join(filter(None, [head, clean(self.note), *(rows or ["  nothing"])]))


NODE_FACTS = ("kind", "title", "rank", "score", "page")


def columns_of(answers: Iterable[Answer]) -> dict[str, list[Any]]:
    """Answers as columns of a table."""
    found = list(answers)
    return {name: [getattr(answer, name) for answer in found] for name in ("rank", "url", "title", "score")}
