"""Which files make up a web graph: the others are found beside any one of them.

Names are Common Crawl's: `X.graph`, `X.properties`, `X.offsets`, `X-vertices.txt.gz`, `X-edges.txt.gz`; a large text is
split into the files of a folder `vertices` or `edges`, listed in `X-vertices.paths.gz`. `X-t.graph` beside X.graph is X
with its links reversed and is not read. The vertices of a BVGraph may also be `X.urls.gz`, one address a line, as the
Laboratory for Web Algorithmics publishes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cocite.errors import BadSource
from cocite.sources.compressed import open_bytes
from cocite.sources.webgraphs.bvgraph import SUFFIXES, basename, beside

PART = re.compile(r"(?P<stem>.*?)[-_.]?(?P<kind>vertices|edges)(\.paths|\.txt|\.tsv)?(\.gz|\.zst|\.bz2)?")
_LONGEST_LISTING = 16 << 20
_URLS = (".urls", ".urls.gz", ".urls.zst", ".urls.txt", ".urls.txt.gz")


@dataclass(frozen=True)
class Release:
    """A graph's files: a BVGraph's basename, or files of edges; and the files that name its vertices, if any."""

    base: Path | None
    vertices: list[Path]
    edges: list[Path]


def find_release(path: Path) -> Release:
    """All files of the graph to which a folder or file belongs."""
    if path.is_dir() and (not PART.fullmatch(path.name) or graphs_in(path) or texts_in(path)):
        return _in_folder(path)
    if beside(basename(path), ".graph").is_file():
        return _graph(basename(path))
    if not path.exists() or path.suffix in SUFFIXES:
        raise BadSource(f"{basename(path)}.graph does not exist: give a folder, a file or the basename of a graph")
    found = PART.fullmatch(path.name)
    if not found and (found := PART.fullmatch(path.parent.name)):
        path = path.parent  # one of the files of a folder of parts
    if not found:
        raise BadSource(f"{path} is no file of a web graph: give its .graph, vertices or edges file, or their folder")
    base = path.parent / found["stem"]
    if found["stem"] and base in graphs_in(path.parent):
        return _graph(base)  # the same links, and faster to read, even where text was pointed at
    texts = texts_in(path.parent, found["stem"])
    if not texts:
        other = "edges" if found["kind"] == "vertices" else "vertices"
        raise BadSource(
            f"{path} has no {other} beside it: put the file {path.name.replace(found['kind'], other)} there"
        )
    return _text(path.parent, found["stem"])


def graphs_in(folder: Path) -> list[Path]:
    """The basenames of a folder's BVGraphs without those that are another reversed."""
    files = [file for file in _entries(folder) if file.suffix == ".graph"]
    bases = {basename(file) for file in files if file.with_suffix(".properties").is_file()}
    return sorted(base for base in bases if not (base.name.endswith("-t") and folder / base.name[:-2] in bases))


def texts_in(folder: Path, stem: str | None = None) -> list[str]:
    """The stems of the names under which a folder has both vertices and edges as text."""
    kinds: dict[str, set[str]] = {}
    for entry in _entries(folder):
        if found := PART.fullmatch(entry.name):
            kinds.setdefault(found["stem"], set()).add(found["kind"])
    return sorted(name for name, has in kinds.items() if len(has) == 2 and stem in (None, name))


def parts_of(path: Path) -> list[Path]:
    """The files behind one path: itself, a folder's files, or those that a listing names."""
    if path.is_dir():
        files = [file for file in _entries(path) if file.is_file() and file.name[0] not in "._"]
        parts = [file for file in files if file.name.startswith("part-")] or files
        if not parts:
            raise BadSource(f"{path} is empty: put the parts of the graph there")
        return sorted(parts)
    return _listed(path) if ".paths" in path.suffixes else [path]


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise BadSource(f"cannot look into {folder}: {error.strerror}; check its permissions") from error


def _in_folder(folder: Path) -> Release:
    graphs, texts = graphs_in(folder), texts_in(folder)
    if len(graphs) == 1:
        return _graph(graphs[0])
    if not graphs and len(texts) == 1:
        return _text(folder, texts[0])
    if not graphs and not texts:
        raise BadSource(f"{folder} holds no whole web graph: it needs X.graph and X.properties, or vertices and edges")
    names = ", ".join([graph.name for graph in graphs] or texts)
    raise BadSource(f"{folder} holds several graphs ({names[:200]}): give the files of one of them")


def _graph(base: Path) -> Release:
    plain = base.parent / base.name.removesuffix("-t")
    if beside(plain, ".graph").is_file():
        base = plain  # X-t is X with its links reversed
    urls = [beside(base, suffix) for suffix in _URLS if beside(base, suffix).is_file()]
    found = _member(base.parent, base.name, "vertices") or _member(base.parent, "", "vertices")
    return Release(base, parts_of(found) if found else urls[:1], [])


def _text(folder: Path, stem: str) -> Release:
    vertices, edges = _member(folder, stem, "vertices"), _member(folder, stem, "edges")
    assert vertices is not None and edges is not None  # texts_in has seen both
    return Release(None, parts_of(vertices), parts_of(edges))


def _member(folder: Path, stem: str, kind: str) -> Path | None:
    """The vertices or edges of a graph: a whole file before a folder of parts before a listing of them."""
    found = [
        entry
        for entry in _entries(folder)
        if (name := PART.fullmatch(entry.name)) and name["stem"] == stem and name["kind"] == kind
    ]
    return min(found, key=lambda entry: (entry.is_dir() + 2 * (".paths" in entry.suffixes), entry.name), default=None)


def _listed(listing: Path) -> list[Path]:
    with open_bytes(listing) as stream:
        text = stream.read(_LONGEST_LISTING + 1)
    if len(text) > _LONGEST_LISTING:
        raise BadSource(f"{listing} is too long for a list of files: check that it is one")
    parts = []
    for line in text.decode("utf-8", "replace").split():
        # Only the last two names count: the paths are those on Common Crawl's server, and must not lead elsewhere here.
        names = [name for name in PurePosixPath(line).parts if name not in ("/", "..")][-2:]
        places = [listing.parent.joinpath(*names), listing.parent / names[-1]] if names else []
        part = next((place for place in places if place.is_file()), None)
        if part is None:
            raise BadSource(f"{listing} names {line[:200]}, which is not here: download it to {listing.parent}")
        parts.append(part)
    if not parts:
        raise BadSource(f"{listing} lists no file: download it again")
    return parts
