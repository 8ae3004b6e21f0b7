"""Small batches are gathered, in order; large ones pass; escape sequences go on the way."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cocite.sources import arrow_batches
from cocite.sources.arrow_batches import merge_small_batches
from cocite.sources.open_source import open_source
from cocite.sources.records import SCHEMA, Link, Page, ReadReport, batch

RED = "\x1b[31m"


def page(number: int, links: int = 1) -> Page:
    return Page(f"https://a.example/{number}", links=[Link(f"https://b.example/{n}") for n in range(links)])


def test_a_folder_of_many_small_files_is_one_batch(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"a{number:02}.jsonl").write_text(json.dumps({"url": f"https://a.example/{number}"}))
        (tmp_path / f"b{number:02}.tsv").write_text(f"{number}\t{number + 1}\n")
        (tmp_path / f"c{number:02}.md").write_text("[x](https://x.example/)")
    (made,) = open_source(str(tmp_path), ReadReport(), base="https://me.example/").records()
    assert made.schema == SCHEMA
    urls = made.column("url").to_pylist()
    assert urls[:2] == ["https://a.example/0", "https://a.example/1"]
    assert urls[50:52] == ["name:0", "name:1"]
    assert urls[149] == "https://me.example/c49.md"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9), st.integers(0, 3)), max_size=12))
def test_nothing_is_lost_and_the_order_is_kept(
    monkeypatch: pytest.MonkeyPatch, runs: list[tuple[bool, int, int]]
) -> None:
    monkeypatch.setattr(arrow_batches, "SMALL_BATCH_ITEMS", 10)
    items: list[Page | pa.RecordBatch] = []
    expected: list[tuple[str, int]] = []
    for as_batch, count, links in runs:
        pages = [page(len(expected) + n, links) for n in range(count)]
        expected += [(one.url, len(one.links)) for one in pages]
        items += [batch(pages)] if as_batch else pages
    made = list(merge_small_batches(items))
    assert [(row["url"], len(row["links"])) for part in made for row in part.to_pylist()] == expected
    sizes = [part.num_rows + len(part.column("links").flatten()) for part in made]
    assert not any(one < 10 and following < 10 for one, following in pairwise(sizes))


def test_large_batches_and_their_dictionaries_are_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_batches, "SMALL_BATCH_ITEMS", 3)
    plain = batch([page(1), page(2)])
    url = plain.column("url").dictionary_encode()
    large = pa.RecordBatch.from_arrays([url, *plain.columns[1:]], names=plain.schema.names)
    small = batch([page(3, 0)])
    first, second, third = merge_small_batches([large, small, large])
    assert first is large
    assert second.column("url").to_pylist() == ["https://a.example/3"]
    assert third is large


def test_small_batches_with_dictionaries_are_joined() -> None:
    plain = batch([page(1), page(2)])
    encoded = pa.RecordBatch.from_arrays(
        [plain.column("url").dictionary_encode(), *plain.columns[1:]], names=plain.schema.names
    )
    (made,) = merge_small_batches([encoded, plain, encoded])
    assert made.column("url").to_pylist() == [f"https://a.example/{n}" for n in (1, 2, 1, 2, 1, 2)]


def test_escape_sequences_go_whatever_the_source(tmp_path: Path) -> None:
    record = {
        "url": "https://a.example/",
        "title": f"{RED}T",
        "text": f"te{RED}xt",
        "headings": [f"He{RED}ad", "x"],
        "links": [
            {"url": "https://b.example/", "text": f"an{RED}chor", "context": RED, "rel": "me"},
            "https://c.example/",
        ],
    }
    rest = {"url": "https://z.example/", "title": "Z"}
    path = tmp_path / "x.jsonl"
    path.write_text(f"{json.dumps(record)}\n{json.dumps(rest)}\n")
    (made,) = open_source(str(path), ReadReport()).records()
    first, second = made.to_pylist()
    assert (first["title"], first["text"], first["headings"]) == ("T", "text", ["Head", "x"])
    link, bare = first["links"]
    assert (link["text"], link["context"], link["rel"], bare["url"]) == ("anchor", "", "me", "https://c.example/")
    assert (second["title"], second["links"]) == ("Z", [])
    assert [
        row["title"]
        for row in next(
            merge_small_batches([batch([Page("x", title=RED + "1"), Page("y", title="2")])[1:]])
        ).to_pylist()
    ] == ["2"]
