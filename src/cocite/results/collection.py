"""Bookmarks or feed subscriptions as a query: recommendations for each folder.

Each folder is a reading history: a page's score is the mean of its scores for the pages of the folder. A page is
recommended once, in the folder where it ranks best; pages of the collection are not recommended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cocite.errors import BadAddress, BadParameter, BadSource, UnknownPage
from cocite.kernels.jit import stopwatch
from cocite.related.methods import Method
from cocite.results.answer import Answer, Answers
from cocite.results.ask import Question, ask, check_k, question
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.history import MAX_HISTORY_PAGES, NO_HISTORY, find_history
from cocite.sources.collections import bookmarks, opml
from cocite.sources.records import ReadReport
from cocite.web import Web

NO_FOLDER = "in no folder"
MAX_FOLDERS = 1000
SPARE_FACTOR = 3
"""Results requested per wanted result, since a page near to two folders is shown in one."""
HEAD_BYTES = 4096


@dataclass(frozen=True)
class Folder:
    """A folder of a collection."""

    name: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class Collection:
    """A file of bookmarks, or of subscriptions."""

    title: str
    folders: tuple[Folder, ...]


@dataclass(frozen=True)
class FolderResults:
    """Recommendations for a folder."""

    folder: str
    pages: int  # in the folder
    unknown: tuple[str, ...]  # addresses that are not in the store
    left_out: int  # pages beyond the maximum
    answers: tuple[Answer, ...]

    @property
    def known(self) -> int:
        """Pages of the folder that were used."""
        return self.pages - len(self.unknown) - self.left_out

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {"pages": self.pages, "known": self.known, "left_out": self.left_out}
        return {"folder": self.folder, **counts, "answers": [answer.to_dict() for answer in self.answers]}


@dataclass(frozen=True)
class CollectionResults:
    """Recommendations for a collection, folder by folder."""

    title: str
    folders: tuple[FolderResults, ...]
    about: Answers | None  # the results of one folder: method, parameters, store
    milliseconds: float

    @property
    def pages(self) -> int:
        """Pages in the collection."""
        return sum(folder.pages for folder in self.folders)

    @property
    def unknown(self) -> list[str]:
        """Addresses that are not in the store."""
        return [url for folder in self.folders for url in folder.unknown]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"collection": {"title": self.title, "pages": self.pages, "unknown": self.unknown}}
        if self.about is not None:
            found |= {"method": self.about.method, "params": dict(self.about.params), "store": dict(self.about.store)}
        folders = [folder.to_dict() for folder in self.folders]
        return {**found, "folders": folders, "milliseconds": round(self.milliseconds, 3)}


def read_collection(path: Path) -> Collection | None:
    """Read bookmarks exported by a browser, or OPML; None for other files. Raises BadParameter if it is empty.

    Folders are in the order of their first links; a page counts once per folder.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        raise BadParameter(f"{path} is JSON, a browser's internal format: export the bookmarks as HTML")
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
        raise BadParameter(f"{path} contains no links: export it again")
    page, folders = pages[0], dict[str, dict[str, None]]()
    for link in page.links:
        name = page.headings[link.block] if link.block is not None and link.block < len(page.headings) else ""
        folders.setdefault(name or NO_FOLDER, {})[link.url] = None
    if len(folders) > MAX_FOLDERS:
        raise BadParameter(f"the collection has more than {MAX_FOLDERS:,} folders: give a part of it")
    return Collection(page.title, tuple(Folder(name, tuple(urls)) for name, urls in folders.items()))


def ask_collection(
    web: Web,
    collection: Collection,
    method: Method,
    k: int = 10,
    filters: Filters = NO_FILTERS,
    unwanted: Sequence[str] = (),
) -> CollectionResults:
    """The k best recommendations for each folder; raises UnknownPage if no page of the collection is in the store."""
    with stopwatch() as passed:
        graph = web.graph
        histories = []
        for folder in collection.folders:
            urls = folder.urls[:MAX_HISTORY_PAGES]
            try:
                histories.append(find_history(graph, [(url, 1.0) for url in urls]))
            except (UnknownPage, BadAddress):
                histories.append(NO_HISTORY._replace(unknown=urls))
        seeds = frozenset(page for history in histories for page in history.pages)
        if not seeds:
            first = collection.folders[0].urls[0]
            raise UnknownPage(
                f"no page of the collection is in this store, e.g. {first[:200]!r}: use another store",
                graph.names.nearest(first),
            )
        banned = question(graph, [graph.address(next(iter(seeds)))], unwanted).unwanted if unwanted else ()
        asked: list[Answers | None] = []
        for history in histories:
            if not history.pages:
                asked.append(None)
                continue
            one = Question(history.texts, history.pages, banned, history, seeds)
            asked.append(ask(web, one, method, check_k(k) * SPARE_FACTOR, filters))
            web.progress("asking", 1, len(histories))
        results = [
            FolderResults(
                folder.name, len(folder.urls), history.unknown, max(0, len(folder.urls) - MAX_HISTORY_PAGES), some
            )
            for folder, history, some in zip(collection.folders, histories, _once(asked, k), strict=True)
        ]
        about = next((answers for answers in asked if answers is not None), None)
        return CollectionResults(collection.title, tuple(results), about, passed())


def _once(asked: Sequence[Answers | None], k: int) -> list[tuple[Answer, ...]]:
    """Keep each page in the folder where it ranks best, of equal ones the earlier; k per folder, ranked again."""
    best: dict[int, tuple[int, int]] = {}
    for number, answers in enumerate(asked):
        for answer in answers or ():
            best[answer.page] = min(best.get(answer.page, (answer.rank, number)), (answer.rank, number))
    chosen = []
    for number, answers in enumerate(asked):
        own = [answer for answer in answers or () if best[answer.page][1] == number][:k]
        chosen.append(tuple(replace(answer, rank=rank) for rank, answer in enumerate(own, 1)))
    return chosen
