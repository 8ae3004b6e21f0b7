"""No method loses quality: on every judged collection each stays above its floor (floors.toml).

A floor lies 3 % below what was measured when it was set. `python bench/floors.py` prints what floors could be now; one
is lowered only with a reason, in the changelog.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cocite.evaluate import datasets
from tests.evaluate.floors import Gate, gates, measure


@pytest.mark.parametrize("gate", gates(), ids=lambda gate: gate.collection)
def test_quality_stays(gate: Gate, shared: Path, place: Path) -> None:
    fallen = [
        f"{now.method}: P@10 {now.p:.4f} (floor {floor.p:.4f}), MAP@10 {now.map:.4f} (floor {floor.map:.4f})"
        for floor, now in zip(gate.floors, measure(gate, shared / "data", place / "web.cocite"), strict=True)
        if now.p < floor.p or now.map < floor.map
    ]
    assert not fallen, f"{gate.collection}: {'; '.join(fallen)}"


def test_every_collection_has_floors() -> None:
    assert [gate.collection for gate in gates()] == list(datasets.READERS)
