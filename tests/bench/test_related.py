"""The benchmark of the methods compares like with like, on a tiny generated web."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import related
import related_rivals as rivals
from cocite.graph.build.passes import build
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from cocite.web import Web
from generate import world_of, write

PAGES = 3000
MANY_LINKS, SOME_LINKS = "2,000 or more", "100 to 1,000"


@pytest.fixture(scope="module")
def web(fast_root: Path) -> Web:
    """A generated web: some pages have more than 100 in-links, none has 2,000."""
    data, report = fast_root / "related-data", ReadReport()
    write(world_of(PAGES, 7), data, threads=1)
    build([open_source(str(data), report)], fast_root / "related.cocite", report)
    return Web(fast_root / "related.cocite")


@pytest.fixture(params=["product", "rows", "duckdb", "igraph"])
def rival(web: Web, request: pytest.FixtureRequest) -> Iterator[rivals.Rival]:
    """Each rival, loaded."""
    links, into = rivals.matrices(web.graph)
    if request.param == "duckdb":
        with rivals.duckdb_join(links, into) as made:
            yield made
    elif request.param == "igraph":
        yield rivals.igraph_cocitation(web.graph)
    else:
        yield {"product": rivals.scipy_product, "rows": rivals.scipy_rows}[request.param](links, into)


def common_parents(web: Web, page: int) -> dict[int, int]:
    """Parents in common with every other page, counted one by one."""
    counts: dict[int, int] = {}
    for parent in web.graph.links_to(page).tolist():
        for target in web.graph.links_from(parent).targets.tolist():
            if target != page:
                counts[target] = counts.get(target, 0) + 1
    return counts


def test_questions_are_of_their_group_and_always_the_same(web: Web) -> None:
    pages = related.questions(web.graph, SOME_LINKS, 20)
    assert len(set(pages)) == 20
    assert all(100 <= web.graph.in_degree[page] <= 1000 for page in pages)
    assert pages == related.questions(web.graph, SOME_LINKS, 20)
    assert related.questions(web.graph, MANY_LINKS) == np.flatnonzero(web.graph.in_degree >= 2000).tolist() == []
    assert [group for group, _ in related.grouped(web.graph)] == [SOME_LINKS]


def test_every_rival_counts_what_cocite_counts(web: Web, rival: rivals.Rival) -> None:
    for page in related.questions(web.graph, SOME_LINKS, 3):
        truth = common_parents(web, page)
        for one in (rival, rivals.cocite_itself(web)):
            pages, counts = one.counts(page)
            found = dict(zip(pages.tolist(), counts.tolist(), strict=True))
            found.pop(page, None)
            assert found == truth
        first = related.best(rival, page)
        assert [count for _, count in first] == sorted(truth.values(), reverse=True)[: related.TOP]
        assert all(truth[other] == count for other, count in first)


def test_a_rival_with_other_counts_is_refused(web: Web) -> None:
    def counts(page: int) -> rivals.Counts:
        pages, right = rivals.cocite_itself(web).counts(page)
        return pages, right + (pages == pages.max())

    with pytest.raises(AssertionError, match="the counts differ"):
        related.race(web, rivals.Rival("wrong", counts, 1))


def test_order_and_the_page_itself_do_not_matter_in_counts() -> None:
    one = np.array([5, 3, 9]), np.array([1, 2, 7])
    related.check_same(9, one, (np.array([3, 5, 8]), np.array([2, 1, 0])))
    with pytest.raises(AssertionError, match="page 9"):
        related.check_same(9, one, (np.array([3, 5, 8]), np.array([2, 1, 1])))


def test_other_authorities_are_noticed(web: Web) -> None:
    page = related.questions(web.graph, SOME_LINKS, 1)[0]
    edges = related.vicinity(web, page)
    assert rivals.digraph(edges).number_of_edges() == len(edges.ends) > 0
    with pytest.raises(AssertionError, match="the authorities differ"):
        related.check_alike(page, edges, {0: 1.0})


def test_milliseconds_returns_the_median_without_the_first_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    durations = iter([90, 90, 1, 5, 3, 4, 2, 60])  # two pages, a pass at a time
    clock = [0.0]

    def work(page: int) -> None:
        clock[0] += next(durations) / 1e3

    monkeypatch.setattr(related.time, "process_time", lambda: clock[0])
    assert related.milliseconds(work, [0, 1], times=3) == pytest.approx([2, 5])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_peak_growth_counts_memory_that_was_freed_again() -> None:
    size = 32 << 20  # the kernel counts in batches of some hundred KiB
    assert related.peak_growth(lambda: np.ones(size, np.uint8).sum()) * 1024 == pytest.approx(size, rel=0.05)
    assert related.peak_growth(lambda: None) < 1024


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_all_tables_are_printed(web: Web, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for function in ("speed", "hits", "threads", "memory"):
        given = getattr(related, function)
        monkeypatch.setattr(related, function, lambda of, given=given: given(of, 2))
    monkeypatch.setattr(sys, "argv", ["related.py", str(web.graph.path)])
    related.main()
    printed = capsys.readouterr().out
    tables = [part.splitlines() for part in printed.split("\n\n") if part.startswith("|")]
    assert [len(table) - 2 for table in tables] == [6, 4, 4, 3, 6]  # rows: methods, rivals, HITS, threads, memory
    assert all(line.count("|") == table[0].count("|") for table in tables for line in table if line)
    assert [row.split("|")[6].strip() for row in tables[0][2:4]] == ["195", "109"]  # cocitation, companion
