"""The neighbourhood drawn: pages asked about in the middle, related pages around them, citing pages between.

It is drawn twice, wide with names and narrow with numbers: a style sheet shows the one that fits. Every mark is a link;
the script adds that what is linked stands out. The list below says the same in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cocite.answers.picture import ASKED, CITED, CITING, RELATED, Node, Picture, Place, picture_of, places
from cocite.surfaces.cli.terminal import clean
from cocite.surfaces.serve.frame import NOTHING, Content, exports, method_choice
from cocite.surfaces.serve.holding import Served
from cocite.surfaces.serve.listing import actions, asked_about, instead, keeper, name_of, titled
from cocite.surfaces.serve.markup import Markup, joined, shown_address, tag, text
from cocite.surfaces.serve.questions import Related
from cocite.surfaces.serve.state import State
from cocite.surfaces.serve.views.related import nothing

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
KINDS = {
    RELATED: ("Related pages", "numbered from the best"),
    CITING: ("Citing pages", "which link to several of them"),
    CITED: ("Pages that both link to", ""),
}


class Frame(NamedTuple):
    """How large a drawing is: its size, where related pages stand, and how long names may be."""

    name: str
    width: int
    height: int
    x: int
    y: int
    longest: int  # characters of a related page's name; 0: none
    between: int  # of a citing page's


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
    top = joined(method_choice(state), asked_about(web, state, "Around"), instead(web, state, answers))
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
    spots = [(frame.width / 2 + frame.x * place.x, frame.height / 2 + frame.y * place.y) for place in stand]
    names = labels(picture, spots, frame)
    label = f"{len(picture.of(RELATED))} related pages, and {len(picture.of(CITING))} pages that cite several of them"
    return tag(
        "svg",
        tag("g", *lines(picture, spots), class_="lines"),
        *(mark(state, at, node, spots[at], names[at]) for at, node in enumerate(picture.nodes)),
        viewBox=f"0 0 {frame.width} {frame.height}",
        class_=frame.name,
        role="group",
        aria_label=label,
    )


def lines(picture: Picture, spots: Sequence[tuple[float, float]]) -> Iterator[Markup]:
    """Links, a little bent, so that those there and back can be told apart; dotted where no link joins a page."""
    for a, b in picture.links:
        (x, y), (u, v) = spots[a], spots[b]
        middle = (x + u) / 2 + (v - y) * 0.08, (y + v) / 2 - (u - x) * 0.08
        yield tag("path", d=f"M{x:.0f} {y:.0f}Q{middle[0]:.0f} {middle[1]:.0f} {u:.0f} {v:.0f}", data_ends=f"{a} {b}",
                  class_=picture.nodes[a].kind if picture.nodes[a].kind != ASKED else None)  # fmt: skip
    for at in picture.of(RELATED):
        if not picture.joined_with(at):
            (x, y), (u, v) = spots[0], spots[at]
            yield tag("path", d=f"M{x:.0f} {y:.0f}L{u:.0f} {v:.0f}", class_="apart", data_ends=f"0 {at}")


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


def sign(node: Node) -> str:
    """The number of a related page, the letter of a citing one."""
    if node.kind == RELATED:
        return str(node.rank)
    return {CITING: LETTERS[(node.rank - 1) % 26], CITED: LETTERS[(node.rank - 1) % 26].lower()}.get(node.kind, "★")


def labels(picture: Picture, spots: Sequence[tuple[float, float]], frame: Frame) -> list[Markup]:
    """Names beside the marks: of related pages outwards, of others below or above, where no other name stands yet."""
    taken: list[tuple[float, float, int]] = []
    found = []
    for node, (x, y) in zip(picture.nodes, spots, strict=True):
        longest = frame.longest if node.kind in (RELATED, ASKED) else frame.between
        name = text(name_of(node.url, node.title), longest) if longest else NOTHING
        if node.kind == RELATED:
            side = 1 if x >= frame.width / 2 else -1
            found.append(written(name, x + 24 * side, y + 5, "start" if side > 0 else "end"))
            continue
        away = (40, -30) if node.kind == ASKED else (-17, 27) if y < frame.height / 2 else (27, -17)
        free = [each for each in away if not any(covers(other, (x, y + each, len(name))) for other in taken)]
        taken.append((x, y + (free or away)[0], len(name)))
        found.append(written(name, *taken[-1][:2], "middle"))
    return found


def covers(one: tuple[float, float, int], other: tuple[float, float, int]) -> bool:
    """Whether two names in the middle of which is a spot would overlap: a letter is seven wide, a line 17 high."""
    return abs(one[1] - other[1]) < 17 and abs(one[0] - other[0]) < 3.5 * (one[2] + other[2])


def written(name: Markup, x: float, y: float, anchor: str) -> Markup:
    """A name in a drawing."""
    return tag("text", name, x=f"{x:.0f}", y=f"{y:.0f}", class_="name", text_anchor=anchor) if name else NOTHING


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
