"""The clicks of a store: what is counted, and that they outlive changes of it."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadStore, LockedStore
from cocite.graph import clicks as clicks_module
from cocite.graph.build.maintain import compact, remove
from cocite.graph.check import check
from cocite.graph.clicks import Clicks, add_files, open_clicks
from cocite.graph.side import write_side
from cocite.graph.store import Graph
from cocite.sources.clicks import Trail
from cocite.sources.records import Page, ReadReport
from cocite.web import Web
from tests.forged import forged
from tests.graph.trails import add_clicks
from tests.graph.webs import examples, extend, make, page

NAMES = [f"https://{letter}.example/" for letter in "abcdef"]
A, B, C, D, E, F = NAMES
OLD_PAIRS = {"from": [A, A], "to": [B, C]}


def session(*pages: str) -> Trail:
    return Trail(list(pages), [(n, n + 1) for n in range(len(pages) - 1)])


def click(source: str, target: str, times: float) -> Trail:
    return Trail([source, target], [(0, 1)], times)


@pytest.fixture
def store(place: Path) -> Path:
    make(place / "web.cocite", [page(A, B, C, D), page(E, F)])
    return place / "web.cocite"


def after(clicks: Clicks, graph: Graph, url: str) -> dict[str, tuple[float, float]]:
    found = clicks.after(graph.find(url))
    return {graph.address(int(p)): (s, t) for p, s, t in zip(found.pages, found.steps, found.later, strict=True)}


def before(clicks: Clicks, graph: Graph, url: str) -> dict[str, tuple[float, float]]:
    found = clicks.before(graph.find(url))
    return {graph.address(int(p)): (s, t) for p, s, t in zip(found.pages, found.steps, found.later, strict=True)}


def test_steps_and_sessions_are_counted(store: Path) -> None:
    graph, report = Graph(store), ReadReport()
    trails = [
        click(A, B, 3),
        click("http://www.a.example", "b.example", 2.5),
        session(A, B, C),
        session(C, A),
    ]
    kept = add_clicks(graph, trails, report)
    clicks = open_clicks(graph)
    # 3 + 2.5 + 1 from a to b; c was seen after a in the session a, b, c, but not directly
    assert after(clicks, graph, A) == {B: (6.5, 0), C: (0, 1)}
    assert before(clicks, graph, C) == {A: (0, 1), B: (1, 0)}
    assert before(clicks, graph, A) == {C: (1, 0)}
    assert after(clicks, graph, F) == before(clicks, graph, F) == {}
    assert kept == (4, 8.5, 4, {})
    assert (len(clicks), clicks.total) == (4, 8.5)
    assert not report.skipped


def test_clicks_on_unknown_pages_are_counted(store: Path) -> None:
    graph, report = Graph(store), ReadReport()
    unknown = [
        session(A, "https://unknown.example/", B),
        click("http://", A, 1),
        click("mailto:x@a.example", A, 1),
        click(A, A, 9),
    ]
    assert add_clicks(graph, unknown, report).trails == 1  # a and b were seen in one session all the same
    assert after(open_clicks(graph), graph, A) == {B: (0, 1)}
    assert report.skipped["page that is not in the store"] == 1
    assert sum(report.skipped.values()) == 3
    assert report.read["clicks from a page to itself"] == 1


def test_input_without_usable_clicks_changes_nothing(store: Path) -> None:
    graph = Graph(store)
    skipped = {"page that is not in the store": 2}
    assert add_clicks(graph, [click("x.example", "y.example", 1), click(A, A, 1)], ReadReport()) == (
        0,
        0,
        0,
        skipped,
    )
    assert len(open_clicks(graph)) == 0
    assert not (store / "side").exists()
    add_clicks(graph, [click(A, B, 1)], ReadReport())
    add_clicks(graph, [], ReadReport(), anew=True)
    assert after(open_clicks(graph), graph, A) == {B: (1, 0)}


def test_added_or_anew(store: Path) -> None:
    graph = Graph(store)
    for _ in range(2):
        add_clicks(graph, [click(A, B, 1), session(A, B, C)], ReadReport())
    assert after(open_clicks(graph), graph, A) == {B: (4, 0), C: (0, 2)}
    add_clicks(graph, [click(A, D, 1)], ReadReport(), anew=True)
    assert after(open_clicks(graph), graph, A) == {D: (1, 0)}


def test_they_outlive_changes_of_the_store(store: Path) -> None:
    add_clicks(Graph(store), [click(A, B, 1), click(B, C, 2), click(E, F, 4)], ReadReport())
    opened = Web(store)
    for change in (
        lambda: extend(store, [page(f"https://{n}.aa.example/", A) for n in range(9)]),
        lambda: compact(store),
    ):
        change()
        graph = Graph(store)
        assert after(open_clicks(graph), graph, E) == {F: (4, 0)}
        assert after(opened.clicks, opened.graph, E) == {F: (4, 0)}  # who has the old one open reads it by its numbers
    assert graph.find(F) != opened.graph.find(F), "it has other numbers now"
    remove([B], store)
    graph = Graph(store)
    clicks = open_clicks(graph)
    assert (len(clicks), clicks.total) == (1, 4)
    add_clicks(graph, [click(A, C, 1)], ReadReport())
    assert after(open_clicks(graph), graph, A) == {C: (1, 0)}
    extend(store, [Page(F, redirect=D)])  # what leads elsewhere by now counts there
    graph = Graph(store)
    assert after(open_clicks(graph), graph, E) == {D: (4, 0)}
    make(store, [page(A, C)])  # made anew from other sources
    graph = Graph(store)
    assert after(open_clicks(graph), graph, A) == {C: (1, 0)}
    assert len(open_clicks(graph)) == 1


def test_clicks_of_version_1_are_found_by_fingerprint(store: Path) -> None:
    graph = Graph(store)
    pages = {url: graph.find(url) for url in (A, B, C)}
    extend(store, [page(forged(C), A)])
    graph = Graph(store)
    ends = np.array([[pages[A], pages[B]], [pages[A], pages[C]]], np.uint32).T
    prints = {name: graph.fingerprints[[graph.find(url) for url in urls]] for name, urls in OLD_PAIRS.items()}
    counts = {"steps": np.array([3.0, 4.0]), "later": np.zeros(2), "back": np.arange(2, dtype=np.uint32)}
    arrays = {"page": ends[0], "other": ends[1], **prints, **counts}
    write_side(graph, "clicks", lambda _: ({"version": 1, "pairs": 2, "clicks": 7.0}, arrays))
    extend(store, [page(D, A)])
    graph = Graph(store)
    assert after(open_clicks(graph), graph, A) == {B: (3, 0)}, "two pages have the fingerprint of the other: dropped"


def test_damage_is_reported(store: Path) -> None:
    graph = Graph(store)
    add_clicks(graph, [session(A, B, C)], ReadReport())
    folder = next((store / "side").glob("clicks-*"))
    for name, bad in (("other", np.uint32(99)), ("steps", np.float64(np.nan)), ("back", np.uint32(7))):
        content = (folder / f"{name}.bin").read_bytes()
        (folder / f"{name}.bin").write_bytes(bad.tobytes() + content[bad.nbytes :])
        with pytest.raises(BadStore, match="count them again with cocite clicks FILE"):
            [(clicks := open_clicks(graph)).after(graph.find(A)), clicks.before(graph.find(B))]
        (folder / f"{name}.bin").write_bytes(content)
    (folder / "page.bin").write_bytes(b"")
    with pytest.raises(BadStore):
        open_clicks(graph)
    extend(store, [page(D, A)])  # which does not fail for it
    (store / "side" / "clicks.json").write_text("{}")
    with pytest.raises(BadStore, match="is damaged: make it again with cocite clicks"):
        open_clicks(graph)
    add_clicks(Graph(store), [click(A, B, 1)], ReadReport(), anew=True)
    assert len(open_clicks(Graph(store))) == 1


def test_leftovers_of_a_killed_command_are_removed_by_the_next(store: Path) -> None:
    """It had put the new ones in place, and not yet removed the old ones; the same pages are added again."""
    add_clicks(Graph(store), [click(A, B, 3)], ReadReport())
    extend(store, [page(D, A)])
    (kept,) = (store / "side").glob("clicks-*")
    shutil.copytree(kept, store / "side" / "clicks-00000000")
    extend(store, [page(D, A)])
    assert list((store / "side").glob("clicks-*")) == [kept]
    graph = Graph(store)
    assert after(open_clicks(graph), graph, A) == {B: (3, 0)}


def test_damage_is_not_hidden_by_a_change(store: Path) -> None:
    add_clicks(Graph(store), [click(A, B, 3)], ReadReport())
    file = next((store / "side").glob("clicks-*")) / "steps.bin"
    file.write_bytes(np.array([6.0]).tobytes())
    with pytest.raises(BadStore, match="count them again"):
        add_clicks(Graph(store), [click(A, B, 1)], ReadReport())
    extend(store, [page(D, A)])
    assert [fault.where for fault in check(store)] == ["side/clicks"]
    with pytest.raises(BadStore, match="count them again"):
        open_clicks(Graph(store))


def test_clicks_that_come_later_cost_what_they_bring(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocite.graph.build.merge_layers.MAX_LAYERS", 3)
    graph, truth = Graph(store), Counter[tuple[str, str]]()
    for turn in range(12):
        source, target = NAMES[turn % 4], NAMES[(turn * turn + 1) % 6]
        if source == target:
            continue
        truth[source, target] += turn
        there = {file.name: file.stat().st_ino for file in (store / "side").glob("clicks-*/page.bin")}
        kept = add_clicks(Graph(store), [click(source, target, turn)], ReadReport())
        now = {file.name: file.stat().st_ino for file in (store / "side").glob("clicks-*/page.bin")}
        assert there in ({}, now), "stored clicks are not written again"
        assert (kept.pairs, kept.clicks) == (len(truth), sum(truth.values()))
        assert len(list((store / "side").glob("clicks-*/*.npz"))) <= 4
    for turn, change in enumerate((lambda: None, lambda: extend(store, [page(D, A)]), lambda: compact(store))):
        change()
        graph = Graph(store)
        clicks = open_clicks(graph)
        for url in NAMES:
            found = {target: times for (source, target), times in truth.items() if source == url}
            assert {each: steps for each, (steps, _) in after(clicks, graph, url).items()} == found, turn
            came = {source: times for (source, target), times in truth.items() if target == url}
            assert {each: steps for each, (steps, _) in before(clicks, graph, url).items()} == came, turn
        assert check(store) == []
    assert len(list((store / "side").glob("clicks-*/*.npz"))) == 0, "compaction folds them"


def test_a_file_counts_once(store: Path) -> None:
    one, other = bytes(16), bytes(range(16))
    for digests, total in (([one], 1), ([one], 1), ([one, other], 2), ([other, other], 2), ([b"", b""], 4)):
        report = ReadReport()
        kept = add_files(Graph(store), [(digest, [click(A, B, 1)]) for digest in digests], report)
        assert (kept.clicks, open_clicks(Graph(store)).total) == (total, total)
    for change in (lambda: extend(store, [page(D, A)]), lambda: compact(store), lambda: remove([C], store)):
        change()
        assert add_files(Graph(store), [(one, [click(A, B, 1)])], ReadReport()).trails == 0
    assert add_files(Graph(store), [(one, [click(A, B, 9)])], ReadReport(), anew=True).clicks == 9


def test_a_store_that_changes_while_clicks_are_read(store: Path) -> None:
    """Layers leave page numbers; after a compaction, or if a page of a click is gone, they aren't counted."""
    before = Graph(store)
    extend(store, [page(D, A)])
    assert add_files(before, [(b"", [click(A, B, 2)])], ReadReport()).clicks == 2
    [description] = (store / "side").glob("clicks.json")
    assert Graph(store).manifest["id"] in description.read_text(), "they belong to the state of now"
    before = Graph(store)
    remove([C], store)
    with pytest.raises(LockedStore, match="run this one again"):
        add_files(before, [(b"", [click(A, C, 1)])], ReadReport())
    assert add_files(before, [(b"", [click(A, B, 1)])], ReadReport()).clicks == 3
    before = Graph(store)
    compact(store)
    with pytest.raises(LockedStore, match="run this one again"):
        add_files(before, [(b"", [click(A, B, 1)])], ReadReport())
    assert open_clicks(Graph(store)).total == 3


