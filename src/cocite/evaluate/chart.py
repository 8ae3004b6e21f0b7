"""Line charts as SVG, for reports and documents.

Colours are attributes, which every SVG viewer supports; a style sheet changes them in dark mode. Each line has a mark
of its own shape, so that colour isn't the only difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

WIDTH, LEFT_PIXELS, RIGHT, HEIGHT = 760, 64, 24, 260
INK, PALE, PAPER = "#24292f", "#d0d7de", "#ffffff"
DARK_INK, DARK_PALE, DARK_PAPER = "#d7dde4", "#3a424b", "#14181d"
HEAD_PIXELS, ROW, LETTER = 46, 20, 6.6
"""Pixels: the two lines above, a row of the legend, an average letter."""


class Style(NamedTuple):
    """The look of a line, in light and dark mode."""

    colour: str
    dark: str
    mark: str  # an SVG path around 0,0
    dash: str


STYLES = (
    Style("#0a5bb5", "#6cb2ff", "M-4.5-4.5h9v9h-9z", "7 4"),
    Style("#b3400a", "#ff9a5c", "M0-6 5.5 4.5h-11z", "2 3"),
    Style("#0f7a3d", "#5fd38d", "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z", ""),
    Style("#7a2c9e", "#cf92f0", "M0-6 5 0 0 6-5 0z", "10 3 2 3"),
    Style("#8a6a00", "#e2c04a", "M0 6 5.5-4.5h-11z", "4 2"),
    Style("#00707a", "#4fd0da", "M-5-1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z", "1 3"),
    Style("#a01550", "#ff85b5", "M-5-5 5 5M-5 5 5-5M-5 0h10", "12 4"),
    Style("#4d4d4d", "#bdbdbd", "M-5-2h10v4h-10z", "5 5"),
)


class ChartCurve(NamedTuple):
    """A line: its name, and points with their tooltips (default: the value)."""

    label: str
    points: Sequence[tuple[float, float]]
    tooltips: Sequence[str] = ()
    joined: bool = True


class Axis(NamedTuple):
    """A range with named places."""

    label: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False

    def share(self, value: float) -> float:
        """The place of a value along the axis, from 0 to 1."""
        low, high, at = (log10(max(each, 1e-12)) if self.log else each for each in (self.low, self.high, value))
        return min(1.0, max(0.0, (at - low) / (high - low))) if high > low else 0.5


def even_axis(label: str, low: float, high: float, steps: int = 5) -> Axis:
    """An axis with round numbers at even steps, up to `high` or above."""
    high = high if high > low else low + 1
    step = 10 ** floor(log10(max(high - low, 1e-12) / steps))
    step *= next(times for times in (1, 2, 2.5, 5, 10) if times * step * steps >= (high - low) * (1 - 1e-9))
    count = max(1, ceil((high - low) / step - 1e-9))
    return Axis(label, low, low + count * step, [(low + i * step, f"{low + i * step:g}") for i in range(count + 1)])


def log_axis(label: str, low: float, high: float) -> Axis:
    """An axis by powers of ten."""
    first, last = floor(log10(max(low, 1e-12))), ceil(log10(max(high, 1e-12)))
    last = max(last, first + 1)
    return Axis(label, 10.0**first, 10.0**last, [(10.0**n, f"{10.0**n:g}") for n in range(first, last + 1)], log=True)


def named_axis(label: str, names: Sequence[str]) -> Axis:
    """An axis of names: the i-th is at i + 0.5."""
    return Axis(label, 0, max(1, len(names)), [(i + 0.5, name) for i, name in enumerate(names)])


def chart(
    title: str, note: str, curves: Sequence[ChartCurve], x: Axis, y: Axis, below: Sequence[tuple[str, str]] = ()
) -> str:
    """Draw curves as SVG; `below` are remarks in two columns, each after a short name."""
    rows = list(_legend([curve.label for curve in curves]))
    top = HEAD_PIXELS + ROW * (1 + max((row for _, row, _ in rows), default=0)) + 18
    bottom, half = top + HEIGHT, (len(below) + 1) // 2
    height = bottom + 54 + (18 + 18 * half if below else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' font-family="DejaVu Sans, Verdana, sans-serif" font-size="12" role="img">',
        f"<title>{_text(f'{title}: {note}')}</title>",
        f"<style>{_dark_colours(len(curves))}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}" class="paper"/>',
        _label(LEFT_PIXELS, 24, title, 'font-weight="bold"', 90),
        _label(LEFT_PIXELS, 42, note),
        *(part for number, (left, row, label) in enumerate(rows) for part in _entry(number, left, row, label)),
        *_axes(x, y, top),
        *(part for number, curve in enumerate(curves) for part in _curve(number, curve, x, y, top)),
        *(part for at, (name, text) in enumerate(below) for part in _remark(at, half, bottom, name, text)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _legend(labels: Sequence[str]) -> Iterator[tuple[float, int, str]]:
    """Yield the place of each name in the legend: pixels from the left, and row."""
    left, row = float(LEFT_PIXELS), 0
    for label in labels:
        wide = 42 + LETTER * len(label) + 24
        if left > LEFT_PIXELS and left + wide > WIDTH:
            left, row = float(LEFT_PIXELS), row + 1
        yield left, row, label
        left += wide


def _entry(number: int, left: float, row: int, label: str) -> Iterator[str]:
    y = HEAD_PIXELS + ROW * (row + 1) - 4
    yield _line(number, f"M{left:g} {y:g}h34")
    yield _mark(number, left + 17, y)
    yield _label(left + 42, y + 4, label)


def _axes(x: Axis, y: Axis, top: int) -> Iterator[str]:
    """Yield horizontal lines at every named place of y, and the names of both axes."""
    bottom = top + HEIGHT
    for at, (value, name) in enumerate(y.ticks):
        height = bottom - y.share(value) * HEIGHT
        colour, kind = (PALE, "pale") if at else (INK, "axis")
        yield f'<path d="M{LEFT_PIXELS} {height:.1f}H{WIDTH - RIGHT}" stroke="{colour}" class="{kind}"/>'
        yield _label(LEFT_PIXELS - 8, height + 4, name, 'text-anchor="end"')
    for value, name in x.ticks:
        yield _label(_across(x, value), bottom + 18, name, 'text-anchor="middle"')
    middle = top + HEIGHT / 2
    yield _label(18, middle, y.label, f'text-anchor="middle" transform="rotate(-90 18 {middle:g})"')
    yield _label((LEFT_PIXELS + WIDTH - RIGHT) / 2, bottom + 38, x.label, 'text-anchor="middle"')


def _curve(number: int, curve: ChartCurve, x: Axis, y: Axis, top: int) -> Iterator[str]:
    """Yield a line through all points, and a mark with a tooltip at each."""
    places = [(_across(x, one), top + HEIGHT - y.share(other) * HEIGHT) for one, other in curve.points]
    if places and curve.joined:
        yield _line(number, "M" + "L".join(f"{left:.1f} {height:.1f}" for left, height in places))
    tooltips = curve.tooltips or [f"{curve.label}: {one:g}, {other:.4g}" for one, other in curve.points]
    for (left, height), text in zip(places, tooltips, strict=True):
        yield _mark(number, left, height, text)


def _remark(at: int, half: int, bottom: int, name: str, text: str) -> Iterator[str]:
    x, y = LEFT_PIXELS - 40 + (at >= half) * 364, bottom + 66 + 18 * (at % half)
    yield _label(x, y, name, 'font-weight="bold" font-size="11"')
    yield _label(x + 32, y, text, 'font-size="11"', 52)


def _across(x: Axis, value: float) -> float:
    return round(LEFT_PIXELS + x.share(value) * (WIDTH - RIGHT - LEFT_PIXELS), 1)


def _line(number: int, path: str) -> str:
    style = STYLES[number % len(STYLES)]
    dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
    return f'<path d="{path}" fill="none" stroke="{style.colour}" class="c{number}" stroke-width="2"{dash}/>'


def _mark(number: int, x: float, y: float, tooltip: str = "") -> str:
    style = STYLES[number % len(STYLES)]
    inside = f"<title>{_text(tooltip)}</title>" if tooltip else ""
    place = f'transform="translate({x:.1f} {y:.1f})"'
    return f'<path d="{style.mark}" {place} fill="{style.colour}" class="m{number}">{inside}</path>'


def _label(x: float, y: float, text: str, more: str = "", maximum: int = 120) -> str:
    shown = text if len(text) <= maximum else text[: maximum - 1] + "…"
    return f'<text x="{x:g}" y="{y:g}" fill="{INK}" class="ink" {more}>{_text(shown)}</text>'


def _text(text: str) -> str:
    """Escape text for XML, which allows no control characters and lone surrogates."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))


def _dark_colours(curves: int) -> str:
    rules = [f".paper{{fill:{DARK_PAPER}}}", f".ink{{fill:{DARK_INK}}}"]
    rules += [f".axis{{stroke:{DARK_INK}}}", f".pale{{stroke:{DARK_PALE}}}"]
    for number in range(curves):
        dark = STYLES[number % len(STYLES)].dark
        rules += [f".c{number}{{stroke:{dark}}}", f".m{number}{{fill:{dark}}}"]
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"
