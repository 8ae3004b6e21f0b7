"""docs/python.md: its examples run, in order, and do what they say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from cocite.graph.store import Graph
from tests.conftest import ROOT

PAGES = """{"url": "https://example.org/list", "title": "Newspapers",
 "links": [{"url": "https://www.nytimes.com/", "block": 0}, {"url": "https://www.lemonde.fr/"}, "https://www.nytimes.com/"]}
{"url": "https://other.example/", "links": ["https://www.nytimes.com/"]}
"""


def test_the_examples_run(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(place)
    (place / "pages.jsonl").write_text(PAGES.replace("\n ", " "))
    shared: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL):
        exec(example, shared)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "4 3 {'repeated': 1, 'to_itself': 0, 'replaced': 0, 'unusable': 0}",
        "https://www.nytimes.com/ 0",
        "https://www.lemonde.fr/ -1",
    ]
    # In the order of reversed hosts: com,nytimes; example,other; fr,lemonde; org,example.
    assert lines[3:5] == ["[2 0 1 0]", "Newspapers"]
    assert 0 < float(lines[5]) < 1
    small, whole, matrix = (shared[name] for name in ("small", "whole", "matrix"))
    assert list(small.edges) == [  # type: ignore[attr-defined]
        ("https://example.org/list", "https://www.nytimes.com/"),
        ("https://example.org/list", "https://www.lemonde.fr/"),
    ]
    assert whole.get_edgelist() == [(1, 0), (3, 0), (3, 2)]  # type: ignore[attr-defined]
    assert np.argwhere(matrix.toarray()).tolist() == [[1, 0], [3, 0], [3, 2]]  # type: ignore[attr-defined]


def test_methods_of_a_graph_are_in_its_help() -> None:
    taught = set(re.findall(r"\bgraph\.(\w+)\(", (ROOT / "docs" / "python.md").read_text()))
    assert {"find", "links_from", "address"} <= taught
    for name in taught:
        assert getattr(Graph, name).__doc__, name
