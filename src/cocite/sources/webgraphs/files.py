"""Find all files of a web graph, given one of them.

Names are those of Common Crawl: `X.graph`, `X.properties`, `X.offsets`, `X-vertices.txt.gz`, `X-edges.txt.gz`. A large
text is split into the files of a folder `vertices` or `edges`, listed in `X-vertices.paths.gz`. `X-t.graph` is X with
its links reversed, and is not read. The vertices of a BVGraph may also be `X.urls.gz`, one address per line, as
published by the Laboratory for Web Algorithmics.
"""

import re
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cocite.errors import BadSource
from cocite.sources.compressed import open_bytes
from cocite.sources.records import ReadReport
from cocite.sources.webgraphs.bvgraph import GRAPH_SUFFIXES, basename, beside

PART = re.compile(r"(?P<stem>.*?)[-_.]?(?P<kind>vertices|edges)(\.paths|\.txt|\.tsv)?(\.gz|\.zst|\.bz2)?")
_MAX_LISTING = 16 << 20
_URLS = (".urls", ".urls.gz", ".urls.zst", ".urls.txt", ".urls.txt.gz")


class Release(NamedTuple):
    """The files of a graph: the basename of a BVGraph, or files of edges, and the files of vertex names, if any."""

    base: Path | None
    vertices: list[Path]
    edges: list[Path]


def find_release(path: Path) -> Release:
    """Return all files of the graph that a folder or file belongs to."""
    if path.is_dir() and (not PART.fullmatch(path.name) or graphs_in(path) or texts_in(path)):
        return _in_folder(path)
    if beside(basename(path), ".graph").is_file():
        return _graph(basename(path))
    if not path.exists() or path.suffix in GRAPH_SUFFIXES:
        raise BadSource(f"{basename(path)}.graph does not exist: give a folder, a file or the basename of a graph")
    found = PART.fullmatch(path.name)
    if not found and (found := PART.fullmatch(path.parent.name)):
        path = path.parent  # one of the files of a folder of parts
    if not found:
        raise BadSource(f"{path} is not part of a web graph: give a .graph, vertices or edges file, or their folder")
    base = path.parent / found["stem"]
    if found["stem"] and base in graphs_in(path.parent):
        return _graph(base)  # the same links, and faster to read than text
    texts = texts_in(path.parent).get(found["stem"])
    if texts is None:
        other = "edges" if found["kind"] == "vertices" else "vertices"
        raise BadSource(f"No {other} beside {path}: put the file {path.name.replace(found['kind'], other)} there")
    return Release(None, parts_of(texts["vertices"]), parts_of(texts["edges"]))


def graphs_in(folder: Path) -> list[Path]:
    """Return the basenames of the BVGraphs in a folder, without the reversed ones."""
    files = [file for file in _entries(folder) if file.suffix == ".graph"]
    bases = {basename(file) for file in files if file.with_suffix(".properties").is_file()}
    return sorted(base for base in bases if not (base.name.endswith("-t") and folder / base.name[:-2] in bases))


def texts_in(folder: Path) -> dict[str, dict[str, Path]]:
    """Return the vertices and edges of the graphs that a folder has as text, by the stem of their names."""
    return {stem: parts for stem, parts in sorted(_texts(folder).items()) if len(parts) == 2}


def _texts(folder: Path) -> dict[str, dict[str, Path]]:
    """Return vertices or edges or both. A single file comes before a folder of parts, and that before a listing."""
    found: dict[str, dict[str, Path]] = {}
    names = [(entry, name) for entry in _entries(folder) if (name := PART.fullmatch(entry.name))]
    for entry, name in sorted(names, key=lambda pair: (pair[0].is_dir() + 2 * (".paths" in pair[0].suffixes), pair[0])):
        found.setdefault(name["stem"], {}).setdefault(name["kind"], entry)
    return found


def parts_of(path: Path) -> list[Path]:
    """Return the files of a path: itself, the files of a folder, or those of a listing."""
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
        raise BadSource(f"Cannot open {folder}: {error.strerror}; check its permissions") from error


def _in_folder(folder: Path) -> Release:
    graphs, texts = graphs_in(folder), texts_in(folder)
    if len(graphs) == 1:
        return _graph(graphs[0])
    if not graphs and len(texts) == 1:
        (parts,) = texts.values()
        return Release(None, parts_of(parts["vertices"]), parts_of(parts["edges"]))
    if not graphs and not texts:
        raise BadSource(f"{folder} has no complete web graph: it needs X.graph and X.properties, or vertices and edges")
    names = ", ".join([graph.name for graph in graphs] or texts)
    raise BadSource(f"{folder} has several graphs ({names[:200]}): give a file of one of them")


def _graph(base: Path) -> Release:
    plain = base.parent / base.name.removesuffix("-t")
    if beside(plain, ".graph").is_file():
        base = plain
    urls = [beside(base, suffix) for suffix in _URLS if beside(base, suffix).is_file()]
    texts = _texts(base.parent)
    found = texts.get(base.name, {}).get("vertices") or texts.get("", {}).get("vertices")
    return Release(base, parts_of(found) if found else urls[:1], [])


def _listed(listing: Path) -> list[Path]:
    damage = ReadReport()
    with open_bytes(listing, damage) as stream:
        text = stream.read(_MAX_LISTING + 1)
    if len(text) > _MAX_LISTING or damage.skipped:
        raise BadSource(f"{listing} is {'damaged' if damage.skipped else 'too long for a list of files'}: check it")
    parts = []
    for line in text.decode("utf-8", "replace").split():
        # Paths are those on Common Crawl's server. Only the last two names are used, so that they can't lead elsewhere.
        names = [name for name in PurePosixPath(line).parts if name not in ("/", "..")][-2:]
        places = [listing.parent.joinpath(*names), listing.parent / names[-1]] if names else []
        part = next((place for place in places if place.is_file()), None)
        if part is None:
            raise BadSource(f"{listing} lists {line[:200]}, which is missing: download it to {listing.parent}")
        parts.append(part)
    if not parts:
        raise BadSource(f"{listing} lists no files: download it again")
    return parts
