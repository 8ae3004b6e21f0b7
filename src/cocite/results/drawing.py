"""Communities as one HTML page that needs nothing else: hubs on the left, authorities on the right, links between.

The page asks nobody for anything, and needs no scripts: its own policy forbids both, so that not even a mistake in
escaping would let a stranger's title do anything. Lines and marks are SVG that stretches with the page; titles are
lists beside it, which break into lines, can be read aloud, and are in order without a style sheet. A mark is full for
a page of the root set and hollow for one that came with its links, its size is the page's weight; no meaning is in a
colour alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from math import sqrt
from urllib.parse import urlsplit

from cocite.parameters import spell
from cocite.results.communities import CommunitiesFound, Eliminated, Member, Shown
from cocite.results.drawing_style import HIGHLIGHTED, POLICY, STYLE
from cocite.results.present import linked, one_line
from cocite.words.query import forms

COLOURS = 6
NAMED = 3
"""Keywords in a heading."""


def page(found: CommunitiesFound, plain: CommunitiesFound | None = None, more: Sequence[str] = ()) -> str:
    """The whole page; `plain` are the same communities if no noise is eliminated, `more` are further parts in HTML."""
    asked = one_line(found.query) or ", ".join(map(one_line, found.pages))
    title = escape(asked if len(asked) <= 120 else asked[:119] + "…")
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{title}: communities</title><style>{STYLE}</style></head><body>",
        f'<header><p class="kind">Communities</p><h1><bdi>{title}</bdi></h1>{_lead(found)}{_contents(found)}</header>',
        "<main>",
        *_communities(found, "c", frozenset()),
        *_nearly(found),
        *(_without(found, plain) if plain is not None else ()),
        *more,
        f"</main>{_foot(found)}</body></html>\n",
    ]
    return "\n".join(parts)


def _lead(found: CommunitiesFound) -> str:
    """What the base set was, and what was done to it."""
    root = "found for these words" if found.query else "given"
    base = f"{_count(found.root, 'page')} {root} and what is linked with them: {_count(found.base, 'page')}"
    base += f", {_count(found.links, 'link')} between sites."
    if not found.threshold:
        noise = "Nothing was left out as noise."
    else:
        have = "page has" if found.eliminated == 1 else "pages have"
        noise = f"<b>{found.eliminated:,}</b> {have} too little to do with the root set, and were left out as noise."
    key = '<span class="full"></span> of the root set <span class="hollow"></span> came with its links'
    return f'<p class="lead">{base} {noise}</p><p class="key">{key}; the larger, the more weight</p>'


def _contents(found: CommunitiesFound) -> str:
    rows = "".join(
        f'<li class="k{number % COLOURS}"><a href="#c{number}">{heading}</a> '
        f"<small>{_count(each.pages, 'page')}</small></li>"
        for number, (each, heading) in enumerate(zip(found, _headings(found), strict=True))
    )
    return f"<nav><ol>{rows}</ol></nav>" if len(found) > 1 else ""


def _headings(found: CommunitiesFound) -> list[str]:
    """A few keywords of each community, those first that not every other has as well: all have those asked for."""
    spread = Counter(form for each in found for form in {form for word in each.keywords for form in forms((word,))})

    def named(each: Shown) -> str:
        ordered = sorted(each.keywords, key=lambda word: len(found) > 1 and spread[(word,)] == len(found))
        return escape(", ".join(map(one_line, ordered[:NAMED])) or each.name)

    return [named(each) for each in found]


def _communities(found: CommunitiesFound, prefix: str, left_out: frozenset[int]) -> Iterator[str]:
    for number, (each, heading) in enumerate(zip(found, _headings(found), strict=True)):
        yield f'<section id="{prefix}{number}" class="k{number % COLOURS}"><h2>{heading}</h2>'
        yield f"{_community(each, left_out)}</section>"


def _community(each: Shown, left_out: frozenset[int]) -> str:
    facts = [each.name, f"{_count(each.pages, 'page')} of its own"]
    facts += [f"fit {each.fit:.2f}"] if each.fit is not None else []
    facts += [f"singular value {each.value:.3g}"]
    words = "".join(f"<li><bdi>{escape(one_line(word))}</bdi></li>" for word in each.keywords)
    return (
        f'<p class="facts">{escape(" · ".join(facts))}</p>'
        f"{f'<ul class=words>{words}</ul>' if words else ''}{_drawing(each, left_out)}{_noise(each)}"
    )


def _joined(each: Shown) -> Shown:
    """A community without the hubs and authorities that no link joins with one that is shown."""
    kept = [sorted({pair[side] for pair in each.links}) for side in (0, 1)]
    place = [{old: new for new, old in enumerate(side)} for side in kept]
    return replace(
        each,
        hubs=tuple(each.hubs[at] for at in kept[0]),
        authorities=tuple(each.authorities[at] for at in kept[1]),
        links=tuple((place[0][hub], place[1][authority]) for hub, authority in each.links),
    )


def _drawing(each: Shown, left_out: frozenset[int]) -> str:
    """Both lists, and the lines between them."""
    each = _joined(each)
    rows = max(len(each.hubs), len(each.authorities), 1)
    lists = [
        f'<div class="side {kind}"><h3>{kind.capitalize()}</h3>'
        f'<ol style="padding-top:calc(var(--row)*{(rows - len(members)) / 2:g})">'
        f"{''.join(_row(member, f'{kind[0]}{at}', left_out) for at, member in enumerate(members))}</ol></div>"
        for kind, members in (("hubs", each.hubs), ("authorities", each.authorities))
    ]
    linking = f"{_count(len(each.links), 'link')} from {_count(len(each.hubs), 'hub')} to {len(each.authorities):,} "
    linking += "authority" if len(each.authorities) == 1 else "authorities"
    return (
        f'<figure class="drawn" style="--rows:{rows}">{lists[0]}'
        f'<svg role="img" aria-label="{linking}"><title>{linking}</title>{"".join(_lines(each, rows))}</svg>'
        f"{lists[1]}</figure>"
    )


def _lines(each: Shown, rows: int) -> Iterator[str]:
    """Links as curves, then marks over them; heights are parts of a hundred, so that all of it stretches."""
    sides = each.hubs, each.authorities
    places = [[100 * ((rows - len(side)) / 2 + at + 0.5) / rows for at in range(len(side))] for side in sides]
    shares = [_shares(side) for side in sides]
    yield '<svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%">'
    for hub, authority in sorted(each.links, key=lambda pair: shares[0][pair[0]] * shares[1][pair[1]]):
        start, end = places[0][hub], places[1][authority]
        strength = shares[0][hub] * shares[1][authority]
        yield (
            f'<path class="h{hub} a{authority}" d="M0 {start:.2f}C45 {start:.2f} 55 {end:.2f} 100 {end:.2f}" '
            f'stroke-width="{1 + 1.2 * strength:.2f}" stroke-opacity="{0.16 + 0.6 * strength:.2f}"/>'
        )
    yield "</svg>"
    for side, heights, weights, across in zip(sides, places, shares, ("0", "100%"), strict=True):
        for member, height, share in zip(side, heights, weights, strict=True):
            kind = "full" if member.root else "hollow"
            yield f'<circle class="{kind}" cx="{across}" cy="{height:.2f}%" r="{2.5 + 4.5 * sqrt(share):.1f}"/>'


def _shares(side: Sequence[Member]) -> list[float]:
    """Weights as parts of the greatest."""
    most = max((each.score for each in side), default=0.0)
    return [each.score / most if most > 0 else 0.0 for each in side]


def _row(member: Member, place: str, left_out: frozenset[int]) -> str:
    gone = member.page in left_out
    mark = " <em>noise</em>" if gone else ""
    number = int(place[1:])
    name = f' class="{place}"' if number < HIGHLIGHTED else ""
    return f"<li{name}>{_named(member)}<small>{mark} {member.score:.3f} <bdi>{_where(member.url)}</bdi></small></li>"


def _named(each: Member | Eliminated) -> str:
    title = one_line(each.title) or one_line(each.url)
    told = escape(f"{title}: {one_line(each.url)}", quote=True)
    return linked(one_line(each.url), f'<bdi class="title" title="{told}">{escape(title)}</bdi>')


def _where(url: str) -> str:
    """The host of an address, as it is read; nothing for a name that is no address."""
    if not url.lower().startswith(("http://", "https://")):
        return ""
    try:
        host = urlsplit(url).netloc
    except ValueError:  # a name of a stranger's that only begins like an address
        return ""
    return escape(one_line(host.removeprefix("www.")))


def _noise(each: Shown) -> str:
    if not each.eliminated:
        return ""
    number = each.eliminated_in_all
    first = f", the first {len(each.eliminated):,} of them" if number > len(each.eliminated) else ""
    said = f"{_count(number, 'page')} linked with it {'was' if number == 1 else 'were'} left out{first}"
    return f"<details><summary>{said}</summary>{_noise_rows(each.eliminated)}</details>"


def _noise_rows(pages: Sequence[Eliminated]) -> str:
    rows = "".join(
        f"<li>{_named(each)}<small><bdi>{_where(each.url)}</bdi></small><p>{escape(each.why)}</p></li>"
        for each in pages
    )
    return f'<ul class="noise">{rows}</ul>'


def _nearly(found: CommunitiesFound) -> Iterator[str]:
    """The noise pages that nearly stayed: what a softer threshold would keep."""
    if found.noise:
        about = (
            f"Of {_count(found.eliminated, 'noise page')}, these are nearest to the threshold of {found.threshold:.3g}."
        )
        yield f'<section id="noise"><h2>Left out</h2><p class="facts">{about}</p>{_noise_rows(found.noise)}</section>'


def _without(found: CommunitiesFound, plain: CommunitiesFound) -> Iterator[str]:
    """What HITS finds if nothing is eliminated."""
    yield '<section id="without"><h2>If nothing is left out</h2><p class="facts">The same question without NPEA. '
    yield "Pages that it takes away are marked as noise.</p></section>"
    yield from _communities(plain, "w", found.left_out)


def _foot(found: CommunitiesFound) -> str:
    params = {name: tuple(value) if isinstance(value, list) else value for name, value in found.params.items()}
    settings = spell("community", {name: value for name, value in params.items() if value != ()})
    store = f"{found.store.get('pages', 0):,} pages, {found.store.get('links', 0):,} links"
    return f"<footer><p>{escape(one_line(settings))}</p><p>a store of {store}; made by cocite</p></footer>"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what if number == 1 else what + 's'}"
