"""cocite build, add, remove: what they read, say and refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cocite.cli.terminal import Screen
from cocite.cli.views.store import show_built
from cocite.errors import BadParameter
from cocite.graph.build.passes import Built
from cocite.graph.store import Graph
from cocite.operations.store.build import Build, BuildResult
from cocite.operations.task import parse_size
from cocite.sources.records import Link, Page, ReadReport
from tests.cli.conftest import run

A, B, C = (f"https://{name}.example/" for name in "abc")


def records(path: Path, *pages: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(page) + "\n" for page in pages))
    return path


@pytest.fixture
def source(place: Path) -> Path:
    bad = {"url": "mailto:ann@example.com"}
    return records(place / "pages.jsonl", {"url": A, "links": [B, B, "javascript:x"]}, {"url": C, "links": [A]}, bad)


def test_build_reports_pages_and_links(source: Path, place: Path) -> None:
    ran = run("build", source, "-o", place / "web.cocite")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == f"Built {place}/web.cocite"
    assert lines[1] == "  pages\t3\ton 3 sites"
    assert lines[2] == "  links\t2\tof 4; dropped 1 repeated on their page, 1 with unusable addresses"
    assert not any("links/s" in line or "per link" in line for line in lines), "of two links they say nothing"
    assert lines[5] == "  skipped (--strict stops at the first)"
    assert any("such as" in line and "mailto:ann@example.com" in line for line in lines)
    assert "reading: 4 links" in ran.err


def test_links_that_are_not_kept_are_counted_by_cause(place: Path) -> None:
    pages = [
        {"url": A, "links": [B, B, B, A], "captured": "2021-01-01"},  # two repeated, one of the page to itself
        {"url": A, "links": [B, C, "mailto:x"], "captured": "2020-01-01"},  # two replaced, one unusable
        {"url": C, "links": [A, "https://www.c.example/"]},  # one to itself, in another spelling
    ]
    ran = run("build", records(place / "a.jsonl", *pages), "-o", place / "web.cocite", "-q", "--json")
    found = json.loads(ran.out)
    assert found["left_out"] == {"repeated": 2, "to_itself": 2, "replaced": 2, "unusable": 1}
    assert (found["links_read"], found["links"]) == (9, 2)
    ran = run("remove", C, "-i", place / "web.cocite", "-q", "--json")
    assert json.loads(ran.out)["left_out"] == {"repeated": 0, "to_itself": 0, "replaced": 1, "unusable": 0}


def test_links_that_the_store_has_again_are_not_repeated_by_an_add(place: Path) -> None:
    """b in two blocks is one link, and one that is kept beside it: an add of another page repeats nothing."""
    again = {"url": A, "links": [{"url": B, "block": 0}, {"url": B, "block": 1}, {"url": B, "block": 1}]}
    ran = run("build", records(place / "a.jsonl", again), "-o", place / "web.cocite", "-q", "--json")
    assert (json.loads(ran.out)["links_read"], json.loads(ran.out)["left_out"]["repeated"]) == (3, 2)
    more = records(place / "b.jsonl", {"url": C, "links": [A]})
    found = json.loads(run("add", more, "-i", place / "web.cocite", "-q", "--json").out)
    assert (found["links_read"], found["links"], found["left_out"]["repeated"]) == (2, 2, 0)


def test_a_rate_is_shown_where_it_means_something(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("build", records(place / "a.jsonl", {"url": A, "links": [B]}), "-o", place / "web.cocite", "-q")
    left_out = {"repeated": 0, "to_itself": 0, "replaced": 0, "unusable": 0}
    built = Built(place / "web.cocite", 2, 40_000, 240_000, 3.0, ReadReport(), 40_000, left_out, {})
    show_built(
        Screen(),
        Build(sources=("a",)),
        BuildResult(built, None, "", {"reading and sorting": 2.0, "compiling, once": 1.0, "starting": 0.01}),
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[3:5] == ["  time\t3.0 s\t2.0 s reading and sorting + 1.0 s compiling, once", "  speed\t20,000 links/s"]
    assert lines[5] == "  size\t240 kB\t6.0 bytes per link, including texts"


def test_build_as_json(source: Path, place: Path) -> None:
    ran = run("build", source, "-o", place / "web.cocite", "--json", "--quiet")
    found = json.loads(ran.out)
    assert ran.err == ""
    assert (found["pages"], found["links"], found["sites"], found["generation"]) == (3, 2, 3, 1)
    assert found["store"] == str(place / "web.cocite")
    assert found["bytes_per_link"] == pytest.approx(found["bytes"] / 2)
    assert sum(entry["count"] for entry in found["skipped"]) == 2
    assert {"read", "number", "resolve", "sort"} <= found["passes"].keys()


def test_the_default_store_is_in_the_current_folder(source: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    assert run("build", source, "-q").code == 0
    assert run("info").out.startswith("web.cocite\n")
    monkeypatch.setenv("COCITE_INDEX", str(place / "nowhere"))
    assert "no store at" in run("info").err
    assert run("info", "-i", "web.cocite").code == 0


def test_strict_stops(source: Path, place: Path) -> None:
    ran = run("build", source, "-o", place / "web.cocite", "--strict", "-q")
    assert ran.code == 2
    assert ran.err.startswith("cocite: ")
    assert "remove --strict" in ran.err
    assert not (place / "web.cocite").exists(), "nothing is left of a build that failed"


def test_from_a_pipe(place: Path) -> None:
    ran = run("build", "-", "-o", place / "web.cocite", "-q", stdin=json.dumps({"url": A, "links": [B]}) + "\n")
    assert (ran.code, ran.err) == (0, "")
    assert len(Graph(place / "web.cocite").links) == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["{place}/none.jsonl"], "does not exist"),
        (["{source}", "--kind", "novel"], "Unknown kind of source 'novel'"),
        (["{source}", "--memory", "lots"], "--memory must be a size such as 512M or 4G, not 'lots'"),
        (["{source}", "--memory", "1k"], "--memory must be at least 64M, not '1k'"),
        (["{source}", "--threads", "0"], "--threads"),
        (["{source}", "--platforms", "{place}/none.toml"], "is not a file"),
        (["https://a.example/", "--scope", "galaxy"], "--scope must be one of site, host, any, not 'galaxy'"),
        ([], "Missing argument"),
    ],
)
def test_wrong_use_is_2_in_one_line(source: Path, place: Path, args: list[str], message: str) -> None:
    given = [arg.format(source=source, place=place) for arg in args]
    ran = run("build", *given, "-o", place / "web.cocite", "-q")
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.startswith("cocite: ")
    assert ran.err.count("\n") == 1
    assert not (place / "web.cocite").exists()


def test_every_source_is_recognised_before_the_first_is_read(source: Path, place: Path) -> None:
    ran = run("build", source, place / "mistyped.jsonl", "-o", place / "web.cocite")
    assert ran.code == 2
    assert "reading" not in ran.err


def test_add_and_remove(source: Path, place: Path) -> None:
    store = place / "web.cocite"
    run("build", source, "-o", store, "-q")
    more = records(place / "more.jsonl", {"url": "https://d.example/", "links": [A, B]})
    added = run("add", more, "-i", store, "-q")
    assert added.code == 0
    assert added.out.startswith(f"Added to {store}\n")
    assert (Graph(store).pages, len(Graph(store).links)) == (4, 4)
    removed = run("remove", "b.example", "-i", store, "--json", "-q")
    assert json.loads(removed.out)["links"] == 2
    assert run("links", B, "-i", store).code == 3
    run("add", more, "-i", store, "-q")
    assert run("links", B, "-i", store).code == 3, "what was removed stays out"
    again = run("remove", "b.example", "-i", store, "-q")
    assert (again.code, again.err) == (
        3, "cocite: 'b.example' was removed already: leave it out; nothing was changed\n",
    )  # fmt: skip
    info = json.loads(run("info", "-i", store, "--json").out)
    assert (info["generation"], info["removed"]) == (1, 1), "changes are layers"
    assert [layer["links"] for layer in info["layers"]] == [4, 2], "the second add brought nothing new"
    assert (info["pages"], info["links"]) == (3, 2)


def test_removing_an_unknown_page_changes_nothing(store: Path) -> None:
    before = json.loads(run("info", "-i", store, "--json").out)
    ran = run("remove", "https://lists.example/papers", "https://lists.example/none", "-i", store, "-q")
    assert ran.code == 3
    assert json.loads(run("info", "-i", store, "--json").out) == before


def test_add_keeps_what_the_store_keeps(place: Path) -> None:
    first = records(place / "a.jsonl", {"url": A, "text": "words", "links": [{"url": B, "text": "link text"}]})
    second = records(place / "b.jsonl", {"url": B, "text": "more", "links": [{"url": A, "text": "other text"}]})
    store = place / "web.cocite"
    run("build", first, "-o", store, "-q", "--no-anchors", "--no-text")
    run("add", second, "-i", store, "-q")
    graph = Graph(store)
    assert graph.anchors(graph.find(B)) == [""]
    assert graph.text(graph.find(B)) == ""
    run("add", second, "-i", store, "-q", "--anchors")
    assert Graph(store).anchors(graph.find(B)) == ["other text"]


def test_a_table_of_platforms_is_not_lost(source: Path, place: Path) -> None:
    table = place / "platforms.toml"
    table.write_text('[[platform]]\nhost = "a.example"\nsites = ["/*"]\n')
    store = place / "web.cocite"
    assert run("build", source, "-o", store, "-q", "--platforms", table).code == 0
    ran = run("add", source, "-i", store, "-q")
    assert ran.code == 2
    assert "give it again with --platforms" in ran.err
    assert run("add", source, "-i", store, "-q", "--platforms", table).code == 0


def test_crawl_options_reach_the_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def crawl(seeds: list[str], report: ReadReport, **options: Any) -> Iterator[Page]:
        asked.update(options, seeds=seeds)
        return iter([Page(A, links=[Link(B)])])

    monkeypatch.setattr("cocite.sources.crawl.start.crawl", crawl)
    stages: list[tuple[str, int, int | None]] = []
    wanted = Build(sources=(A,), depth=5, max_pages=7, delay=0.25, scope="host", allow_private=True)
    sources = wanted.open_sources(ReadReport(), False, lambda *stage: stages.append(stage), None)
    assert asked == {
        "seeds": [A], "depth": 5, "max_pages": 7, "delay": 0.25, "scope": "host", "allow_private": True, "text": False,
    }  # fmt: skip
    assert sum(len(batch) for batch in sources[0].records()) == 1
    assert stages == [("crawling pages", 1, 7)]
    assert (sources[0].spec, sources[0].kind) == (A, "crawl")


@pytest.mark.parametrize(
    ("text", "size"),
    [("512M", 512 << 20), ("4G", 4 << 30), ("1.5 GiB", 3 << 29), ("100000000", 100_000_000), ("1t", 1 << 40)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text, "--memory") == size


@pytest.mark.parametrize("text", ["", "4X", "-4G", "4 G B", "nan", "1e9", "9" * 400 + "G"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(BadParameter, match="--memory"):
        parse_size(text, "--memory")
