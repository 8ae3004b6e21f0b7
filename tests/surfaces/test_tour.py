"""The notebook of the documentation: what it shows is what comes out when it is run again."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import long

MAKER = Path(__file__).parents[2] / "docs" / "notebooks" / "make.py"


def plain(notebook: Any, steady: Any) -> list[tuple[str, list[dict[str, str]]]]:
    """The source of each cell and its outputs by type, without what differs from run to run."""
    return [
        (
            cell.source,
            [{kind: steady(str(text)) for kind, text in each.data.items()} for each in cell.get("outputs", [])],
        )
        for cell in notebook.cells
    ]


@long
def test_the_tour_is_as_it_would_be_now() -> None:
    """Renew it with `make docs` if this fails because something shows better now."""
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    found = importlib.util.spec_from_file_location("make_tour", MAKER)
    assert found is not None and found.loader is not None
    maker = importlib.util.module_from_spec(found)
    found.loader.exec_module(maker)
    kept = plain(nbformat.read(maker.TOUR, 4), maker.steady)
    now = plain(maker.run(), maker.steady)
    assert len(now) > 15 and any("<svg" in each.get("text/html", "") for _, outputs in now for each in outputs)
    assert [source for source, _ in kept] == [source for source, _ in now]
    for (source, before), (_, after) in zip(kept, now, strict=True):
        assert before == after, source


def test_the_tour_has_outputs_and_no_errors() -> None:
    nbformat = pytest.importorskip("nbformat")
    cells = nbformat.read(MAKER.parent / "tour.ipynb", 4).cells
    outputs = [each for cell in cells for each in cell.get("outputs", [])]
    assert len(outputs) > 10
    assert not [each for each in outputs if each.output_type == "error"]
