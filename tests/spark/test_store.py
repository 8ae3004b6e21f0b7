"""Shards are what one machine makes of the same records: numbers, addresses, units, links, aliases, near-duplicates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cocite.errors import BadParameter, BadSource
from cocite.graph.names import addresses
from cocite.graph.store import Graph
from cocite.spark.arrays import unpack_lists
from cocite.spark.store import write_store
from tests.spark.webs import FORGED, VICTIM, table


def test_pages_are_numbered_alike(graph: Graph, shards: Path) -> None:
    pages = table(shards / "pages")
    assert pages["number"].to_pylist() == list(range(graph.pages))
    assert (pages["fingerprint"].to_numpy().view(np.uint64) == graph.fingerprints).all()
    assert pages["url"].to_pylist() == list(addresses(graph.names, 0, graph.pages))
    assert (pages["in_degree"].to_numpy() == graph.in_degree).all()
    assert (pages["out_degree"].to_numpy() == graph.out_degree).all()


def test_a_forged_address_is_another_page(graph: Graph, shards: Path) -> None:
    pages = table(shards / "pages")
    victim, evil = graph.find(VICTIM), graph.find(FORGED)
    assert victim != evil and graph.fingerprints[victim] == graph.fingerprints[evil]
    assert [pages["url"][page].as_py() for page in (victim, evil)] == [VICTIM, FORGED]
    assert len(graph.links_from(evil).targets) == 2 and len(graph.links_to(evil)) == 1 < len(graph.links_to(victim))


@pytest.mark.parametrize("unit", ["host", "domain", "site"])
def test_units_are_alike(graph: Graph, shards: Path, unit: str) -> None:
    theirs = np.unique(table(shards / "pages")[unit].to_numpy(), return_inverse=True)[1]
    pairs = {*zip(theirs.tolist(), graph.units(unit).tolist(), strict=True)}
    assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})


def test_aliases_and_near_duplicates_are_alike(graph: Graph, shards: Path) -> None:
    pages = table(shards / "pages")
    for column, one_machine in (("leads_to", graph.alias_target), ("representative", graph.facts.representative)):
        found = [page if other is None else other for page, other in enumerate(pages[column].to_pylist())]
        expected = [one_machine(page) for page in range(graph.pages)]
        assert found == expected
        assert expected != list(range(graph.pages)), "this web should have some"


def test_links_out_are_alike(graph: Graph, shards: Path) -> None:
    lists = table(shards / "out")
    assert lists["page"].to_pylist() == np.flatnonzero(graph.out_degree).tolist()
    targets, starts = unpack_lists(lists["targets"], "<u4")
    attributes, degrees = unpack_lists(lists["attributes"], np.uint32)[0], unpack_lists(lists["degrees"], "<u4")[0]
    for i, page in enumerate(lists["page"].to_pylist()):
        own = slice(starts[i], starts[i + 1])
        links = graph.links_from(page)
        assert targets[own].tolist() == links.targets.tolist()
        assert ((attributes[own] & 0xFFFFFF).astype(int) - 1).tolist() == links.blocks.tolist()
        assert (attributes[own] >> 24).tolist() == links.flags.tolist()
        assert degrees[own].tolist() == graph.in_degree[links.targets].tolist()


def test_links_in_are_alike(graph: Graph, shards: Path) -> None:
    rows = table(shards / "in")
    sources = np.concatenate([graph.links_to(page) for page in range(graph.pages)])
    assert rows["source"].to_pylist() == sources.tolist()
    assert rows["page"].to_pylist() == np.repeat(np.arange(graph.pages), graph.in_degree).tolist()
    assert rows["parents"].to_pylist() == np.repeat(graph.in_degree, graph.in_degree).tolist()
    assert rows["links"].to_pylist() == graph.out_degree[sources].tolist()
    assert rows["popularity"].to_pylist() == graph.in_degree[sources].tolist()


def test_unusable_input_is_counted(shards: Path) -> None:
    noted = json.loads((shards / "_store.json").read_text())
    assert noted["skipped"] == {"mailto address, not a web page": 1, "ftp address, not a web page": 1}
    assert noted["example"]["ftp address, not a web page"] == "ftp://x.example/"


def test_an_existing_folder_is_not_overwritten(spark: Any, records: Path, shards: Path) -> None:
    with pytest.raises(BadParameter, match="exists already"):
        write_store(spark, str(records), str(shards))


def test_a_folder_that_does_not_exist(spark: Any, place: Path) -> None:
    with pytest.raises(BadSource, match="no page records"):
        write_store(spark, str(place / "nothing"), str(place / "shards"))


def test_files_of_another_format(spark: Any, records: Path, place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (place / "lines").mkdir()
    (place / "lines" / "pages.jsonl").write_text('{"url": "https://a.example/"}\n')
    with pytest.raises(BadSource, match="has no page records: it has files of other formats than Parquet"):
        write_store(spark, str(place / "lines"), str(place / "shards"))
    assert not capfd.readouterr().err, "Java's log lines are not shown"


@pytest.mark.parametrize("below", ["", "group=00000", "group=00000/day=2"])
def test_unfinished_records_are_refused(spark: Any, place: Path, below: str) -> None:
    (place / "records" / below / "_temporary").mkdir(parents=True)
    with pytest.raises(BadSource, match="is incomplete"):
        write_store(spark, str(place / "records"), str(place / "shards"))
    assert not (place / "shards").exists()


def test_records_without_a_page(spark: Any, place: Path) -> None:
    """The error has the reason, and no folder is left, so that the next attempt can use it."""
    (place / "records").mkdir()
    pq.write_table(pa.table({"url": ["", None]}, pa.schema([("url", pa.string())])), place / "records" / "p.parquet")
    with pytest.raises(BadSource, match=r"has no usable page \(2 × record without url\)"):
        write_store(spark, str(place / "records"), str(place / "shards"))
    assert not (place / "shards").exists()


def test_the_facts_identify_the_shards(graph: Graph, shards: Path) -> None:
    noted = json.loads((shards / "_store.json").read_text())
    assert (noted["pages"], noted["links"]) == (graph.pages, len(graph.links))
    assert noted["lists"] == np.count_nonzero(graph.out_degree)
    assert len(noted["id"]) == 16 and int(noted["id"], 16)
