"""A collection that somebody keeps, bookmarks or a blogroll, as a question: pages near to it, folder by folder.

Each folder is asked like a reading history: the score of a page is the mean of its scores for every page of the folder.
A page is recommended once, for the folder in which it comes first, and no page that is in the collection already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cocite.errors import BadAddress, BadParameter, BadSource, UnknownPage
from cocite.graph.store import Graph
from cocite.kernels.jit import stopwatch
from cocite.related.methods import Method
from cocite.results.answer import Answer, Answers
from cocite.results.ask import Question, ask, check_k, question
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.history import MOST_PAGES, NO_HISTORY, History, find_history
from cocite.sources.collections import bookmarks, opml
from cocite.sources.records import Page, ReadReport
from cocite.web import Web

LOOSE = "in no folder"
MOST_FOLDERS = 1000
TIMES = 3
"""So many times the answers wanted are asked for, as a page that is near to two folders is shown in one."""
HEAD = 4096


@dataclass(frozen=True)
class Folder:
    """Some pages of a collection."""

    name: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class Collection:
    """A file of bookmarks, or of subscriptions."""

    title: str
    folders: tuple[Folder, ...]


@dataclass(frozen=True)
class Near:
    """What is near to a folder."""

    folder: str
    pages: int  # in the folder
    unknown: tuple[str, ...]  # of them, those that the store does not have
    left_out: int  # that were not asked about, as there are too many
    answers: tuple[Answer, ...]

    @property
    def known(self) -> int:
        """Pages that were asked about."""
        return self.pages - len(self.unknown) - self.left_out

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {"pages": self.pages, "known": self.known, "left_out": self.left_out}
        return {"folder": self.folder, **counts, "answers": [answer.to_dict() for answer in self.answers]}


@dataclass(frozen=True)
class NearCollection:
    """What is near to a whole collection, by folder, in its order."""

    title: str
    folders: tuple[Near, ...]
    about: Answers | None  # the question to one of the folders: method, parameters, store
    milliseconds: float

    @property
    def pages(self) -> int:
        """In the collection."""
        return sum(folder.pages for folder in self.folders)

    @property
    def unknown(self) -> list[str]:
        """Addresses that the store does not have."""
        return [url for folder in self.folders for url in folder.unknown]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"collection": {"title": self.title, "pages": self.pages, "unknown": self.unknown}}
        if self.about is not None:
            found |= {"method": self.about.method, "params": dict(self.about.params), "store": dict(self.about.store)}
        folders = [folder.to_dict() for folder in self.folders]
        return {**found, "folders": folders, "milliseconds": round(self.milliseconds, 3)}


def read_collection(path: Path) -> Collection | None:
    """A collection, if a file is bookmarks as browsers export them, or OPML; raises BadParameter if it is empty."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        raise BadParameter(f"{path} is JSON, in which browsers keep bookmarks for themselves: export them as HTML")
    report = ReadReport()
    try:
        if opml.recognises(path, head):
            pages = list(opml.read_opml(path, report))
        elif bookmarks.recognises(path, head):
            pages = list(bookmarks.read_bookmarks(path, report))
        else:
            return None
    except BadSource as error:
        raise BadParameter(str(error)) from error
    if not pages:
        raise BadParameter(f"{path} has no links: export it again")
    return _collected(pages[0])


def _collected(page: Page) -> Collection:
    """Folders in the order in which their first links come; a page named twice in a folder counts once."""
    found: dict[str, dict[str, None]] = {}
    for link in page.links:
        name = page.headings[link.block] if link.block is not None and link.block < len(page.headings) else ""
        found.setdefault(name or LOOSE, {})[link.url] = None
    if len(found) > MOST_FOLDERS:
        raise BadParameter(f"more than {MOST_FOLDERS:,} folders: give a part of the collection")
    return Collection(page.title, tuple(Folder(name, tuple(urls)) for name, urls in found.items()))


def ask_collection(
    web: Web,
    collection: Collection,
    method: Method,
    k: int = 10,
    filters: Filters = NO_FILTERS,
    unwanted: Sequence[str] = (),
) -> NearCollection:
    """The k pages nearest to each folder; raises UnknownPage if the store has nothing of the whole collection."""
    with stopwatch() as passed:
        graph = web.graph
        histories = [_known(graph, folder.urls[:MOST_PAGES]) for folder in collection.folders]
        seeds = frozenset(page for history in histories for page in history.pages)
        first = collection.folders[0].urls[0]
        if not seeds:
            raise UnknownPage(
                f"this store has no page of the collection, neither {first[:200]!r} nor any other: use another store",
                graph.names.nearest(first),
            )
        banned = question(graph, [graph.address(next(iter(seeds)))], unwanted).unwanted if unwanted else ()
        asked: list[Answers | None] = []
        for history in histories:
            if not history.pages:
                asked.append(None)
                continue
            one = Question(history.texts, history.pages, banned, history, seeds)
            asked.append(ask(web, one, method, check_k(k) * TIMES, filters))
            web.progress("asking", 1, len(histories))
        chosen = _once(asked, k)
        near = [
            Near(folder.name, len(folder.urls), history.unknown, max(0, len(folder.urls) - MOST_PAGES), some)
            for folder, history, some in zip(collection.folders, histories, chosen, strict=True)
        ]
        about = next((answers for answers in asked if answers is not None), None)
        return NearCollection(collection.title, tuple(near), about, passed())


def _known(graph: Graph, urls: Sequence[str]) -> History:
    """The pages of a folder, perhaps none."""
    try:
        return find_history(graph, [(url, 1.0) for url in urls])
    except (UnknownPage, BadAddress):
        return NO_HISTORY._replace(unknown=tuple(urls))


def _once(asked: Sequence[Answers | None], k: int) -> list[tuple[Answer, ...]]:
    """Every page in the folder in which it comes first, of equal ones in the earlier; k of them, ranked anew."""
    best: dict[int, tuple[int, int]] = {}
    for number, answers in enumerate(asked):
        for answer in answers or ():
            best[answer.page] = min(best.get(answer.page, (answer.rank, number)), (answer.rank, number))
    chosen = []
    for number, answers in enumerate(asked):
        own = [answer for answer in answers or () if best[answer.page][1] == number][:k]
        chosen.append(tuple(replace(answer, rank=rank) for rank, answer in enumerate(own, 1)))
    return chosen
