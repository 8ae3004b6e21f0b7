"""Judged answers: the methods score on real lists what plain readings of the papers do.

The figures are those that the data's own description gives (P@10), for the settings that it names.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.store import Graph
from cocite.related.methods import method
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from cocite.web import Web

BACK = {"children": 0, "merge": False, "chop": "none"}
PLAIN = {"merge": False, "chop": "none"}
MEASURED: list[tuple[str, dict[str, Any], float]] = [
    ("cocitation", {"parents": 10**9, "window": 0, **PLAIN}, 0.070),
    ("cocitation", PLAIN, 0.132),
    ("cocitation", {"merge": False}, 0.132),
    ("proximity", {"block_weight": 0.0, **PLAIN}, 0.128),
    ("companion", {"unit": "host", "rounds": 30, "child_parents": 40, **BACK}, 0.063),
    ("companion", {"rounds": 30, "child_parents": 40, **BACK}, 0.123),
    ("extended_cocitation", {"unit": "host", **BACK}, 0.086),
    ("extended_cocitation", BACK, 0.109),
    ("lli", {"unit": "host", **BACK}, 0.086),
    ("lli", BACK, 0.105),
]


@pytest.fixture(scope="module")
def web(shared: Path, fast_root: Path) -> Web:
    report = ReadReport()
    source = open_source(str(shared / "data/awesome/pages.jsonl.gz"), report, text=False)
    build([source], fast_root / "awesome.cocite", report, BuildOptions(anchors=False, text=False))
    return Web(fast_root / "awesome.cocite")


@pytest.fixture(scope="module")
def judgements(shared: Path) -> dict[str, set[str]]:
    relevant: dict[str, set[str]] = defaultdict(set)
    with gzip.open(shared / "data/awesome/judgements.dev.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            query, page = line.rstrip("\n").split("\t")
            relevant[query].add(spelled(page))
    return relevant


def spelled(address: str) -> str:
    """The judge's spelling: no scheme, no leading www., no trailing slash, no fragment."""
    parts = urlsplit(address if "://" in address else "http://" + address)
    path = parts.path.rstrip("/")
    path = path.lower() if parts.hostname == "github.com" else path
    return (parts.hostname or "").lower().removeprefix("www.") + path + ("?" + parts.query if parts.query else "")


@cache
def shown(graph: Graph, page: int) -> str:
    """The judge's spelling of a page."""
    return spelled(graph.address(page))


@pytest.mark.parametrize(("name", "parameters", "known"), MEASURED)
def test_precision(
    web: Web, judgements: dict[str, set[str]], name: str, parameters: dict[str, Any], known: float
) -> None:
    """Of ten answers, the share that other lists have in one section with the query page; mean over 2,582 queries."""
    chosen = method(name, parameters)

    def answers(query: str) -> Iterator[str]:
        page = web.graph.get(query)
        ranked = chosen.relate(web, [page]).ranked(web.graph.in_degree, 20) if page is not None else iter(())
        spellings = dict.fromkeys(shown(web.graph, answer) for answer, _ in islice(ranked, 20))
        return islice((text for text in spellings if text != query), 10)

    hits = [sum(answer in relevant for answer in answers(query)) for query, relevant in judgements.items()]
    assert len(hits) == 2582
    assert sum(hits) / len(hits) / 10 == pytest.approx(known, rel=0.05)
