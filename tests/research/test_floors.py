"""Every method stays above its floor (research/floors.toml) on every judged collection.

A floor is 3 % below the measure of the day it was set. `python -m research.floors` prints new ones; lowering a floor
needs a reason in the changelog.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from research import datasets
from research.doc_sites import SITES
from research.floors import Gate, gates, measure
from tests.conftest import long

QUICK = ("cora", "webkb", "planted-dense")


@pytest.mark.parametrize(
    "gate",
    [pytest.param(gate, id=gate.collection, marks=() if gate.collection in QUICK else long) for gate in gates()],
)
def test_every_method_stays_above_its_floor(gate: Gate, shared: Path, place: Path) -> None:
    fallen = [
        f"{now.method}: P@10 {now.p:.4f} (floor {floor.p:.4f}), MAP@10 {now.map:.4f} (floor {floor.map:.4f})"
        for floor, now in zip(gate.floors, measure(gate, shared / "data", place / "web.cocite"), strict=True)
        if now.p < floor.p or now.map < floor.map
    ]
    assert not fallen, f"{gate.collection}: {'; '.join(fallen)}"


def test_every_collection_has_floors() -> None:
    """All but documentation sites, which come from packages that a machine may not have."""
    assert [gate.collection for gate in gates()] == [name for name in datasets.READERS if name not in SITES]
