"""Answers for all pages: parts, formats, what happens to an interrupted batch."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest

import cocite
from cocite.errors import BadParameter, BadStore, CociteError
from cocite.operations.pages.batch import PLAN_FILE, Batch, BatchSummary, batch, linked_pages
from cocite.related.methods import method
from cocite.results.ask import Question, ask
from cocite.results.filters import Filters
from cocite.web import Web
from tests.conftest import ROOT
from tests.graph.webs import make, page
from tests.results.conftest import FOUR, PAGES

Row = tuple[str, int, str, float]


def expected(web: Web, call: str, k: int, pages: list[int]) -> list[Row]:
    """Every page asked alone."""
    rows = []
    for each in pages:
        found = ask(web, Question(("",), (each,)), method(call), k, explained=False)
        rows += [(web.graph.address(each), answer.rank, answer.url, answer.score) for answer in found]
    return rows


def rows_of(place: Path) -> list[Row]:
    """What a batch wrote."""
    if place.suffix == ".parquet":
        columns = pq.read_table(place).to_pydict()  # as others read it: the whole folder
        assert list(columns) == ["query", "rank", "url", "score"]
        return list(zip(*columns.values(), strict=True))
    fields = [line.split("\t") for line in place.read_text().splitlines()]
    return [(query, int(rank), url, float(score)) for query, rank, url, score in fields]


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("ending", ["parquet", "tsv"])
@pytest.mark.parametrize("call", ["proximity", "companion(unit=host)"])
def test_every_page(web: Web, place: Path, ending: str, call: str) -> None:
    pages = linked_pages(web.graph).tolist()
    truth = expected(web, call, 3, pages)
    steps: list[tuple[str, int, int | None]] = []
    done = batch(
        web.graph, call, place / f"r.{ending}", k=3, processes=1, part=4, progress=lambda *step: steps.append(step)
    )
    assert rows_of(place / f"r.{ending}") == truth
    assert done == BatchSummary(len(pages), len({row[0] for row in truth}), len(truth), -(-len(pages) // 4), 0)
    assert sum(count for stage, count, _ in steps if stage == "answering pages") == len(pages)
    left = sorted(path.name for path in place.iterdir())
    assert left == [f"r.{ending}"], "no folder of parts, nothing unfinished"
    if ending == "parquet":
        names = sorted(path.name for path in (place / "r.parquet").iterdir())
        assert names == [PLAN_FILE, *(f"part-{n:05d}.parquet" for n in range(done.parts))]


def test_all_pages_at_once(place: Path) -> None:
    """On a web smaller than every limit, whose words all meet, these are the answers to each page alone."""
    texts = ["apple banana cherry", "apple cherry damson", "banana damson apple", "cherry damson banana"]
    make(
        place / "w.cocite",
        [
            page(f"https://p{n}.example/", *(f"https://p{(n * k + 1) % 9}.example/" for k in (1, 2, 3)), text=text)
            for n, text in enumerate(2 * texts)
        ],
    )
    web = Web(place / "w.cocite")
    pages = linked_pages(web.graph).tolist()
    for call in ("integrated", "integrated(mix=0.3, theta=0.4, beside=information)"):
        done = batch(web.graph, call, place / f"{len(call)}.tsv", k=3, together=True, part=4, processes=1)
        found, truth = rows_of(place / f"{len(call)}.tsv"), expected(web, call, 3, pages)
        assert [row[:3] for row in found] == [row[:3] for row in truth]
        assert [row[3] for row in found] == pytest.approx([row[3] for row in truth], abs=1e-6)
        assert (done.pages, done.answers, done.parts) == (len(pages), len(truth), 3)


@pytest.mark.parametrize(
    ("call", "filters", "error"),
    [
        ("cocitation", Filters(), "works with the method integrated, not with cocitation"),
        ("integrated(steps=1)", Filters(), "without rarity and steps"),
        ("integrated(rarity=true)", Filters(), "without rarity and steps"),
        ("integrated", Filters(per_site=1), "works without filters"),
    ],
)
def test_methods_that_cannot_run_on_all_pages_at_once(
    web: Web, place: Path, call: str, filters: Filters, error: str
) -> None:
    with pytest.raises(BadParameter, match=error):
        batch(web.graph, call, place / "r.tsv", filters=filters, together=True)
    assert not list(place.iterdir())


def test_too_many_pages_at_once(web: Web, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocite.results.workers.MAX_ALL_PAIRS_PAGES", 2)
    with pytest.raises(BadParameter, match="up to 2 pages; this store has"):
        batch(web.graph, "integrated", place / "r.tsv", together=True)


def test_two_processes_do_the_same(web: Web, place: Path) -> None:
    for count in (1, 2):
        batch(web.graph, "proximity", place / f"{count}.parquet", processes=count, part=5)
    assert files(place / "1.parquet") == files(place / "2.parquet")


def test_given_pages_once_each_in_their_order(web: Web, place: Path) -> None:
    pages = [web.graph.find(url) for url in ("q.example", "https://many.example/2", "q.example")]
    done = batch(web.graph, "proximity", place / "r.tsv", queries=pages, k=2)
    assert rows_of(place / "r.tsv") == expected(web, "proximity", 2, pages[:2])
    assert done == BatchSummary(2, 2, 4, 1, 0)


def test_filters(web: Web, place: Path) -> None:
    pages = [web.graph.find("q.example")]
    for name, filters in (("a", Filters(per_site=1)), ("b", Filters(lang="de")), ("c", Filters(since="2020-01-01"))):
        batch(web.graph, "proximity", place / f"{name}.tsv", queries=pages, filters=filters)
        alone = ask(web, Question(("",), tuple(pages)), method("proximity"), 10, filters)
        rows = rows_of(place / f"{name}.tsv")
        assert [row[1:] for row in rows] == [(answer.rank, answer.url, answer.score) for answer in alone]
        assert 0 < len(rows) < 7
    batch(web.graph, "proximity", place / "r.parquet", filters=Filters(per_site=1))
    with pytest.raises(BadParameter, match="contains something other than this batch"):
        batch(web.graph, "proximity", place / "r.parquet")


def test_another_stop_list_is_another_batch(web: Web, place: Path) -> None:
    call = f"proximity(stop={FOUR[0]})"
    batch(web.graph, call, place / "r.parquet", processes=2, part=5)
    assert FOUR[0] not in [row[2] for row in rows_of(place / "r.parquet") if row[0] != FOUR[0]]
    assert batch(web.graph, call, place / "r.parquet", part=5).kept > 1
    with pytest.raises(BadParameter, match="contains something other than this batch"):
        batch(web.graph, f"proximity(stop={FOUR[1]})", place / "r.parquet", part=5)


def test_another_version_is_another_batch(web: Web, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch(web.graph, "proximity", place / "r.parquet")
    monkeypatch.setattr("cocite.operations.pages.batch.__version__", "0.0.7")
    with pytest.raises(BadParameter, match="contains something other than this batch"):
        batch(web.graph, "proximity", place / "r.parquet")


def test_from_python(web: Web, place: Path) -> None:
    store = cocite.open(web.graph.path)
    done = store.batch(place / "r.tsv", "proximity", 3, pages=["q.example", FOUR[0]], per_site=1, alpha=2)
    found = [store.related(url, "proximity", k=3, per_site=1, alpha=2) for url in ("q.example", FOUR[0])]
    assert [row[2:] for row in rows_of(place / "r.tsv")] == [(each.url, each.score) for one in found for each in one]
    assert done.pages == 2
    assert store.batch(str(place / "all.parquet")).pages == len(linked_pages(web.graph))
    with pytest.raises(BadParameter, match=r"must end in \.parquet or \.tsv"):
        store.batch(place / "r.csv")
    with pytest.raises(BadParameter, match="processes must be a whole number from 1 to 256, not 0"):
        store.batch(place / "r2.tsv", processes=0)
    with pytest.raises(BadParameter, match="pages must be a list of texts, not"):
        store.batch(place / "r2.tsv", pages=[5])  # type: ignore[list-item]
    with pytest.raises(cocite.UnknownPage):
        store.batch(place / "r2.tsv", pages=["unknown.example"])
    assert not (place / "r2.tsv").exists()


def test_names_are_written_the_same_for_few_and_for_all(place: Path) -> None:
    """A batch of few pages reads single addresses, another all of them."""
    hostile = ["name:two  spaces", "name:tab\there", "name:line\nbreak"]
    make(place / "s", [page("name:list", *hostile), *(page(f"name:{n}", f"name:{n + 1}") for n in range(200))])
    web = Web(place / "s")
    pages = [web.graph.find(hostile[0].removeprefix("name:"))]
    batch(web.graph, "proximity", place / "few.tsv", queries=pages)
    batch(web.graph, "proximity", place / "all.tsv")
    few = (place / "few.tsv").read_text().splitlines()
    assert few == ["two  spaces\t1\ttab here\t1", "two  spaces\t2\tline break\t0.570382"]
    assert set(few) < set((place / "all.tsv").read_text().splitlines())


def test_no_answers_wanted_and_no_pages(web: Web, place: Path) -> None:
    assert batch(web.graph, "proximity", place / "none.tsv", k=0).answers == 0
    assert (place / "none.tsv").read_text() == ""
    make(place / "s", [page("https://only.example/")])
    assert batch(Web(place / "s").graph, "lli", place / "r.parquet") == BatchSummary(0, 0, 0, 1, 0)
    assert rows_of(place / "r.parquet") == []


def test_a_batch_that_is_done_is_not_done_again(web: Web, place: Path) -> None:
    first = batch(web.graph, "proximity", place / "r.parquet", part=4)
    before = {file: file.stat().st_mtime_ns for file in (place / "r.parquet").iterdir()}
    assert batch(web.graph, "proximity", place / "r.parquet", part=4) == first._replace(kept=first.parts)
    assert {file: file.stat().st_mtime_ns for file in (place / "r.parquet").iterdir()} == before
    batch(web.graph, "proximity", place / "r.tsv")
    with pytest.raises(BadParameter, match="already exists: remove it, or choose another place"):
        batch(web.graph, "proximity", place / "r.tsv")


@pytest.mark.parametrize(
    "other",
    [
        {"call": "cocitation"},
        {"call": "proximity(alpha=2)"},
        {"k": 9},
        {"part": 5},
        {"queries": [1, 0]},
        {"queries": [0]},
    ],
)
def test_another_plan_is_refused(web: Web, place: Path, other: dict[str, Any]) -> None:
    plan: dict[str, Any] = {"call": "proximity", "k": 10, "part": 4, "queries": [0, 1]}
    for chosen in (plan, {**plan, **other}, plan):
        call = chosen["call"]
        rest = {name: value for name, value in chosen.items() if name != "call"}
        if chosen is plan:
            batch(web.graph, call, place / "r.parquet", **rest)
        else:
            with pytest.raises(BadParameter, match="contains something other than this batch: remove it, or choose"):
                batch(web.graph, call, place / "r.parquet", **rest)


def test_a_folder_of_something_else_is_refused_and_an_empty_one_taken(web: Web, place: Path) -> None:
    (place / "full.parquet").mkdir()
    (place / "full.parquet" / "mine.txt").write_text("mine")
    (place / "file.parquet").write_text("mine")
    for name in ("full", "file"):
        with pytest.raises(BadParameter, match="contains something other"):
            batch(web.graph, "proximity", place / f"{name}.parquet")
    assert (place / "full.parquet" / "mine.txt").read_text() == (place / "file.parquet").read_text() == "mine"
    (place / "empty.parquet").mkdir()
    (place / "empty.parquet" / f".{PLAN_FILE}.unfinished").write_text("{")  # killed while it wrote its plan
    assert batch(web.graph, "proximity", place / "empty.parquet").answers > 0


def test_a_store_that_changed_meanwhile(place: Path) -> None:
    make(place / "s", PAGES)
    graph = Web(place / "s").graph
    make(place / "other", [page("https://a.example/", "https://b.example/")])
    (place / "s").rename(place / "gone")
    (place / "other").rename(place / "s")
    for count in (1, 2):
        with pytest.raises(BadStore, match="was changed by another command: start the batch again"):
            batch(graph, "proximity", place / f"{count}.parquet", part=4, processes=count)


@pytest.mark.parametrize("k", [-1, 10**9, "x"])
def test_bad_numbers(place: Path, k: Any) -> None:
    with pytest.raises(BadParameter, match="k must be a whole number from 1 to"):
        Batch(output=str(place / "r.parquet"), method="proximity", k=k)
    assert not list(place.iterdir())


# ------------------------------------------------------------------------------------------------------ interruptions

KILLED = """
import json, os, signal, sys, time
from multiprocessing import active_children
from pathlib import Path
from cocite.operations.pages.batch import batch
from cocite.graph.store import Graph
store, output, processes, victim = sys.argv[1:]
finished = 0
def progress(stage, done, total):
    global finished
    finished += stage == "answering pages"
    if finished == 3:  # the beginning, and two parts
        workers = [process.pid for process in active_children()]
        print(json.dumps(workers), flush=True)
        os.kill(workers[0] if victim == "worker" else os.getpid(), signal.SIGKILL)
        time.sleep(1)  # else the other worker may have done all before it is noticed
