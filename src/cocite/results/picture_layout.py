"""A picture laid out in a frame: curves, signs and names, for whoever draws it (the web page, notebooks)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from cocite.results.picture import ASKED, CITED, CITING, RELATED, Node, Picture, Place

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Spot = tuple[float, float]


class Frame(NamedTuple):
    """How large a drawing is: its size, where related pages stand, and how long names may be."""

    name: str
    width: int
    height: int
    x: int
    y: int
    longest: int  # characters of a related page's name; 0: none
    between: int  # of a citing page's

    def spots(self, stand: Sequence[Place]) -> list[Spot]:
        """Where pages stand in it."""
        return [(self.width / 2 + self.x * place.x, self.height / 2 + self.y * place.y) for place in stand]


class Curve(NamedTuple):
    """A line from one page to another, by place; `apart` if no link joins the second with anything."""

    path: str
    start: int
    end: int
    apart: bool


class Name(NamedTuple):
    """A name where it is written; empty if there is no room for names."""

    text: str
    x: float
    y: float
    anchor: str


def curves(picture: Picture, spots: Sequence[Spot]) -> Iterator[Curve]:
    """Links, a little bent, so that those there and back can be told apart; straight where no link joins a page."""
    for a, b in picture.links:
        (x, y), (u, v) = spots[a], spots[b]
        middle = (x + u) / 2 + (v - y) * 0.08, (y + v) / 2 - (u - x) * 0.08
        yield Curve(f"M{x:.0f} {y:.0f}Q{middle[0]:.0f} {middle[1]:.0f} {u:.0f} {v:.0f}", a, b, False)
    for at in picture.of(RELATED):
        if not picture.joined_with(at):
            (x, y), (u, v) = spots[0], spots[at]
            yield Curve(f"M{x:.0f} {y:.0f}L{u:.0f} {v:.0f}", 0, at, True)


def sign(node: Node) -> str:
    """The number of a related page, the letter of a citing one."""
    if node.kind == RELATED:
        return str(node.rank)
    return {CITING: LETTERS[(node.rank - 1) % 26], CITED: LETTERS[(node.rank - 1) % 26].lower()}.get(node.kind, "★")


def names(picture: Picture, spots: Sequence[Spot], frame: Frame, call: Callable[[Node, int], str]) -> Iterator[Name]:
    """Names beside the marks: of related pages outwards, of others below or above, where no other name stands yet.

    Where there is room for half a name only, it is half. `call` says what a page is called, in so many characters.
    """
    taken: list[tuple[float, float, int]] = []
    for node, (x, y) in zip(picture.nodes, spots, strict=True):
        longest = frame.longest if node.kind in (RELATED, ASKED) else frame.between
        name = call(node, longest) if longest else ""
        if node.kind == RELATED:
            side = 1 if x >= frame.width / 2 else -1
            yield Name(name, x + 24 * side, y + 5, "start" if side > 0 else "end")
            continue
        away = (40, -30) if node.kind == ASKED else (-17, 27) if y < frame.height / 2 else (27, -17)
        half = call(node, longest // 2) if longest else ""
        ways = [(text, (x, y + each, len(text))) for text in (name, half) for each in away]
        free = [way for way in ways if not any(_covers(other, way[1]) for other in taken)]
        text, place = free[0] if free else ways[len(away)]
        taken.append(place)
        yield Name(text, *place[:2], "middle")


def _covers(one: tuple[float, float, int], other: tuple[float, float, int]) -> bool:
    """Whether two names in the middle of which is a spot would overlap: a letter is seven wide, a line 17 high."""
    return abs(one[1] - other[1]) < 17 and abs(one[0] - other[0]) < 3.5 * (one[2] + other[2])
