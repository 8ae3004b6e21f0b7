"""Seeds, kept cases and some random changes of them, by every target that is fuzzed."""

from __future__ import annotations

import json
import os
import random
import signal
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.clicks import Clicks
from cocite.graph.texts import PageTexts
from cocite.sources.declared import declared_kinds
from cocite.words.keywords import KeywordIndex
from cocite.words.search import SearchIndex
from cocite.words.vectors import Vectors
from tests.faults.dying import finished, fork
from tests.fuzz import growth, kernels, requests, store, targets
from tests.fuzz.run import CASES, LARGE_BYTES, MAX_BYTES, Watch, changed, fuzz_fast, keep_tried
from tests.fuzz.seeds import FILES, SEEDS
from tests.fuzz.targets import TARGETS
from tests.graph.webs import examples

READS_FILES = {*FILES, "bvgraph", "vault"}
FUZZED_APART = {"html", "webgraph", "crawl", "sql"}
"""Kinds of sources with targets of their own; the crawler, which reads HTML; SQL, which the user writes."""


def cases() -> list[tuple[str, bytes]]:
    """Every seed, and every case that once failed."""
    seeds = [(name, seed) for name, each in SEEDS.items() for seed in each]
    return seeds + [(file.parent.name, file.read_bytes()) for file in sorted(CASES.glob("*/*"))]


def test_every_kind_of_source_is_fuzzed() -> None:
    missing = set(declared_kinds()) - {file.kind for file in FILES.values()} - FUZZED_APART
    assert not missing, "add an example to FILES in tests/fuzz/seeds.py"
    assert set(SEEDS) == set(TARGETS)


def test_kept_cases_are_tried_by_the_target_of_their_folder() -> None:
    kept = {(file.parent.name, file.read_bytes()) for file in CASES.rglob("*") if file.is_file()}
    assert kept
    assert kept <= set(cases())
    assert {name for name, _ in kept} <= set(TARGETS)


@pytest.mark.parametrize(("name", "data"), cases(), ids=lambda part: part if isinstance(part, str) else str(len(part)))
def test_known_cases(name: str, data: bytes) -> None:
    TARGETS[name](data)


