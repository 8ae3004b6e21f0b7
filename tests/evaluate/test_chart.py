"""Charts: round numbers, marks at their places, everything inside the frame."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.evaluate.chart import (
    HEAD_PIXELS,
    HEIGHT,
    LEFT_PIXELS,
    RIGHT,
    ROW,
    STYLES,
    WIDTH,
    ChartCurve,
    chart,
    even_axis,
    log_axis,
)
from cocite.evaluate.noise import Fall, draw

SVG = "{http://www.w3.org/2000/svg}"
numbers = st.floats(1e-6, 1e6)


def marks(svg: str) -> dict[str, tuple[float, float]]:
    """What each mark says, and where it stands."""
    found = {}
    for path in ElementTree.fromstring(svg).iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None:
            x, y = map(float, re.findall(r"-?[\d.]+", path.attrib["transform"]))
            found[title.text or ""] = x, y
    return found


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (0, 0.19, ["0", "0.05", "0.1", "0.15", "0.2"]),
        (0, 37, ["0", "10", "20", "30", "40"]),
        (5, 50, ["5", "15", "25", "35", "45", "55"]),
        (0, 0, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
    ],
)
def test_round_numbers(low: float, high: float, ticks: list[str]) -> None:
    axis = even_axis("value", low, high)
    assert [name for _, name in axis.ticks] == ticks
    assert axis.high >= high


@given(low=st.just(0.0) | numbers, more=numbers)
def test_an_axis_reaches_over_all_values_in_a_few_steps(low: float, more: float) -> None:
    axis = even_axis("value", low, low + more)
    assert axis.high >= (low + more) * (1 - 1e-9)
    assert 2 <= len(axis.ticks) <= 7
    assert axis.share(axis.low) == 0
    assert axis.share(axis.high) == 1


def test_powers_of_ten() -> None:
    axis = log_axis("ms", 0.3, 42)
    assert [name for _, name in axis.ticks] == ["0.1", "1", "10", "100"]
    assert axis.share(1) == pytest.approx(1 / 3)
    assert axis.share(0) == 0


def test_marks_are_drawn_at_their_values() -> None:
    curves = [ChartCurve("one", [(0, 0), (5, 0.5), (10, 1)]), ChartCurve("two <&>", [(10, 0.25)], joined=False)]
    svg = chart("a title", "a note", curves, even_axis("x", 0, 10), even_axis("y", 0, 1))
    top, wide = HEAD_PIXELS + ROW + 18, WIDTH - RIGHT - LEFT_PIXELS
    assert marks(svg) == {
        "one: 0, 0": (LEFT_PIXELS, top + HEIGHT),
        "one: 5, 0.5": (LEFT_PIXELS + wide / 2, top + HEIGHT / 2),
        "one: 10, 1": (LEFT_PIXELS + wide, top),
        "two <&>: 10, 0.25": (LEFT_PIXELS + wide, top + HEIGHT * 0.75),
    }


def test_more_lines_than_styles_and_long_names_stay_inside() -> None:
    curves = [ChartCurve(f"a rather long name of line {n}", [(1, n)]) for n in range(len(STYLES) + 2)]
    svg = chart("t", "n", curves, even_axis("x", 0, 2), even_axis("y", 0, 10))
    root = ElementTree.fromstring(svg)
    height = float(root.attrib["height"])
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.attrib["x"]) < WIDTH
        assert 0 < float(text.attrib["y"]) < height
    assert len(marks(svg)) == len(curves)


def test_the_fall_of_measures() -> None:
    """Noise loses nine tenths on average, pages on topic a quarter."""
    told = [Fall(n, True, 1.0, 0.1) for n in range(30)] + [Fall(100 + n, False, 2.0, 1.5) for n in range(4)]
    svg = draw(told, "Harvard")
    assert "the measure of noise falls by 90% on average, that of pages on topic by 25%" in svg
    names = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert [name for name in names if re.fullmatch(r"[NT]\d+", name or "")] == [
        *(f"N{n}" for n in range(1, 11)), *(f"T{n}" for n in range(1, 5)),
    ]  # fmt: skip
    assert "δ = 0.3: 0.5, 0.1" in marks(svg)
    assert draw([], "nothing at all")
