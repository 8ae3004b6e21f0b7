"""Fig. 3 of Hou & Zhang 2002 for any base set: what pages measure with a large δ and with a small one, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from cocite.evaluate.chart import Curve, chart, even_axis, named_axis
from cocite.evaluate.noise import Fall, mean_rate


def draw(title: str, told: Sequence[Fall], deltas: tuple[float, float] = (0.5, 0.3), each: int = 10) -> str:
    """Noise pages on the left, pages on topic on the right, so many of each, evenly spaced by their measure."""
    sides = [spread([fall for fall in told if fall.noise is noise], each) for noise in (True, False)]
    shown = [fall for side in sides for fall in side]
    rates = [f"{mean_rate([fall for fall in told if fall.noise is noise]):.0%}" for noise in (True, False)]
    curves = [
        Curve(f"δ = {delta:g}", [(at + 0.5, fall[place]) for at, fall in enumerate(shown)])
        for delta, place in zip(deltas, (2, 3), strict=True)
    ]
    names = [f"{'N' if fall.noise else 'T'}{at}" for side in sides for at, fall in enumerate(side, 1)]
    return chart(
        title,
        f"the measure of noise falls by {rates[0]} on average, that of pages on topic by {rates[1]}",
        curves,
        named_axis("noise pages (N), pages on topic (T)", names),
        even_axis("measure", 0, max((max(fall.large, fall.small) for fall in shown), default=1.0) or 1.0),
    )


def spread(falls: Sequence[Fall], count: int) -> list[Fall]:
    """Some pages, from the one of the greatest measure to the one of the least."""
    ordered = sorted(falls, key=lambda fall: (-fall.large, fall.page))
    chosen = min(count, len(ordered))
    return [ordered[at * (len(ordered) - 1) // max(1, chosen - 1)] for at in range(chosen)]