def test_damage_of_later_clicks_is_reported(store: Path) -> None:
    for _ in range(2):
        add_clicks(Graph(store), [click(A, B, 3)], ReadReport())
    [file] = (store / "side").glob("clicks-*/*.npz")
    raw = file.read_bytes()
    for wrong in (raw[:-1], raw[:80] + bytes([raw[80] ^ 1]) + raw[81:]):
        file.write_bytes(wrong)
        with pytest.raises(BadStore, match="damaged: count the clicks again"):
            open_clicks(Graph(store))
        assert [fault.where for fault in check(store)] == ["side/clicks"]


@pytest.fixture(scope="module")
def same(fast_root: Path) -> Graph:
    """One store for all examples, of which each counts anew."""
    path = Path(tempfile.mkdtemp(dir=fast_root)) / "web.cocite"
    make(path, [page(A, B, C, D), page(E, F)])
    return Graph(path)


@examples(50)
@given(
    st.lists(
        st.lists(st.sampled_from([*NAMES, "https://unknown.example/"]), max_size=15).map(lambda p: session(*p)),
        max_size=12,
    ),
    st.integers(0, 12),
    st.sampled_from([2, 7, 1 << 20]),
)
def test_the_slow_truth(same: Graph, trails: list[Trail], cut: int, most: int) -> None:
    """Counted in two goes, a few rows at a time, as in one by a dictionary."""
    steps, later = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for trail in trails:
        pages = [url if url in NAMES else None for url in trail.pages]
        pairs = set(pairwise(pages))
        for i, one in enumerate(pages):
            for j, other in enumerate(pages):
                if one is None or other is None or one == other or not i < j <= i + 10:
                    continue
                if j == i + 1:
                    steps[one, other] += 1
                elif (one, other) not in pairs:
                    later[one, other] += 1
    shutil.rmtree(same.path / "side", ignore_errors=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clicks_module, "MAX_GATHERED_PAIRS", most)
        for part in (trails[:cut], trails[cut:]):
            add_clicks(same, part, ReadReport())
    clicks = open_clicks(same)
    for url in NAMES:
        expected = {o: (steps[url, o], later[url, o]) for o in NAMES if (url, o) in steps or (url, o) in later}
        assert after(clicks, same, url) == expected
        expected = {o: (steps[o, url], later[o, url]) for o in NAMES if (o, url) in steps or (o, url) in later}
        assert before(clicks, same, url) == expected
