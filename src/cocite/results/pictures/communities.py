"""Communities as one HTML page that needs no other file: hubs left, authorities right, links between them.

`communities.html` is the template; here its data is worked out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from cocite.parameters import spell
from cocite.results.pictures import render
from cocite.text import clean
from cocite.words.tokens import forms

if TYPE_CHECKING:
    from cocite.operations.words.communities import CommunitiesFound, CommunityResult, Member

COLOURS = 6
HEADING_WORDS = 3
MAX_TITLE_CHARS = 120
HIGHLIGHTED_ROWS = 40
"""Rows of a list whose links are highlighted under the pointer."""


class Mark(NamedTuple):
    """A hub or an authority: its height in percent, and its radius in pixels."""

    member: Member
    height: float
    radius: float
    share: float  # of the largest weight on its side


class CommunityLine(NamedTuple):
    """A link; `start` and `end` are heights in percent, `strength` is from 0 to 1."""

    hub: int
    authority: int
    start: float
    end: float
    strength: float


class CommunityFigure(NamedTuple):
    """One community, ready to be drawn."""

    shown: CommunityResult
    heading: str
    rows: int
    hubs: list[Mark]
    authorities: list[Mark]
    lines: list[CommunityLine]


def communities_page(found: CommunitiesFound, plain: CommunitiesFound | None = None, more: Sequence[str] = ()) -> str:
    """The page. `plain` is the same result without removing noise; `more` is HTML for further sections."""
    query = clean(found.query) or ", ".join(map(clean, found.pages))
    params = {name: tuple(value) if isinstance(value, list) else value for name, value in found.params.items()}
    title = query if len(query) <= MAX_TITLE_CHARS else query[: MAX_TITLE_CHARS - 1] + "…"
    drawings, others = list(_drawings(found)), None if plain is None else list(_drawings(plain))
    settings = spell("community", {name: value for name, value in params.items() if value != ()})
    return render(
        "communities.html", found=found, title=title, drawings=drawings, plain=others, more=more, settings=settings,
        colours=COLOURS, highlighted=HIGHLIGHTED_ROWS,
    )  # fmt: skip


def _drawings(found: CommunitiesFound) -> Iterator[CommunityFigure]:
    """Every community; words that all of them have come last in a heading."""
    spread = Counter(form for each in found for form in {form for word in each.keywords for form in forms((word,))})
    for each in found:
        words = sorted(each.keywords, key=lambda word: len(found) > 1 and spread[(word,)] == len(found))
        yield _drawing(each, ", ".join(map(clean, words[:HEADING_WORDS])) or each.name)


def _drawing(each: CommunityResult, heading: str) -> CommunityFigure:
    """Hubs and authorities with at least one link to each other, the strongest links on top."""
    kept = [sorted({pair[side] for pair in each.links}) for side in (0, 1)]
    index = [{old: new for new, old in enumerate(side)} for side in kept]
    rows = max(*map(len, kept), 1)
    hubs, authorities = (
        _marks([members[at] for at in side], rows)
        for members, side in zip((each.hubs, each.authorities), kept, strict=True)
    )
    lines = []
    for hub, authority in ((index[0][hub], index[1][authority]) for hub, authority in each.links):
        start, end = hubs[hub], authorities[authority]
        lines.append(CommunityLine(hub, authority, start.height, end.height, start.share * end.share))
    return CommunityFigure(each, heading, rows, hubs, authorities, sorted(lines, key=lambda line: line.strength))


def _marks(members: Sequence[Member], rows: int) -> list[Mark]:
    largest = max((each.score for each in members), default=0.0)
    shares = [each.score / largest if largest > 0 else 0.0 for each in members]
    top = (rows - len(members)) / 2
    return [
        Mark(member, 100 * (top + at + 0.5) / rows, 2.5 + 4.5 * sqrt(share), share)
        for at, (member, share) in enumerate(zip(members, shares, strict=True))
    ]