if __name__ == "__main__":
    batch(Graph(store), "proximity", Path(output), part=1, processes=int(processes), progress=progress)
"""


def run_and_kill(web: Web, output: Path, processes: int, victim: str = "itself") -> tuple[int, list[int], str]:
    """A batch that is killed after two parts; (its code, the processes it had begun, what it complained of)."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, web.graph.path, output, str(processes), victim],
        capture_output=True, text=True, cwd=ROOT, timeout=120,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout.splitlines()[0]), done.stderr


def gone(processes: list[int], seconds: float = 20.0) -> bool:
    """Whether processes end by themselves."""
    end = time.monotonic() + seconds
    while any(psutil.pid_exists(each) and psutil.Process(each).status() != "zombie" for each in processes):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize(("ending", "processes"), [("parquet", 2), ("tsv", 1)])
def test_a_killed_batch_goes_on_where_it_was(web: Web, place: Path, ending: str, processes: int) -> None:
    whole, killed = place / f"whole.{ending}", place / "killed" / f"r.{ending}"
    batch(web.graph, "proximity", whole, part=1, processes=1)
    code, workers, _ = run_and_kill(web, killed, processes)
    assert code == -signal.SIGKILL
    assert len(workers) == (processes if processes > 1 else 0)
    assert gone(workers), "processes are left behind"
    parts = killed if ending == "parquet" else killed.with_name("r.tsv.parts")
    ready = {file: file.stat().st_mtime_ns for file in parts.glob("part-*")}
    assert len(ready) == 2
    assert not killed.exists() or ending == "parquet"
    done = batch(web.graph, "proximity", killed, part=1, processes=1)
    assert (done.kept, done.pages) == (2, len(linked_pages(web.graph)))
    if ending == "parquet":
        assert files(killed) == files(whole)
        assert all(file.stat().st_mtime_ns == when for file, when in ready.items())
    else:
        assert killed.read_bytes() == whole.read_bytes()
    assert done.answers == len(rows_of(whole))
    assert [each.name for each in killed.parent.iterdir()] == [killed.name]


