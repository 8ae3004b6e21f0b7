"""Line charts as SVG, for reports and documents.

Colours are attributes, which every SVG viewer supports; a style sheet changes them in dark mode. Each line has a mark
of its own shape, so that colour isn't the only difference. The markup is in templates/chart.svg.
"""

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from cocite.evaluate import render

WIDTH, LEFT_PIXELS, RIGHT, HEIGHT = 760, 64, 24, 260
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
    legend = list(_legend([curve.label for curve in curves]))
    top = HEAD_PIXELS + ROW * (1 + max((row for _, row in legend), default=0)) + 18
    bottom, half = top + HEIGHT, (len(below) + 1) // 2

    def across(value: float) -> float:
        return round(LEFT_PIXELS + x.share(value) * (WIDTH - RIGHT - LEFT_PIXELS), 1)

    def height(value: float) -> float:
        return bottom - y.share(value) * HEIGHT

    lines = []
    for number, (curve, (left, row)) in enumerate(zip(curves, legend, strict=True)):
        places = [(across(one), height(other)) for one, other in curve.points]
        path = "L".join(f"{one:.1f} {other:.1f}" for one, other in places) if curve.joined else ""
        tooltips = curve.tooltips or [f"{curve.label}: {one:g}, {other:.4g}" for one, other in curve.points]
        line = {"label": curve.label, "x": left, "y": HEAD_PIXELS + ROW * (row + 1) - 4, "path": path and f"M{path}"}
        marks = list(zip(places, tooltips, strict=True))
        lines.append({**line, "style": STYLES[number % len(STYLES)], "marks": marks})
    return render(
        "chart.svg", title=title, note=note, lines=lines, below=[below[:half], below[half:]],
        width=WIDTH, height=bottom + 54 + (18 + 18 * half if below else 0),
        left=LEFT_PIXELS, right=WIDTH - RIGHT, top=top, bottom=bottom,
        x_label=x.label, x_ticks=[(across(value), name) for value, name in x.ticks],
        y_label=y.label, y_ticks=[(height(value), name) for value, name in y.ticks],
    )  # fmt: skip


def _legend(labels: Sequence[str]) -> Iterator[tuple[float, int]]:
    """Yield the place of each name in the legend: pixels from the left, and row."""
    left, row = float(LEFT_PIXELS), 0
    for label in labels:
        wide = 42 + LETTER * len(label) + 24
        if left > LEFT_PIXELS and left + wide > WIDTH:
            left, row = float(LEFT_PIXELS), row + 1
        yield left, row
        left += wide
