"""The worked examples of docs/explanation: each method, run on the graph of its example, gives what the sums give."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from cocite.related import methods
from docs.explanation import worked
from docs.explanation.examples import FAMILIES, HEAD
from tests.conftest import ROOT

EXAMPLES = [example for _, examples in FAMILIES.values() for example in examples]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_sums_give_the_scores(example: worked.Example) -> None:
    values = example.evaluated()
    for page in example.sums:
        assert values[page] == pytest.approx(example.scores.get(page, 0), abs=5e-5), page
    others = {page: score for page, score in example.scores.items() if page not in (*example.sums, example.query)}
    best = min((value for page in example.sums if (value := values[page])), default=0)
    assert all(score <= best for score in others.values()), f"better than those shown: {others}"


def test_every_method_has_one() -> None:
    assert sorted(example.name for example in EXAMPLES) == sorted(methods.names())
    assert all(f"`{example.name}`" in HEAD for example in EXAMPLES)


def test_pages_and_drawings_are_up_to_date() -> None:
    for file, text in worked.pages().items():
        assert (ROOT / "docs" / file).read_text("utf-8") == text, f"docs/{file}: run make docs"
        if file.endswith(".svg"):
            ET.fromstring(text)


def test_sums_are_numbers_only() -> None:
    assert worked.evaluate("√(4)² · 2^3 − ln(1)", {}) == 32
    with pytest.raises(NameError):
        worked.evaluate("open", {})
