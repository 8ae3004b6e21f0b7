"""The neighbourhood drawn: pages asked about in the middle, related pages around them, citing pages between.

It is drawn twice, wide with names and narrow with numbers: a style sheet shows the one that fits. Every mark is a link;
the script adds that what is linked stands out. The list below says the same in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cocite.cli.terminal import clean
from cocite.http.frame import NOTHING, Content, exports, method_choice
from cocite.http.holding import Served
from cocite.http.listing import actions, asked_about, instead, keeper, name_of, titled
from cocite.http.markup import Markup, joined, shown_address, tag, text
from cocite.http.questions import Related
from cocite.http.state import State
from cocite.http.views.related import busy, nothing
from cocite.results.picture import ASKED, CITED, CITING, RELATED, Node, Picture, Place, picture_of, places
from cocite.results.picture_layout import Frame, Name, curves, names, sign

KINDS = {
    RELATED: ("Related pages", "numbered from the best"),
    CITING: ("Citing pages", "which link to several of them"),
    CITED: ("Pages that both link to", ""),
}


def frames(related: int) -> tuple[Frame, Frame]:
    """The two drawings; more pages need more height."""
    rows = (related + 1) // 2
    return (
        Frame("broad", 1120, max(440, 68 * rows + 70), 310, max(180, 34 * rows), 29, 20),
        Frame("narrow", 380, max(380, 62 * rows + 60), 160, max(160, 31 * rows), 0, 0),
    )


def show(web: Served, state: State, asked: Related, load: int) -> Content:
    """The picture."""
    answers = asked.answers(web, load)
    title = f"Picture of {', '.join(map(shown_address, state.urls))}"
    top = joined(
        method_choice(state),
        asked_about(web, state, "Around"),
        instead(web, state, answers),
        busy(web, asked, load),
    )
    if not len(answers):
        return Content(title, joined(top, nothing(state, asked.why_nothing(answers))))
    picture = picture_of(web.graph, answers)
    stand = places(picture)
    drawn = [svg(state, picture, stand, frame) for frame in frames(len(answers))]
    files = exports(
        ("GEXF", state.address(format="gexf"), "related.gexf"),
        ("JSON", state.program(), "related.json"),
        ("CSV", state.program(format="csv"), "related.csv"),
    )
    facts = f"{len(picture.nodes)} pages, {len(picture.links)} links"
    body = joined(
        top,
        keeper(state),
        tag("figure", *drawn, key(picture), class_="picture"),
        tag("div", *(legend(state, picture, kind) for kind in KINDS), class_="legend"),
        tag("p", facts, files, class_="facts"),
    )
    return Content(title, body, wide=True)


def svg(state: State, picture: Picture, stand: Sequence[Place], frame: Frame) -> Markup:
    """One drawing."""
    spots = frame.spots(stand)
    named = names(picture, spots, frame, lambda node, longest: text(name_of(node.url, node.title), longest))
    label = f"{len(picture.of(RELATED))} related pages, and {len(picture.of(CITING))} pages that cite several of them"
    return tag(
        "svg",
        tag("g", *lines(picture, spots), class_="lines"),
        *(mark(state, at, picture.nodes[at], spots[at], written(name)) for at, name in enumerate(named)),
        viewBox=f"0 0 {frame.width} {frame.height}",
        class_=frame.name,
        role="group",
        aria_label=label,
    )


def lines(picture: Picture, spots: Sequence[tuple[float, float]]) -> Iterator[Markup]:
    """Links; dotted where no link joins a page."""
    for path, start, end, apart in curves(picture, spots):
        kind = picture.nodes[start].kind if picture.nodes[start].kind != ASKED else None
        yield tag("path", d=path, data_ends=f"{start} {end}", class_="apart" if apart else kind)


def mark(state: State, at: int, node: Node, spot: tuple[float, float], label: Markup) -> Markup:
    """A page as a mark with its name; it leads to the picture of that page."""
    x, y = spot
    name = name_of(node.url, node.title)
    shapes = {
        ASKED: tag("circle", cx=f"{x:.0f}", cy=f"{y:.0f}", r=22),
        RELATED: tag("circle", cx=f"{x:.0f}", cy=f"{y:.0f}", r=15),
        CITING: tag("rect", x=f"{x - 10:.0f}", y=f"{y - 10:.0f}", width=20, height=20, rx=4),
        CITED: tag("path", d=f"M{x:.0f} {y - 13:.0f}l13 13-13 13-13-13z"),
    }
    number = tag("text", sign(node), x=f"{x:.0f}", y=f"{y + 5:.0f}", class_="sign")
    where = state.but(urls=(node.url,), unwanted=()).address()
    told = f"{name} – {shown_address(node.url)}"
    return tag("a", tag("title", clean(told)), shapes[node.kind], number, label, href=where,
               class_=node.kind, data_at=at, rel="nofollow")  # fmt: skip


def written(name: Name) -> Markup:
    """A name in a drawing."""
    if not name.text:
        return NOTHING
    told = Markup(name.text)  # escaped when it was called so
    return tag("text", told, x=f"{name.x:.0f}", y=f"{name.y:.0f}", class_="name", text_anchor=name.anchor)


def key(picture: Picture) -> Markup:
    """What the marks mean."""
    kinds = [("asked", "asked about"), ("related", "related"), ("citing", "cites them")]
    kinds += [("cited", "both link to it")] if picture.of(CITED) else []
    return tag("figcaption", *(tag("span", name, class_=f"k {kind}") for kind, name in kinds))


def legend(state: State, picture: Picture, kind: str) -> Markup:
    """The pages of a kind, in words."""
    found = picture.of(kind)
    if not found:
        return NOTHING
    name, about = KINDS[kind]
    items = [entry(state, at, picture.nodes[at]) for at in found]
    return tag("section", tag("h2", name, " ", tag("small", about)), tag("ol", *items), class_=kind)


def entry(state: State, at: int, node: Node) -> Markup:
    """One page of the legend."""
    about = titled(node.url, node.title), actions(state, node.url, node.title)
    return tag("li", tag("span", sign(node), class_="rank"), *about, data_at=at)
