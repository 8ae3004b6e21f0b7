"""The kinds of sources, and how a file is recognised as one of them: by its first bytes, then by its name."""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import pyarrow as pa

from cocite.errors import BadSource
from cocite.pages.site import is_under_icann
from cocite.plugins import all_loaded
from cocite.sources.compressed import head
from cocite.sources.declared import declared_kinds
from cocite.sources.folders import walk_names
from cocite.sources.records import Page, ReadReport, shorten

Items = Iterator[Page] | Iterator[pa.RecordBatch] | Iterator[Page | pa.RecordBatch]

Known = TypeVar("Known")
_NEVER_SOURCES = re.compile(
    r"\.(?:css|m?js|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|[to]tf|eot|pdf|mp[34]|webm|np[yz]|py|ipynb|toml|ya?ml)$",
    re.IGNORECASE,
)

_FILE_NAME = re.compile(
    r"\.(?:md|html?|txt|[ct]sv|json|jsonl|xml|opml|gz|zip|zst|bz2|warc|wat|arc|parquet|tar|tgz)$", re.IGNORECASE
)


class SourceFolder:
    """The folder that is being read, and what readers know about it: each is made once."""

    def __init__(self, path: Path, known: dict[Callable[[Path], Any], Any] | None = None) -> None:
        self.path = path
        self._known = known or {}

    def know(self, make: Callable[[Path], Known]) -> Known:
        """What `make` returns for this folder."""
        if make not in self._known:
            self._known[make] = make(self.path)
        return self._known[make]  # type: ignore[no-any-return]


class ReadOptions(NamedTuple):
    """How to read a source."""

    base: str | None = None  # address of a source that has none of its own
    text: bool = True  # whether the texts of pages are wanted
    undirected: bool = False  # whether the links of edge lists count in both directions
    see_also: IO[str] | None = None  # where links of "See also" sections of wikis go, instead of into pages
    categories: bool = False  # whether the categories of wikis are links
    mentions: bool = False  # whether names of notes in the texts of other notes are links
    folder: SourceFolder | None = None  # the folder that a file was found in


DEFAULT_OPTIONS = ReadOptions()


class SourceKind(NamedTuple):
    """One kind of source: how it is recognised and read."""

    name: str  # the value of --kind
    description: str
    recognises: Callable[[Path, bytes], bool]  # given a path and the first bytes of its decompressed content
    read: Callable[[Any, ReadReport, ReadOptions], Items]  # given a path; the crawler gets an address
    reads_folders: bool = False  # whether `read` takes a folder and finds its files there
    unit: Callable[[Path, Path], tuple[Path, object]] | None = None
    """For sources of many files: given a file and the folder that is read, what to read and its identity."""
    suffixes: tuple[str, ...] = ()  # of files that need no look inside once their unit is read
    order: int = 0  # kinds with lower numbers are asked first whether they recognise a file; the first that does has it


@cache
def source_kinds() -> dict[str, SourceKind]:
    """Return all kinds of sources by name, in the order of asking: plugins first."""
    own: list[SourceKind] = [import_module(f"cocite.sources.{module}").SOURCE for module in declared_kinds().values()]
    plugins: list[SourceKind] = [_careful(kind) for kind in all_loaded("sources").values()]
    return {kind.name: kind for kind in [*plugins, *sorted(own, key=lambda kind: kind.order)]}


def _careful(kind: SourceKind) -> SourceKind:
    """A kind of a plugin. If its test of a file fails, the file isn't one of this kind, and the log says why."""

    def recognises(path: Path, start: bytes) -> bool:
        try:
            return bool(kind.recognises(path, start))
        except BadSource:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            logging.getLogger("cocite.plugins").warning("The plugin %s failed on %s (%s)", kind.name, path, why)
            return False

    return kind._replace(recognises=recognises)


def kind_choices() -> str:
    """Return the names of all kinds, for messages."""
    return ", ".join(source_kinds())


def detect_kind(path: Path) -> str:
    """Return the kind of a path. Raise BadSource, with what to do, if it is not recognised."""
    found = _kind(path)
    if found is not None:
        return found
    if not path.exists():
        host = path.parts[0] if path.parts else ""
        is_host = is_under_icann(host) and not (_FILE_NAME.search(host) and len(path.parts) == 1)
        address = f"; to crawl a site, write https://{shorten(str(path))}" if is_host else ""
        raise BadSource(f"{shorten(str(path))} does not exist: check the path{address}")
    if not path.stat().st_size:
        raise BadSource(f"{path} is empty: give a file with content")
    raise BadSource(f"Cannot recognise {path}: use --kind ({kind_choices()})")


def kind_of(path: Path) -> str | None:
    """Return the kind of a file in a folder, or None if it isn't a source."""
    is_hidden = path.name.startswith("_") and path.suffix.lower() not in source_kinds()["markdown"].suffixes
    if is_hidden or _NEVER_SOURCES.search(path.name):  # Spark and Hive begin the names of their own files with _
        return None
    try:
        return _kind(path) if path.stat().st_size else None
    except (BadSource, OSError):
        return None


def count_kinds(folder: Path) -> dict[str, int]:
    """Return how many files of each kind a folder has. After the first file of a kind, some suffixes are enough."""
    found, known = Counter[str](), dict[str, str]()
    for name in walk_names(folder):
        file = folder / name
        if kind := known.get(file.suffix.lower()) or kind_of(file):
            found[kind] += 1
            chosen = source_kinds()[kind]
            if chosen.unit and chosen.unit(file, folder)[0] == folder:
                known |= dict.fromkeys(chosen.suffixes, kind)
    return dict(found)


def is_never_source(name: str) -> bool:
    """Return whether the name of a file says that it isn't a source: a picture, a script."""
    return _NEVER_SOURCES.search(name) is not None


def content_suffix(path: Path) -> str:
    """Return the suffix before that of compression: `.tsv` of `links.tsv.gz`."""
    name = re.sub(r"\.(?:gz|zst|bz2)$", "", path.name, flags=re.IGNORECASE)
    return Path(name).suffix.lower()


def _kind(path: Path) -> str | None:
    kinds = source_kinds()
    if not path.is_file():  # a web graph is named by the common part of its files' names
        return "webgraph" if kinds["webgraph"].recognises(path, b"") else None
    start = head(path)
    if start[257:262] == b"ustar":
        raise BadSource(f"{path.name} is a tar archive: unpack it, and give the files inside")
    failure: BadSource | None = None
    for name, kind in kinds.items() if start else ():
        try:
            if kind.recognises(path, start):
                return name
        except BadSource as error:  # a later kind may read the file; else this says what to do
            if isinstance(error.__cause__, OSError):
                raise  # it could not look: the file may be of that kind
            failure = failure or error
    if failure:
        raise failure
    return None
