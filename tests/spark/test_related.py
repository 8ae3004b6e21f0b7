"""Answers are what a batch on one machine gives: the same pages, in the same order, with the same scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cocite.errors import BadParameter, BadSource
from cocite.graph.store import Graph
from cocite.operations.pages.batch import batch
from cocite.spark import related
from cocite.spark.related import check, write_related
from tests.conftest import long
from tests.spark.webs import table

CALLS = [
    "cocitation",
    "proximity(parents=5, window=6, merge=false, unit=host, chop=none, popularity=0.5)",
    "cocitation(parents=5, window=4, chop=host)",
    "extended_cocitation",
    'cocitation(parents=6, unit=site, rel=follow, stop_degree=40, stop=site1.example/a "https://twin1.example/")',
    "extended_cocitation(parents=4, children=3, child_parents=3, boilerplate=false, unit=domain, chop=strict)",
]


@pytest.mark.parametrize("call", [CALLS[0], *(pytest.param(call, marks=long) for call in CALLS[1:])])
def test_answers_are_alike(
    spark: Any, graph: Graph, shards: Path, place: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Parts of few links each, so that pages, parents and children are in different ones; of one method each task has
    # several parts.
    if call == CALLS[0]:
        monkeypatch.setattr(related, "MAX_TASKS", 2)
    done = write_related(spark, str(shards), str(place / "spark"), call, k=5, relations=600, links=400)
    alone = batch(graph, call, place / "alone.parquet", k=5, processes=1)
    assert table(place / "spark" / "related").to_pylist() == table(place / "alone.parquet").to_pylist()
    assert (done["answers"], done["pages"]) == (alone.answers, alone.answered)
    assert alone.answered > graph.pages / 4, "this web should have answers"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("companion", "cocite batch"),
        ("cocitation(seed=7)", "seed"),
        ("cocitation(trust=a.example)", "leave out trust"),
        ("cocitation(parents=5000, rel=follow)", "lower parents"),
    ],
)
def test_unsupported_parameters_are_refused(call: str, message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        check(call)


def test_no_shards(spark: Any, place: Path) -> None:
    with pytest.raises(BadSource, match="cocite spark store"):
        write_related(spark, str(place / "nothing"), str(place / "out"))
