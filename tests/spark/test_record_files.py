"""Folders of page records are read as one machine reads them, whoever wrote them, file by file."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.graph.names import addresses
from cocite.sources.folders import walk_files
from cocite.spark.arrays import unpack_lists
from cocite.spark.records import file_name, places_of, read_records
from cocite.spark.store import write_store
from tests.spark.webs import build_store, table

NAMES = st.sampled_from(["a", "a-b", "a.b", "a=1", "b", "B", "ü"])


@given(st.sets(st.lists(NAMES, max_size=2).map(tuple), min_size=1, max_size=9))
def test_files_are_in_the_reading_order_of_the_folder(folders: set[Sequence[str]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        for names in folders:
            folder = Path(root, *names)
            folder.mkdir(parents=True, exist_ok=True)
            for name in ("a.parquet", "z.parquet"):
                (folder / name).touch()
        expected = [path.as_uri() for path in walk_files(Path(root))]
    found = places_of(reversed(expected))
    assert sorted(found, key=found.__getitem__) == [file_name(name) for name in expected]


def put(path: Path, *records: dict[str, Any]) -> None:
    """Write records with their own columns only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(records)), path)


def page(name: str, *links: str, **more: Any) -> dict[str, Any]:
    """A record with links in blocks."""
    objects = [{"url": f"https://{link}.example/", "block": block} for block, link in enumerate(links)]
    return {"url": f"https://{name}.example/", "links": objects, **more}


def assert_alike(spark: Any, folder: Path, place: Path) -> None:
    """Shards are what one machine makes of a folder."""
    graph = build_store(folder, place / "web.cocite")
    write_store(spark, str(folder), str(place / "shards"))
    pages, out = table(place / "shards" / "pages"), table(place / "shards" / "out")
    assert pages["url"].to_pylist() == list(addresses(graph.names, 0, graph.pages))
    leads = [page if other is None else other for page, other in enumerate(pages["leads_to"].to_pylist())]
    assert leads == [graph.alias_target(page) for page in range(graph.pages)]
    assert out["page"].to_pylist() == np.flatnonzero(graph.out_degree).tolist()
    lists = [graph.links_from(page) for page in out["page"].to_pylist()]
    assert unpack_lists(out["targets"], "<u4")[0].tolist() == np.concatenate([each.targets for each in lists]).tolist()
    attributes, blocks = unpack_lists(out["attributes"], np.uint32)[0], np.concatenate([each.blocks for each in lists])
    assert (attributes >> 24).tolist() == np.concatenate([each.flags for each in lists]).tolist()
    assert ((attributes & 0xFFFFFF).astype(int) - 1).tolist() == blocks.tolist()


def test_all_files_and_all_columns_are_read(spark: Any, place: Path) -> None:
    folder = place / "records"
    date = {"captured": "2024-01-01"}
    put(folder / "top.parquet", page("p", "a"), page("tie", "top", **date))
    put(folder / "a" / "sub.parquet", page("q", "b", "old"), page("tie", "sub", **date))
    put(folder / "a-b" / "deep" / "er.parquet", page("tie", "last", **date))
    put(folder / "group=00000" / "x%41 [y]#.parquet", {"url": "https://old.example/", "redirect": "https://p.example/"})
    link = {"url": "https://c.example/", "rel": "nofollow", "boilerplate": True}
    put(folder / "url=none" / "r.parquet", {"url": "https://r.example/", "links": [link]})
    put(folder / "group=00000" / "_hidden" / "no.parquet", page("hidden", "no"))
    put(folder / "group=00000" / ".hidden.parquet", page("hidden", "no"))
    tables, _ = read_records(spark, str(folder))
    assert len(tables) == 1
    assert_alike(spark, folder, place)


def test_columns_may_have_different_types_in_different_files(spark: Any, place: Path) -> None:
    folder = place / "[records]"
    put(folder / "objects.parquet", page("p", "a", "b", redirect=None))
    put(folder / "addresses{1}*.parquet", {"url": "https://q.example/", "links": ["https://a.example/"]})
    put(folder / "bytes?.parquet", {"url": b"https://s.example/", "links": [b"https://p.example/"], "text": 1})
    put(folder / "moved.parquet", {"url": "https://r.example/", "redirect": "https://p.example/", "text": "x"})
    put(folder / "other.parquet", {"href": "https://t.example/", "links": "none"})
    tables, _ = read_records(spark, str(folder))
    assert len(tables) == 5
    assert_alike(spark, folder, place)


def test_folders_without_records(spark: Any, place: Path) -> None:
    put(place / "other" / "x.parquet", {"href": "https://t.example/"})
    with pytest.raises(BadSource, match="has no column url: see docs/"):
        read_records(spark, str(place / "other"))
    (place / "empty").mkdir()
    with pytest.raises(BadSource, match="has no page records: it has no Parquet files"):
        read_records(spark, str(place / "empty"))
