"""Every reader trims white space around addresses."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.sources.arrow_batches import to_schema
from cocite.sources.open_source import open_source
from cocite.sources.records import Link, Page, ReadReport, batch, trimmed
from cocite.sources.webgraphs.vertex_names import read_names
from cocite.spark.records import CAPTURE_ROWS, NAME_ROWS, file_name, key_batches
from tests.graph.webs import examples

BLANKS = re.findall(r"\s", "".join(map(chr, range(sys.maxunicode + 1))))
INSIDE_A_LINE = [blank for blank in BLANKS if blank not in "\n\r\t"]
EDGES = [("a", "b"), ("a", "c"), ("d", "b"), ("d", "c")]


def test_whole_columns_are_trimmed_as_single_texts_are() -> None:
    texts = [f"{chr(code)}x{chr(code)}" for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    assert trimmed(pa.array(texts)).to_pylist() == [text.strip() for text in texts]
    encoded = pa.array([" a\x1e", None, "b", " a\x1e"]).dictionary_encode()
    assert trimmed(encoded).to_pylist() == ["a", None, "b", "a"]
    assert trimmed(again := pa.array(["a", "b"]).dictionary_encode()) is again
    assert trimmed(pa.array([" ", None, ""])).to_pylist() == ["", None, ""]


def links(path: Path, kind: str) -> list[tuple[str, str]]:
    """The links of a source; of one that adds up in records of its own, all the same."""
    found = open_source(str(path), ReadReport(), kind=kind).records()
    rows = [row for each in found for row in each.to_pylist()]
    return [(row["url"], link["url"]) for row in rows for link in row["links"]]


@given(st.lists(st.tuples(*[st.sampled_from(["", *INSIDE_A_LINE])] * 4), min_size=4, max_size=4))
@examples(20)
def test_one_web_has_the_same_pages_in_every_form(fast_root: Path, around: list[tuple[str, str, str, str]]) -> None:
    rows = [(f"{w}{a}{x}", f"{y}{b}{z}") for (a, b), (w, x, y, z) in zip(EDGES, around, strict=True)]
    expected = [(f"name:{a}", f"name:{b}") for a, b in EDGES]
    tab, table, lines, records = (fast_root / f"trimming.{end}" for end in ("tsv", "edges.parquet", "jsonl", "parquet"))
    # A line that begins with a blank and a mark of comments is none, but columns are named to be safe from guesses.
    tab.write_text("source\ttarget\n" + "".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8", newline="")
    pq.write_table(pa.table({"source": [a for a, _ in rows], "target": [b for _, b in rows]}), table)
    pages = [{"url": f"name:{a}", "links": [f"name:{b}"]} for a, b in ((a.lstrip(), b.lstrip()) for a, b in rows)]
    lines.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(pages), records)
    assert links(tab, "edges") == links(table, "edges") == expected
    assert links(lines, "records") == links(records, "records") == expected


@pytest.mark.parametrize("dictionaries", [True, False])
def test_every_field_that_is_an_address_is_trimmed(dictionaries: bool) -> None:
    given = pa.table(
        {
            "url": pa.array([" name:a\x1e", "\u3000"]).dictionary_encode(),
            "redirect": ["\x1fname:b ", None],
            "canonical": ["name:c\xa0", None],
            "title": [" t ", None],
            "links": [["name:d\x85", "\x1c"], []],
        }
    )
    report = ReadReport()
    (row,) = to_schema(given.to_batches()[0], report, dictionaries=dictionaries).to_pylist()
    assert [row[name] for name in ("url", "redirect", "canonical", "title")] == ["name:a", "name:b", "name:c", " t "]
    assert [link["url"] for link in row["links"]] == ["name:d"]
    assert report.skipped == {"record without url": 1, "link without url": 1}
    (made,) = batch([Page(" name:a\x1e", redirect="\x1fname:b ", links=[Link("name:d\x85")])]).to_pylist()
    assert (made["url"], made["redirect"], made["links"][0]["url"]) == ("name:a", "name:b", "name:d")


def test_names_of_vertices_are_trimmed(tmp_path: Path) -> None:
    file = tmp_path / "names.txt"
    file.write_text("https://a.example/x\u2003\nb \nc\n", encoding="utf-8")
    assert read_names([file], ReadReport()).to_pylist() == ["https://a.example/x", "name:b", "name:c"]
    file.write_bytes(file.read_bytes() + b"d\xff\n")
    assert read_names([file], ReadReport()).to_pylist() == ["https://a.example/x", "name:b", "name:c", ""]


def test_a_cluster_passes_over_the_same_records() -> None:
    """Records keep their positions: one too many or too few would move all that follow."""
    table = pa.table({"url": ["name:a", " \x1e", "name:b "], "file": ["f:/x"] * 3, "row": pa.array([0, 1, 2])})
    rows = [row for each in key_batches(table.to_batches(), {file_name("f:/x"): 0}, "0" * 32, lambda _: None)
            for row in each.to_pylist()]  # fmt: skip
    assert [row["sequence"] for row in rows if row["what"] == CAPTURE_ROWS] == [0, 2]


def test_a_task_of_a_cluster_enters_a_name_once() -> None:
    """Whatever batches mention it: each row more would be sorted and sent."""
    table = pa.table({"url": ["name:a", "name:b"] * 3, "file": ["f:/x"] * 6, "row": pa.array(range(6))})
    batches = table.to_batches(max_chunksize=2)
    made = [*key_batches(batches, {file_name("f:/x"): 0}, "0" * 32, lambda _: None)]
    rows = [row for each in made for row in each.to_pylist()]
    assert len(batches) == 3
    keys = [row["key"] for row in rows if row["what"] == NAME_ROWS]
    assert len(keys) == len(set(keys)) == 2
    assert len({row["tag"] for row in rows}) == 2
