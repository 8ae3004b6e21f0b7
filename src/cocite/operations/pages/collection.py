"""Find pages near a collection: bookmarks or feed subscriptions, folder by folder.

Each folder is a reading history: a page's score is the mean of its scores for the pages of the folder. A page is
recommended once, in the folder where it ranks best; pages of the collection are not recommended.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from cocite.errors import BadAddress, BadParameter, BadSource, UnknownPage
from cocite.operations.declare import Web
from cocite.operations.pages.related import Related
from cocite.results.answer import HIDDEN, Answer, Answers, Result
from cocite.results.filters import Filters
from cocite.text import count

NO_FOLDER = "in no folder"
MAX_FOLDERS = 1000
SPARE_FACTOR = 3  # results requested per wanted result, since a page near to two folders is shown in one
HEAD_BYTES = 4096


class Collection(NamedTuple):
    """A file of bookmarks, or of subscriptions: the addresses of each folder."""

    title: str
    folders: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class FolderResults(Result):
    """Recommendations for a folder."""

    folder: str
    pages: int  # in the folder
    known: int  # of these, used
    left_out: int  # pages beyond the maximum
    answers: tuple[Answer, ...]
    unknown: tuple[str, ...] = field(metadata=HIDDEN)  # addresses that are not in the store


@dataclass(frozen=True)
class CollectionResults:
    """Recommendations for a collection, folder by folder."""

    title: str
    folders: tuple[FolderResults, ...]
    about: Answers  # the results of one folder: method, parameters, store
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
        return {
            "collection": {"title": self.title, "pages": self.pages, "unknown": self.unknown},
            **{name: value for name, value in self.about.to_dict().items() if name in ("method", "params", "store")},
            "folders": [folder.to_dict() for folder in self.folders],
            "milliseconds": round(self.milliseconds, 3),
        }


@dataclass(frozen=True, kw_only=True)
class RelatedToCollection(Related):
    """The question about related pages, asked for each folder of a collection."""

    collection: Collection

    def validate(self) -> None:
        Filters.validate(self)  # the collection is the query

    def run(self, web: Web) -> CollectionResults:  # type: ignore[override]
        """The k pages nearest to each folder; raises UnknownPage if no page of the collection is in the store."""
        from cocite.kernels.jit import stopwatch
        from cocite.related.methods import method
        from cocite.results.ask import Question, ask, question
        from cocite.results.history import MAX_HISTORY_PAGES, NO_HISTORY, find_history

        graph, chosen, folders = web.graph, method(self.method), self.collection.folders
        with stopwatch() as passed:
            histories = []
            for urls in folders.values():
                some = tuple(urls[:MAX_HISTORY_PAGES])
                try:
                    histories.append(find_history(graph, [(url, 1.0) for url in some], chosen.chop))
                except (UnknownPage, BadAddress):
                    histories.append(NO_HISTORY._replace(unknown=some))
            seeds = frozenset(page for history in histories for page in history.pages)
            if not seeds:
                first = next(iter(folders.values()))[0]
                message = f"no page of the collection is in this store, e.g. {first[:200]!r}: use another store"
                raise UnknownPage(message, graph.names.nearest(first))
            seed = graph.address(next(iter(seeds)))
            unwanted = question(graph, [seed], self.exclude).unwanted if self.exclude else ()
            found: list[Answers | None] = []
            for each in histories:
                one = Question(each.texts, each.pages, unwanted, each, seeds, (each.note,) if each.note else ())
                found.append(ask(web, one, chosen, self.k * SPARE_FACTOR, self.filters) if each.pages else None)
                web.progress("asking", bool(each.pages), len(histories))
            results, best = [], best_folders(found, self.k)
            for (name, urls), history, answers in zip(folders.items(), histories, best, strict=True):
                left_out, unknown = max(0, len(urls) - MAX_HISTORY_PAGES), history.unknown
                known = len(urls) - left_out - len(unknown)
                results.append(FolderResults(name, len(urls), known, left_out, answers, unknown))
            about = next(answers for answers in found if answers is not None)
            return CollectionResults(self.collection.title, tuple(results), about, passed())

    def warnings(self, web: Web, result: Any) -> Iterator[str]:
        """Pages that were not asked about."""
        if result.unknown:
            some, pages = ", ".join(result.unknown[:3]), count(result.pages, "page")
            yield f"Not in this store: {len(result.unknown):,} of {pages} of {self.like}, such as {some}"
        for folder in result.folders:
            if folder.left_out:
                yield f"{folder.folder}: the last {count(folder.left_out, 'page')} of this folder were skipped"

    def why_empty(self, web: Web, result: Any) -> str:
        if any(folder.answers for folder in result.folders):
            return ""
        return f"Nothing is related to the pages of {self.like} in this store; give fewer filters, or another method"


def best_folders(found: Sequence[Answers | None], k: int) -> list[tuple[Answer, ...]]:
    """Keep each page in the folder where it ranks best, of equal ones the earlier; k per folder, ranked again."""
    places = sorted((each.rank, number, each.page) for number, answers in enumerate(found) for each in answers or ())
    best = {page: number for _, number, page in reversed(places)}
    own = ([each for each in answers or () if best[each.page] == at][:k] for at, answers in enumerate(found))
    return [tuple(replace(answer, rank=rank) for rank, answer in enumerate(some, 1)) for some in own]


def read_collection(path: Path) -> Collection | None:
    """Read bookmarks exported by a browser, or OPML; None for other files. Raises BadParameter if it is empty.

    Folders are in the order of their first links; a page counts once per folder.
    """
    from cocite.sources.collections import bookmarks, opml
    from cocite.sources.records import ReadReport

    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        raise BadParameter(f"{path} is JSON, a browser's internal format: export the bookmarks as HTML")
    try:
        if opml.SOURCE.recognises(path, head):
            page = next(iter(opml.read_opml(path, ReadReport())), None)
        elif bookmarks.recognises(path, head):
            page = next(iter(bookmarks.read_bookmarks(path, ReadReport())), None)
        else:
            return None
    except BadSource as error:
        raise BadParameter(str(error)) from error
    if page is None:
        raise BadParameter(f"{path} contains no links: export it again")
    folders: dict[str, dict[str, None]] = {}
    for link in page.links:
        name = page.headings[link.block] if link.block is not None and link.block < len(page.headings) else ""
        folders.setdefault(name or NO_FOLDER, {})[link.url] = None
    if len(folders) > MAX_FOLDERS:
        raise BadParameter(f"the collection has more than {MAX_FOLDERS:,} folders: give a part of it")
    return Collection(page.title, {name: tuple(urls) for name, urls in folders.items()})