@pytest.mark.parametrize("name", sorted(READS_FILES))
def test_the_first_seed_of_every_reader_has_links(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what reads links would hardly be reached."""
    counts: list[int] = []
    consume = targets.consume
    monkeypatch.setattr(targets, "consume", lambda *given: counts.append(consume(*given)))
    TARGETS[name](SEEDS[name][0])
    assert counts[0] > 0


CHANGE = bytes([9, 1, 0, 0, 0, 40, 3, 0, 0, 255])


def test_a_check_that_misses_damage_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    TARGETS["store"](CHANGE)
    monkeypatch.setattr(store, "check", lambda path: [])
    with pytest.raises(AssertionError, match="check, with"):
        TARGETS["store"](CHANGE)


def test_a_check_that_finds_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    TARGETS["store"](b"")
    monkeypatch.setattr(store, "check", lambda path: ["something"])
    with pytest.raises(AssertionError, match="check, with"):
        TARGETS["store"](b"")


READERS: dict[type, str] = {
    PageTexts: "title", Clicks: "before", Vectors: "of", KeywordIndex: "ordered", SearchIndex: "search",
}  # fmt: skip


@pytest.mark.parametrize("owner", READERS, ids=lambda owner: owner.__name__)
def test_a_reader_that_fails_is_noticed(owner: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("a fault of the reader")

    monkeypatch.setattr(owner, READERS[owner], fails)
    with pytest.raises(AssertionError, match="a fault of the reader"):
        TARGETS["store"](b"")


def test_other_blanks_in_a_description_are_not_damage() -> None:
    _, files, original = store.whole()
    number = next(number for number, file in enumerate(files) if file.name == "clicks.json")
    at = original[files[number]].index(b" ")
    TARGETS["store"](bytes([number, at, 0, 0, ord("\t")]))


def test_every_file_of_a_store_is_damaged_and_restored() -> None:
    """Each is found by its own name."""
    path, files, original = store.whole()
    kinds = {
        "g000001-000001.layer",
        "CURRENT",
        "manifest.json",
        "title.data.bin",
        "values.bin",
        "page.bin",
        "ids.bin",
        "meta.json",
        "search.json",
    }
    assert kinds <= {file.name for file in files}
    assert len(files) < 256, "one byte chooses the file"
    layers = [number for number, file in enumerate(files) if file.suffix == ".layer"]
    for number in sorted({*range(0, len(files), 9), *layers}):
        at = len(original[files[number]]) // 2
        other = original[files[number]][at] ^ 1
        TARGETS["store"](bytes([number, at & 255, at >> 8 & 255, at >> 16, other]))
    assert {file: file.read_bytes() for file in files} == original
    assert store.is_found(path) is False


@pytest.mark.parametrize("name", sorted(set(TARGETS) - {"store", "captures", "kernels", "layers"}))
@given(cut=st.integers(0, 200), put=st.binary(max_size=12), at=st.integers(0, 200))
@examples(8)
def test_changed_seeds(name: str, cut: int, put: bytes, at: int) -> None:
    """A seed that is cut short or has bytes put in."""
    seed = SEEDS[name][0]
    TARGETS[name](seed[:at] + put + seed[at:])
    TARGETS[name](seed[:cut])


@pytest.mark.parametrize("name", ["html", "markdown", "mediawiki", "opml", "records", "url", "warc"])
def test_cost_is_in_proportion(name: str) -> None:
    """A few inputs of `python -m tests.fuzz.growth`."""
    TARGETS[name](SEEDS[name][0])
    for data in islice(growth.inputs(name, random.Random(3)), 2):
        assert growth.excess(name, data[: 1 << 14]) == ""


def test_quadratic_time_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "cost", lambda name, data: (len(data) ** 2 * 1e-8, 0))
    assert growth.excess("html", b"a" * 1000) == ""
    assert "s for 50,000 bytes" in growth.excess("html", b"a" * 50_000)
    monkeypatch.setattr(growth, "cost", lambda name, data: (0.0, 5 << 30))
    assert "5120 MiB" in growth.excess("html", b"a")


def test_every_route_has_a_seed() -> None:
    from cocite.http.page.state import PATHS
    from cocite.http.questions import routes

    asked = {line.split(b" ")[1].partition(b"?")[0].decode() for seed in SEEDS["request"] for line in [seed[:200]]}
    assert {*routes(), *PATHS.values()} <= asked, "add an example to tests/fuzz/seeds.py"


def test_an_internal_error_of_the_server_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = b"GET /api/methods?x=%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert requests.server().send(b"GET /api/methods HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2) == [200, 200]
    assert requests.server().send(b"GET /api/methods HTTP/1.1\r\nHost: evil.example\r\n\r\n")[0] in (400, 403, 421)
    assert requests.server().send(b"POST /api/related HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{") == []

    def fail(*_: object) -> None:
        raise RuntimeError("a fault of the server")

    monkeypatch.setattr("cocite.http.front.OperationQuestion.read", fail)
    with pytest.raises(AssertionError, match="a fault of the server"):
        TARGETS["request"](ask % 1)


def test_inputs_are_counted_until_the_time_is_over(place: Path) -> None:
    def run() -> None:
        watch = Watch("url", place / "url.json", 0.3)
        while True:
            watch(b"https://a.example/")

    assert finished(fork(run)) == 0
    counts = json.loads((place / "url.json").read_text())
    assert counts["target"] == "url"
    assert counts["inputs"] > 10
    assert counts["bytes"] == 18 * counts["inputs"]


def test_damaged_arrays_are_computed_with(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of a kernel")

    for name, make in (("kernels", "small"), ("layers", "with_layers")):
        graph, _ = getattr(kernels, make)()
        assert bool(graph.arrays.layers) == (name == "layers")
        monkeypatch.setattr(kernels, make, lambda graph=graph: (graph, [fail]))
        with pytest.raises(RuntimeError, match="a fault of a kernel"):
            TARGETS[name](b"a")


def test_captures_are_damaged_and_read(monkeypatch: pytest.MonkeyPatch) -> None:
    path, files, _ = store.whole(history=True)
    assert "history.edit.bin" in {file.name for file in files} and len(files) < 256

    def fails(*_: object) -> None:
        raise RuntimeError("a fault of the reader")

    number = next(number for number, file in enumerate(files) if file.name == "history.edit.bin")
    TARGETS["captures"](bytes([number, 3, 0, 0, 77]))
    monkeypatch.setattr(store, "read_history", fails)
    with pytest.raises(AssertionError, match="a fault of the reader"):
        TARGETS["captures"](bytes([number, 3, 0, 0, 77]))
    monkeypatch.undo()
    assert store.is_found(path) is False


def test_fast_runs_go_on_after_a_failure_and_keep_what_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def target(data: bytes) -> None:
        if b"<" not in data:
            raise KeyError("no mark")

    monkeypatch.setitem(TARGETS, "html", target)
    assert finished(fork(lambda: fuzz_fast("html", 1.0, tmp_path))) == 0
    (count,) = (tmp_path / "counts").glob("*.json")
    assert json.loads(count.read_text())["inputs"] > 100
    (failed,) = tmp_path.glob("html-crash-*")  # all of them fail at one place
    assert b"<" not in failed.read_bytes()


def test_a_fast_run_leaves_the_input_that_ends_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def target(data: bytes) -> None:
        if b"<" not in data:
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setitem(TARGETS, "html", target)
    assert finished(fork(lambda: fuzz_fast("html", 20.0, tmp_path))) == -signal.SIGKILL
    keep_tried("html", tmp_path)
    (failed,) = tmp_path.glob("html-crash-*")
    assert b"<" not in failed.read_bytes() and len(failed.read_bytes()) <= LARGE_BYTES


@given(st.binary(max_size=200), st.integers())
def test_changed_inputs_are_bytes_of_limited_length(data: bytes, seed: int) -> None:
    dice = random.Random(seed)
    assert len(changed(data, [data, b"other"], dice)) <= MAX_BYTES