def test_killed_between_its_file_and_the_parts_of_it(web: Web, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is whole and the parts are there: another run drops them, and says what the first would have said."""
    output, parts = place / "r.tsv", place / "r.tsv.parts"
    with monkeypatch.context() as dying:
        dying.setattr("cocite.operations.pages.batch._drop", dies)
        with pytest.raises(KeyboardInterrupt):
            batch(web.graph, "proximity", output, part=4, processes=1)
    whole, names = output.read_bytes(), sorted(file.name for file in parts.iterdir())
    for change in (whole + b"x", whole[:-1], b"x" + whole[1:], b""):  # somebody else's file
        output.write_bytes(change)
        with pytest.raises(BadParameter, match="already exists"):
            batch(web.graph, "proximity", output, part=4, processes=1)
        assert (output.read_bytes(), sorted(file.name for file in parts.iterdir())) == (change, names)
    output.write_bytes(whole)
    with pytest.raises(BadParameter, match="already exists"):
        batch(web.graph, "cocitation", output, part=4, processes=1)
    done = batch(web.graph, "proximity", output, part=4, processes=1)
    assert done.kept == done.parts == len(names) - 1
    assert done.answers == len(rows_of(output))
    assert (output.read_bytes(), [each.name for each in place.iterdir()]) == (whole, ["r.tsv"])


def test_killed_while_the_parts_are_dropped(web: Web, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is there; what is left of its parts is removed by the same command, which has nothing else to do."""
    output = place / "r.tsv"
    with monkeypatch.context() as dying:
        dying.setattr(shutil, "rmtree", lambda folder, **_: dies() if folder in place.glob(".*") else None)
        with pytest.raises(KeyboardInterrupt):
            batch(web.graph, "proximity", output, part=4, processes=1)
    whole = output.read_bytes()
    assert len(list(place.iterdir())) == 2
    with pytest.raises(BadParameter, match="already exists"):
        batch(web.graph, "proximity", output, part=4, processes=1)
    assert (output.read_bytes(), [each.name for each in place.iterdir()]) == (whole, ["r.tsv"])


def dies(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_worker_that_is_killed(web: Web, place: Path) -> None:
    code, workers, complaint = run_and_kill(web, place / "r.parquet", 2, "worker")
    assert code == 1
    assert f"{CociteError.__name__}: A batch process was killed, perhaps because memory ran out" in complaint
    assert gone(workers)
    batch(web.graph, "proximity", place / "r.parquet", part=1, processes=1)
    assert rows_of(place / "r.parquet") == expected(web, "proximity", 10, linked_pages(web.graph).tolist())
