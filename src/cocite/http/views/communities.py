"""Communities of hubs and authorities on a topic, each drawn: hubs on the left, authorities on the right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cocite.http.frame import Content, exports, note
from cocite.http.holding import Served
from cocite.http.listing import name_of
from cocite.http.markup import Markup, joined, link_out, shown_address, tag
from cocite.http.state import State
from cocite.http.views import start
from cocite.related.methods.community import Params
from cocite.results.communities import CommunitiesFound, Eliminated, Member, Shown
from cocite.results.communities import find as find_communities

COLOURS = 6
NAMED = 3
"""Keywords in a heading."""


def find(web: Served, state: State) -> CommunitiesFound:
    """The communities themselves."""
    return find_communities(web, state.words, state.urls, Params(), state.shown)


def show(web: Served, state: State) -> Content:
    """All of them."""
    if not state.words and not state.urls:
        return first(web)
    if not web.has("search") and state.words:
        why = note("This store has no search index, or not yet: words lead nowhere.")
        return Content("Communities", joined(tag("h1", "Communities"), why))
    found = find(web, state)
    about = state.words or ", ".join(map(shown_address, state.urls))
    head = joined(tag("h1", "Communities about ", tag("bdi", about)), lead(found))
    if not len(found):
        more = tag("a", "Search for the words", href=State("search", words=state.words).address())
        none = note(
            "No community was found: what has these words is not linked together. ", more if state.words else ""
        )
        return Content(about, joined(head, none))
    told = zip(found, telling(found), strict=True)
    sections = [section(number, each, keywords) for number, (each, keywords) in enumerate(told)]
    files = exports(
        ("JSON", state.program(), "communities.json"),
        ("GEXF", state.address(format="gexf"), "communities.gexf"),
        ("HTML", state.address(format="html"), "communities.html"),
    )
    took = tag("p", f"{len(found)} communities in {found.milliseconds:.0f} ms", files, class_="facts")
    return Content(about, joined(head, *sections, nearly(found), took), wide=True)


def first(web: Served) -> Content:
    """Nothing is asked yet."""
    words = start.popular(web)
    links = [tag("li", tag("a", word, href=State("communities", words=word).address())) for word in words]
    what = "Give a topic in words. Pages that have them, and what is linked with those, are parted into communities: "
    what += "hubs that list, and authorities that are listed. What has little to do with the topic is left out."
    return Content("Communities", joined(tag("h1", "Communities"), tag("p", what, class_="lead"),
                                         tag("ul", *links, class_="words")))  # fmt: skip


def lead(found: CommunitiesFound) -> Markup:
    """What the base set was, and what was done to it."""
    said = f"{found.root:,} pages to begin with, and what is linked with them: {found.base:,} pages, "
    said += (
        f"{found.links:,} links. {found.eliminated:,} of them had too little to do with the first, and were left out."
    )
    return tag("p", said, class_="facts")


def telling(found: CommunitiesFound) -> list[list[str]]:
    """The keywords of each community, those first that not every other has as well: all have those asked for."""
    spread = Counter(word for each in found for word in each.keywords)
    return [sorted(each.keywords, key=lambda word: spread[word] == len(found) > 1) for each in found]


def section(number: int, each: Shown, keywords: Sequence[str]) -> Markup:
    """One community, named by its first keywords."""
    name = ", ".join(keywords[:NAMED]) or each.name
    more = [
        tag("li", tag("a", tag("bdi", word), href=State("communities", words=word).address()))
        for word in keywords[NAMED:]
    ]
    facts = f"{each.pages:,} pages of its own" + (f" · fits the words {each.fit:.0%}" if each.fit is not None else "")
    return tag(
        "section",
        tag("h2", tag("bdi", name)),
        tag("p", facts, class_="facts"),
        tag("ul", *more, class_="words") if more else "",
        drawing(each),
        noise(each.eliminated, f"{each.eliminated_in_all:,} pages linked with it were left out"),
        class_=f"community c{number % COLOURS}",
        id=f"c{number + 1}",
    )


def drawing(each: Shown) -> Markup:
    """Both lists, and the lines between them."""
    rows = max(len(each.hubs), len(each.authorities), 1)
    lists = [side("Hubs", each.hubs), side("Authorities", each.authorities)]
    label = f"{len(each.links)} links from {len(each.hubs)} hubs to {len(each.authorities)} authorities"
    lines = tag(
        "svg", *curves(each, rows), viewBox="0 0 100 100", preserveAspectRatio="none", role="img", aria_label=label
    )
    return tag("div", lists[0], lines, lists[1], class_="drawn")


def side(kind: str, members: Sequence[Member]) -> Markup:
    """One of the lists."""
    rows = [row(member, f"{kind[0].lower()}{at}") for at, member in enumerate(members)]
    return tag("div", tag("h3", kind), tag("ol", *rows), class_=f"side {kind.lower()}")


def curves(each: Shown, rows: int) -> Iterator[Markup]:
    """Links; heights are parts of a hundred, so that they stretch with the lists."""
    sides = each.hubs, each.authorities
    heights = [[100 * ((rows - len(side)) / 2 + at + 0.5) / rows for at in range(len(side))] for side in sides]
    most = [max((member.score for member in side), default=1.0) or 1.0 for side in sides]
    for hub, authority in each.links:
        strength = each.hubs[hub].score / most[0] * each.authorities[authority].score / most[1]
        low, high = heights[0][hub], heights[1][authority]
        bent = f"M0 {low:.1f}C45 {low:.1f} 55 {high:.1f} 100 {high:.1f}"
        yield tag("path", class_=f"h{hub} a{authority}", d=bent, stroke_opacity=f"{0.2 + 0.7 * strength:.2f}")


def row(member: Member, place: str) -> Markup:
    """A hub or an authority."""
    ask = tag(
        "a", shown_address(member.url), href=State(urls=(member.url,)).address(), class_="address", rel="nofollow"
    )
    title = tag("span", link_out(member.url, name_of(member.url, member.title)), class_="title")
    return tag("li", title, ask, data_place=place, class_="root" if member.root else None)


def noise(pages: Sequence[Eliminated], said: str) -> Markup:
    """What was left out, and why."""
    if not pages:
        return Markup("")
    items = [
        tag("li", link_out(each.url, name_of(each.url, each.title)), " ", tag("span", each.why, class_="facts"))
        for each in pages
    ]
    return tag("details", tag("summary", said), tag("ul", *items, class_="plain"))


def nearly(found: CommunitiesFound) -> Markup:
    """The noise pages that nearly stayed."""
    return noise(found.noise, f"Of all {found.eliminated:,} that were left out, those that nearly stayed")
