"""The drawing of Fig. 4: well-formed, complete, inside its frame, and safe with strangers' addresses."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cocite.evaluate.chart import HEAD_PIXELS, HEIGHT, LEFT_PIXELS, RIGHT, ROW, WIDTH
from research.latent_linkage import experiment
from research.linkage_figure import draw
from tests.graph.webs import page
from tests.research.test_latent_linkage import BLOCKS, U, back_web, forward_web, web_of

TOP = HEAD_PIXELS + ROW + 18
BOTTOM = TOP + HEIGHT
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def marks(svg: str) -> dict[str, tuple[float, float]]:
    """What each mark says, and where it stands."""
    found = {}
    for path in ElementTree.fromstring(svg).iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None:
            x, y = re.findall(r"-?[\d.]+", path.attrib["transform"])
            found[title.text or ""] = float(x), float(y)
    return found


def test_every_value_is_drawn_at_its_height(place: Path) -> None:
    """Nine pages have two parents or more; the first has bcp 4/6, dd 0.2."""
    found = experiment(web_of(place, back_web()), U)
    drawn = marks(draw(found))
    assert len(drawn) == 3 * 9
    assert drawn["P1: bcp 0.667"][1] == pytest.approx(BOTTOM - HEIGHT * 4 / 6, abs=0.06)
    assert drawn["P1: dd 0.200"][1] == pytest.approx(BOTTOM - HEIGHT * 0.2, abs=0.06)
    assert drawn["P1: sim 0.915"][0] == drawn["P1: bcp 0.667"][0] < drawn["P2: dd 0.400"][0]
    assert all(LEFT_PIXELS < x < WIDTH - RIGHT and TOP <= y <= BOTTOM for x, y in drawn.values())


def test_axes_legend_and_pages_are_named(place: Path) -> None:
    said = texts(draw(experiment(web_of(place, back_web()), U)))
    for text in (
        U, "37 siblings, 6 merged parents, ε = 0.5, k = 6", "bcp, share of merged parents", "dd, drift degree",
        "sim, similarity by LLI", "value", "siblings, by bcp, then dd", "0", "1", "P9", "p01.example",
        "p09.example",
    ):  # fmt: skip
        assert text in said, text


def test_the_forward_side(place: Path) -> None:
    said = texts(draw(experiment(web_of(place, forward_web()), U), forward=True))
    assert "37 spouses, 6 merged children, ε = 0.5, k = 6" in said and "bcp, share of merged children" in said


@pytest.mark.parametrize(
    ("count", "least", "pages"), [(10, 2, 3), (2, 2, 2), (1, 1, 1), (10, 1, 4), (10, 9, 0), (0, 1, 0)]
)
def test_few_pages_or_none(place: Path, count: int, least: int, pages: int) -> None:
    assert len(marks(draw(experiment(web_of(place, BLOCKS), U), count, least))) == 3 * pages


def test_dark_colours_wait_until_they_are_preferred(place: Path) -> None:
    svg = draw(experiment(web_of(place, BLOCKS), U))
    style = ElementTree.fromstring(svg).find(f"{SVG}style")
    assert style is not None and style.text is not None
    assert style.text.startswith("@media (prefers-color-scheme:dark){") and style.text.count("{") == style.text.count(
        "}"
    )
    classes = set(re.findall(r'class="([\w-]+)"', svg))
    assert classes == set(re.findall(r"\.([a-z0-9-]+)\{", style.text))


def test_strange_names_stay_text(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opaque names may hold anything: marks of XML, control characters, halves of characters, thousands of letters."""
    web = web_of(place, BLOCKS)
    found = experiment(web, U)
    for name in ("</text><script>alert(1)</script>", "a&b\"c'd", "bell\x07 nul\x00 \ud800", "x" * 5000, "", "ア" * 200):
        monkeypatch.setattr(web.graph, "address", lambda _page, name=name: name)
        svg = draw(found)
        svg.encode("utf-8")
        assert ElementTree.fromstring(svg).find(f".//{SVG}script") is None
        assert max(map(len, texts(svg))) <= 120


def test_names_of_an_edge_list(place: Path) -> None:
    pages = [page(f"name:l{n}", "name:<u>", "name:<script>&", "name:other") for n in range(3)]
    web = web_of(place, pages)
    assert "<script>&" in " ".join(texts(draw(experiment(web, "<u>"), least=1)))
