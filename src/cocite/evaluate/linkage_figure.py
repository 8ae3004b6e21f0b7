"""Fig. 4 of Hou & Zhang 2003 for any page: bcp, dd and sim of some siblings, drawn as SVG.

Plain text, without a drawing library. Colours are attributes, which every reader of SVG knows; a style sheet changes
them where dark is preferred. Each line has a mark of its own form, so that none is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from cocite.evaluate.latent_linkage import Linkage, LinkageExperiment, LinkageSide

WIDTH, LEFT, RIGHT, TOP, HEIGHT = 760, 64, 24, 84, 260
BOTTOM = TOP + HEIGHT
INK, PALE, PAPER = "#24292f", "#d0d7de", "#ffffff"
DARK = {INK: "#d7dde4", PALE: "#3a424b", PAPER: "#14181d"}
LONGEST = 52
"""Characters of an address that fit into half the width."""


class Curve(NamedTuple):
    """One figure of every page."""

    name: str
    label: str
    colour: str
    dark: str
    mark: str  # an SVG path round 0,0
    dash: str


CURVES = (
    Curve("bcp", "bcp, share of merged {}", "#0a5bb5", "#6cb2ff", "M-4.5-4.5h9v9h-9z", "7 4"),
    Curve("dd", "dd, drift degree", "#b3400a", "#ff9a5c", "M0-6 5.5 4.5h-11z", "2 3"),
    Curve("sim", "sim, similarity by LLI", "#0f7a3d", "#5fd38d", "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z", ""),
)


def draw(experiment: LinkageExperiment, count: int = 10, least: int = 2, forward: bool = False) -> str:
    """An SVG picture of up to `count` pages, evenly spaced among those with `least` merged parents in common.

    Pages cited together with the query page but once are most, and of those bcp has nothing to say: hence `least`.
    """
    side = experiment.forward if forward else experiment.back
    rows = [experiment.row(side, at) for at in side.spread(count, least)]
    xs = _places(len(rows))
    half = (len(rows) + 1) // 2
    height = BOTTOM + 72 + 18 * half
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' font-family="DejaVu Sans, Verdana, sans-serif" font-size="12" role="img">',
        f"<title>bcp, dd and sim of {len(rows)} pages around {_text(experiment.used)}</title>",
        f"<style>{_dark_colours()}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}" class="paper"/>',
        *_heading(experiment, side),
        *_axes(xs, _words(side)[0]),
        *(part for curve in CURVES for part in _curve(curve, xs, rows)),
        *_key(rows, half),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _heading(experiment: LinkageExperiment, side: LinkageSide) -> Iterator[str]:
    """What is shown, and the legend."""
    pages, groups = _words(side)
    facts = f"{len(side.pages)} {pages}, {len(side.groups)} merged {groups}, ε = {experiment.epsilon:g}, k = {side.k}"
    yield _label(LEFT, 24, experiment.used, 'font-weight="bold"', 80)
    yield _label(LEFT, 42, facts)
    for x, curve in zip((LEFT, LEFT + 250, LEFT + 420), CURVES, strict=True):
        yield _line(curve, f"M{x} 62h34")
        yield _mark(curve, x + 17, 62)
        yield _label(x + 42, 66, curve.label.format(groups))


def _words(side: LinkageSide) -> tuple[str, str]:
    """What the rows and columns of a side's matrix are called."""
    return ("siblings", "parents") if side.name == "back" else ("spouses", "children")


def _axes(xs: Sequence[float], pages: str) -> Iterator[str]:
    """Lines at every fifth, and the names of both axes."""
    for fifth in range(6):
        y = _height(fifth / 5)
        colour, kind = (PALE, "pale") if fifth else (INK, "axis")
        yield f'<path d="M{LEFT} {y:g}H{WIDTH - RIGHT}" stroke="{colour}" class="{kind}"/>'
        yield _label(LEFT - 8, y + 4, f"{fifth / 5:.1f}", 'text-anchor="end"')
    for number, x in enumerate(xs, 1):
        yield _label(x, BOTTOM + 18, f"P{number}", 'text-anchor="middle"')
    middle = (TOP + BOTTOM) / 2
    yield _label(22, middle, "value", f'text-anchor="middle" transform="rotate(-90 22 {middle:g})"')
    yield _label((LEFT + WIDTH - RIGHT) / 2, BOTTOM + 38, f"{pages}, by bcp, then dd", 'text-anchor="middle"')


def _curve(curve: Curve, xs: Sequence[float], rows: Sequence[Linkage]) -> Iterator[str]:
    """A line through the values of all pages, and a mark, which says its value, at each."""
    values = [float(getattr(row, curve.name)) for row in rows]
    points = [f"{x:.1f} {_height(value):.1f}" for x, value in zip(xs, values, strict=True)]
    if points:
        yield _line(curve, "M" + "L".join(points))
    for number, (x, value) in enumerate(zip(xs, values, strict=True), 1):
        yield _mark(curve, x, _height(value), f"P{number}: {curve.name} {value:.3f}")


def _key(rows: Sequence[Linkage], half: int) -> Iterator[str]:
    """Which page is P1, P2, …: two columns below the picture."""
    for at, row in enumerate(rows):
        x, y = LEFT - 40 + (at >= half) * 364, BOTTOM + 66 + 18 * (at % half)
        yield _label(x, y, f"P{at + 1}", 'font-weight="bold" font-size="11"')
        yield _label(x + 32, y, row.address.split("://")[-1].rstrip("/"), 'font-size="11"', LONGEST)


def _line(curve: Curve, path: str) -> str:
    dash = f' stroke-dasharray="{curve.dash}"' if curve.dash else ""
    return f'<path d="{path}" fill="none" stroke="{curve.colour}" class="{curve.name}" stroke-width="2"{dash}/>'


def _mark(curve: Curve, x: float, y: float, says: str = "") -> str:
    inside = f"<title>{says}</title>" if says else ""
    place = f'transform="translate({x:.1f} {y:.1f})"'
    return f'<path d="{curve.mark}" {place} fill="{curve.colour}" class="{curve.name}-mark">{inside}</path>'


def _label(x: float, y: float, text: str, more: str = "", most: int = 120) -> str:
    shown = text if len(text) <= most else text[: most - 1] + "…"
    return f'<text x="{x:g}" y="{y:g}" fill="{INK}" class="ink" {more}>{_text(shown)}</text>'


def _text(text: str) -> str:
    """Text for XML, which has no place for control characters and halves of characters."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))


def _dark_colours() -> str:
    rules = [f".paper{{fill:{DARK[PAPER]}}}", f".ink{{fill:{DARK[INK]}}}"]
    rules += [f".axis{{stroke:{DARK[INK]}}}", f".pale{{stroke:{DARK[PALE]}}}"]
    for curve in CURVES:
        rules += [f".{curve.name}{{stroke:{curve.dark}}}", f".{curve.name}-mark{{fill:{curve.dark}}}"]
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


def _places(count: int) -> list[float]:
    """Where the pages stand on the axis: each in the middle of its share."""
    share = (WIDTH - RIGHT - LEFT) / max(1, count)
    return [LEFT + share * (at + 0.5) for at in range(count)]


def _height(value: float) -> float:
    return BOTTOM - value * HEIGHT
