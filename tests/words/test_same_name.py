"""Same-name pages follow changes: after any of them, they are those of all pages at once."""

from __future__ import annotations

import random

import numpy as np
import pytest

from cocite.kernels.words.word_vectors import MAX_SAME_NAME, SCALE
from cocite.words import same_name
from cocite.words.same_name import AnchorNames, ChangedNames
from cocite.words.stored import Arrays, merged_parts
from cocite.words.vectors import RecentNames

WORDS = ["alpha", "bravo", "charly", "delta", "echo", "foxtrot", "golf", "hotel"]
PAGES = 25
Cosines = dict[int, float]


class Anchors:
    """Anchor texts of pages that change."""

    def __init__(self, seed: int) -> None:
        self.draw, self.texts, self.addresses = random.Random(seed), list[list[tuple[str, int]]](), list[str]()
        self.change(range(PAGES))

    def change(self, pages: range | list[int]) -> None:
        """Other texts for some pages, of which the last may be new."""
        for page in pages:
            if page == len(self.texts):
                self.texts.append([])
                self.addresses.append(f"https://x.example/{self.draw.choice(WORDS)}")
            words = self.draw.sample(WORDS, self.draw.randint(0, 3))
            self.texts[page] = [(word, self.draw.randint(1, 4)) for word in words]

    def names(self, pages: range | list[int]) -> AnchorNames:
        """The names of some pages."""
        found = AnchorNames()
        for page in pages:
            found.add(page, self.texts[page], self.addresses[page])
        return found

    def all(self) -> dict[int, Cosines]:
        """The same-name pages of all."""
        rows = self.names(range(len(self.texts))).rows(len(self.texts)).same_name()
        parts = [rows[[page]] for page in range(len(self.texts))]
        return {page: dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for page, row in enumerate(parts)}


def rows_of(part: Arrays) -> dict[int, Cosines]:
    """The same-name pages in a part."""
    starts, pages = part["same:row.starts"], part["same:page"].tolist()
    found = {}
    for at, page in enumerate(pages):
        row = slice(int(starts[at]), int(starts[at + 1]))
        weights = (part["same:row.weights"][row] / SCALE).tolist()
        found[page] = dict(zip(part["same:row.ids"][row].tolist(), weights, strict=True))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_same_name_pages_follow_any_changes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same_name, "MAX_NAME_PAGES", 1000)  # which are ignored lags
    anchors = Anchors(seed)
    stored, known, parts = anchors.names(range(PAGES)).rows(PAGES).stored(), anchors.all(), list[Arrays]()
    for _ in range(4):
        new = range(len(anchors.texts), len(anchors.texts) + anchors.draw.randint(0, 2))
        changed = sorted({*anchors.draw.sample(range(len(anchors.texts)), 3), *new})
        anchors.change(changed)
        older = RecentNames(parts[0]["page"], parts[0]) if parts else None
        made = ChangedNames(stored, older, changed, anchors.names(changed)).arrays()
        known |= rows_of(made)
        parts = [merged_parts([*parts, {"page": np.array(changed, np.uint32), **made}])]
        assert rows_of(parts[0]).items() <= known.items()
        for page, truth in anchors.all().items():
            assert sorted(known[page].values()) == pytest.approx(sorted(truth.values()), abs=1e-3)
            least = min(truth.values()) if len(truth) == MAX_SAME_NAME else 0
            assert {other for other, cosine in truth.items() if cosine > least + 1e-3} <= {*known[page]}
