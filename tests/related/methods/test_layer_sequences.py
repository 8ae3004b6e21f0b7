"""Any sequence of changes on disk gives the answers of a store that is built at once from what is left."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from cocite.errors import BadStore
from cocite.graph.build import merge_layers
from cocite.graph.build.maintain import compact, remove
from cocite.graph.check import check
from cocite.graph.clicks import open_clicks
from cocite.graph.store import Graph
from cocite.sources.clicks import Trail
from cocite.sources.records import Page, ReadReport
from tests.conftest import RUN_LONG
from tests.graph.trails import add_clicks
from tests.graph.webs import extend, long_lists, make
from tests.related.methods.test_layers import LINK_METHODS, LISTS, PAGES, answers, record

STEPS = ("add", "add", "capture", "old capture", "remove", "click", "click", "compact", "reopen")
Captures = dict[str, tuple[int, Page]]  # by address: year, page


class Changes:
    """A store that is changed step by step, and what a store built at once would be made of."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.draw = path, random.Random(seed)
        self.captures: Captures = {}
        self.gone: set[str] = set()
        self.clicks = Counter[tuple[str, str]]()
        self.year = 2000
        make(path, self._captured(self.draw.sample([*PAGES, *LISTS], 9)))
        self.opened = Graph(path)

    def _captured(self, urls: list[str], years: int = 1) -> list[Page]:
        """New captures; some pages come twice, and then the later capture counts."""
        found = []
        for url in [*urls, *urls[:1]]:
            self.year += years
            page = replace(record(self.draw, url), captured=f"{self.year}-01-01")
            if self.year >= self.captures.get(url, (0, page))[0]:
                self.captures[url] = self.year, page
            found.append(page)
        self.draw.shuffle(found)
        return found

    def take(self, step: str) -> None:
        """Change the store."""
        known = [self.opened.address(int(page)) for page in self.opened.names.in_order()]
        if step == "add":
            extend(self.path, self._captured(self.draw.sample([*PAGES, *LISTS], 3)))
        elif step == "capture":
            extend(self.path, self._captured(self.draw.sample(sorted(self.captures), 2)))
        elif step == "old capture":  # of a clock that goes backwards
            year, self.year = self.year, 1990
            extend(self.path, self._captured(self.draw.sample(sorted(self.captures), 1), 0))
            self.year = year
        elif step == "remove" and len(known) > 12:
            urls = [url for url in self.draw.sample(known, 2) if Graph(self.path).get(url) is not None]
            remove(urls, self.path)
            self.gone |= set(urls)
        elif step == "click":
            source, target = self.draw.sample(known, 2)
            times = self.draw.randrange(1, 9)
            if add_clicks(Graph(self.path), [Trail([source, target], [(0, 1)], times)], ReadReport()).trails:
                self.clicks[source, target] += times
        elif step == "compact":
            compact(self.path)
        self.opened = Graph(self.path)
        for pair in [pair for pair in self.clicks if None in map(self.opened.get, pair)]:
            del self.clicks[pair]  # clicks go with their pages

    def at_once(self, path: Path) -> Graph:
        """The store that is built from what is left."""
        left = [page for url, (_, page) in self.captures.items() if url not in self.gone]
        make(path, [replace(page, links=[link for link in page.links if link.url not in self.gone]) for page in left])
        trails = [Trail(list(pair), [(0, 1)], times) for pair, times in self.clicks.items()]
        add_clicks(Graph(path), trails, ReadReport())
        return Graph(path)


@pytest.mark.parametrize("seed", range(40 if RUN_LONG else 2))
def test_any_sequence_answers_as_a_store_built_at_once(fast_root: Path, seed: int) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder, long_lists():
        changes = Changes(Path(folder) / "layers", seed)
        for step in changes.draw.choices(STEPS, k=9):
            changes.take(step)
        assert_as_at_once(changes, Path(folder) / "whole", seed)


@pytest.mark.parametrize("seed", range(60) if RUN_LONG else (*range(4), 51))
def test_what_is_committed_beside_a_compaction_is_carried_over(fast_root: Path, seed: int) -> None:
    """Also what is merged meanwhile with layers from before, comes back after it was removed, or goes."""
    with tempfile.TemporaryDirectory(dir=fast_root) as folder, long_lists(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge_layers, "MAX_LAYERS", seed % 3 + 1)
        changes = Changes(Path(folder) / "layers", seed)
        for step in changes.draw.choices(STEPS, k=4):
            changes.take(step)

        def beside(_: Path) -> None:
            for step in changes.draw.choices([step for step in STEPS if step != "compact"], k=seed % 4 + 1):
                changes.take(step)

        compact(changes.path, prepare=beside)
        changes.opened = Graph(changes.path)
        assert changes.opened.manifest.get("layers", 0) <= 1
        assert not list(changes.path.glob("compact-*"))
        for step in changes.draw.choices(STEPS, k=2):
            changes.take(step)
        assert_as_at_once(changes, Path(folder) / "whole", seed)


def assert_as_at_once(changes: Changes, path: Path, seed: int) -> None:
    """Compare a store with one that is built at once."""
    whole, layered = changes.at_once(path), changes.opened
    assert [layered.canonical(int(page)) for page in layered.names.in_order()] == [
        whole.canonical(page) for page in range(whole.pages)
    ]
    assert open_clicks(layered).total == open_clicks(whole).total
    assert len(open_clicks(layered)) == len(open_clicks(whole))
    assert check(changes.path) == []
    for name in LINK_METHODS:
        for page in range(seed % 7, whole.pages, 7):
            url = whole.address(page)
            assert answers(layered, name, url, False) == answers(whole, name, url, False), (name, url)


def test_compaction_that_is_interrupted_a_hundred_times(fast_root: Path) -> None:
    """Each time a bit later; the store answers as before, and in the end it is compacted."""
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        changes = Changes(Path(folder) / "layers", 1)
        for step in ("add", "capture", "click", "add"):
            changes.take(step)
        before, calls = changes.opened, 0
        url = before.address(int(before.names.in_order()[0]))
        expected = answers(before, "cocitation", url, True)

        def interrupting(limit: int, *_: object) -> None:
            nonlocal calls
            calls += 1
            if calls > limit:
                raise KeyboardInterrupt

        for limit in range(100):
            calls = 0
            with pytest.raises(KeyboardInterrupt):
                compact(changes.path, progress=partial(interrupting, limit))
            assert Graph(changes.path).manifest["id"] == before.manifest["id"]
            assert not list(changes.path.glob("work-*"))
        assert answers(Graph(changes.path), "cocitation", url, True) == expected
        compact(changes.path)
        assert Graph(changes.path).manifest.get("layers", 0) == 0
        assert answers(Graph(changes.path), "cocitation", url, True) == expected
        assert answers(before, "cocitation", url, True) == expected, "who has it open goes on"


def test_a_store_that_cannot_be_written_says_so(fast_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        changes = Changes(Path(folder) / "layers", 2)

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("cocite.graph.generation.write_synced", full)
        monkeypatch.setattr("cocite.graph.build.maintain.generation.publish_layer", full)
        with pytest.raises(BadStore, match=r"the disk of .* is full: free some space"):
            extend(changes.path, [record(changes.draw, "https://new.example/")])
        assert Graph(changes.path).manifest["id"] == changes.opened.manifest["id"]
