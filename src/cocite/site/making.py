"""From a folder to the related pages of each of its pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import numpy as np

from cocite.site.gathering import Gathered
from cocite.site.overrides import Overrides, Wish, wishes_of
from cocite.site.reading import Read, normal
from cocite.site.relating import Near, Why, common_parts, own_title, relate, resolved
from cocite.sources.folders import address_under

if TYPE_CHECKING:
    from cocite.graph.generation import Progress

PINNED_SPARE = 20
"""So many more are looked for than wanted, since owners may not want some."""
NEVER = ("404.html", "search.html", "*/search.html", "genindex*.html", "*/genindex*.html", "py-modindex.html")
"""Pages that generators write for machinery."""


@dataclass(frozen=True)
class Listed:
    """A related page."""

    page: int
    score: float
    why: Why
    pinned: bool = False


@dataclass
class Made:
    """Every page of a site that counts, and what is related to it."""

    files: list[str]  # paths in the folder
    paths: list[str]  # of addresses
    titles: list[str]
    related: list[list[Listed]]
    left_out: Counter[str] = field(default_factory=Counter)  # by reason
    unknown: list[str] = field(default_factory=list)  # pins and the like that lead to no page


def make(folder: Path, base: str, gathered: Gathered, overrides: Overrides, k: int, progress: Progress) -> Made:
    """Relate the pages of a folder."""
    address_of = {file: address_under(base, folder, folder / file) for file in gathered.pages}
    path_of_file = {file: normal(unquote(urlsplit(address).path)) for file, address in address_of.items()}
    every = {_stripped(path) for path in path_of_file.values()}
    left_out: Counter[str] = Counter()
    files = []
    for file, read in gathered.pages.items():
        reason = _why_not(file, path_of_file[file], read, every, overrides)
        if reason:
            left_out[reason] += 1
        else:
            files.append(file)
    reads = [gathered.pages[file] for file in files]
    paths = [_own_path(path_of_file[file], gathered.pages[file]) for file in files]
    places = _places(files, paths, path_of_file, gathered)
    made = Made(files, paths, [], [], left_out)
    wishes = [
        wishes_of(overrides, address_of[file], path, read) for file, path, read in zip(files, paths, reads, strict=True)
    ]
    parts = common_parts([read.title for read in reads])
    made.titles = [own_title(read, parts, path) for read, path in zip(reads, paths, strict=True)]
    hidden = np.array([wish.hidden for wish in wishes], np.bool_)
    found, tell = relate(resolved(reads, places), k + PINNED_SPARE, hidden, progress)
    for page, (wish, near) in enumerate(zip(wishes, found, strict=True)):
        chosen = _chosen(made, wish, near, places, k, page)
        made.related.append([Listed(other, score, tell(page, other), pinned) for other, score, pinned in chosen])
    made.unknown = sorted(set(made.unknown))
    return made


def _why_not(file: str, path: str, read: Read, every: set[str], overrides: Overrides) -> str:
    """Why a page does not count; empty if it does."""
    if any(fnmatchcase(file, pattern.lstrip("/")) for pattern in overrides.exclude):
        return "excluded by the overrides"
    if any(fnmatchcase(file, pattern) for pattern in NEVER):
        return "machinery of the generator"
    if read.noindex:
        return "noindex"
    target = read.leads_to
    if (
        target
        and target != path
        and _stripped(target) != _stripped(path)
        and (target in every or _stripped(target) in every)
    ):
        return "stands for another page"
    return "" if read.words else "empty"


def _own_path(path: str, read: Read) -> str:
    """The path by which readers know a page: without `.html`, if the page itself says so."""
    same = read.leads_to and read.leads_to != path and _stripped(read.leads_to) == _stripped(path)
    return read.leads_to if same else path


def _stripped(path: str) -> str:
    return path.removesuffix("/").removesuffix(".html").removesuffix(".htm") or "/"


def _places(files: list[str], paths: list[str], path_of_file: dict[str, str], gathered: Gathered) -> dict[str, int]:
    """The page to which each path leads: in any spelling that servers take, and through pages that stand for others."""
    own = {file: at for at, file in enumerate(files)}
    places = {_stripped(path): at for at, path in enumerate(paths)}
    places |= {f"{_stripped(path)}/": at for at, path in enumerate(paths)}
    places |= {path_of_file[file]: at for file, at in own.items()} | {path: at for at, path in enumerate(paths)}
    for file, read in gathered.pages.items():
        path = path_of_file[file]
        if file not in own and read.leads_to in places:
            places.setdefault(path, places[read.leads_to])
    return places


def _chosen(
    made: Made, wish: Wish, near: list[Near], places: dict[str, int], k: int, page: int
) -> list[tuple[int, float, bool]]:
    """The k pages of a list, with scores: pinned ones, then related ones that are wanted."""
    made.unknown += [path for path in (*wish.pin, *wish.never) if path not in places]
    if wish.none:
        return []
    pinned = list(dict.fromkeys(places[path] for path in wish.pin if places.get(path, page) != page))
    never = {places[path] for path in wish.never if path in places} | set(pinned)
    scores = dict(near)
    first = [(other, scores.get(other, 0.0), True) for other in pinned]
    rest = [(other, score, False) for other, score in near if other not in never]
    return [*first, *rest][: max(k, len(first))]
