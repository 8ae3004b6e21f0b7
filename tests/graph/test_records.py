"""Which records count, one small web each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from cocite.errors import BadSource
from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.build.spill import parse_date
from cocite.graph.store import Graph
from cocite.sources.records import Link, Page, ReadReport
from tests.graph.webs import Records, make, page

A, B, C, D = (f"https://{name}.example/" for name in "abcd")


def targets(graph: Graph, address: str) -> list[str]:
    """Where a page's links lead, in order."""
    return [graph.address(int(target)) for target in graph.links_from(graph.find(address)).targets]


def test_links_are_distinct_the_first_kept_and_never_to_the_page_itself(place: Path) -> None:
    links = [
        Link(B, "first", 0),
        Link(A),
        Link(C, "c", 1),
        Link("http://www.b.example", "second", 2),
        Link("mailto:x@y"),
    ]
    make(place / "s", [Page(A, links=links)])
    graph = Graph(place / "s")
    assert targets(graph, A) == [B, C]
    assert graph.anchors(graph.find(A)) == ["first", "c"]
    assert graph.links_from(graph.find(A)).blocks.tolist() == [0, 1]
    assert (graph.pages, len(graph.links)) == (3, 2)


def test_the_newest_capture_counts_and_the_later_of_equals(place: Path) -> None:
    captures = [page(A, C, captured="2020-01-02"), page(A, B, captured="2020-01-01"), page(A, D)]
    make(place / "s", captures)
    assert targets(Graph(place / "s"), A) == [C]
    make(place / "s", [page(A, B), page(A, C)])
    assert targets(Graph(place / "s"), A) == [C]


def test_partial_records_add_up_and_leave_the_record_alone(place: Path) -> None:
    whole = Page(A, "Title", links=[Link(B)], status=200, captured="2020-01-01", lang="en", noindex=True)
    make(place / "s", [page(A, C, partial=True), whole, page(A, D, B, partial=True)])
    graph = Graph(place / "s")
    at = graph.find(A)
    assert targets(graph, A) == [C, B, D]
    assert (graph.title(at), graph.facts.status(at), graph.facts.language(at)) == ("Title", 200, "en")
    assert graph.facts.captured(at) == 1577836800  # 2020-01-01
    assert graph.array("page.kind")[at] & 8


def test_anchors_stay_with_their_links_beside_partial_records(place: Path) -> None:
    whole = Page(A, links=[Link(B, "to b"), Link(C, "to c")])
    make(place / "s", [whole, page(A, D, partial=True)])
    graph = Graph(place / "s")
    assert targets(graph, A) == [B, C, D]
    assert graph.anchors(graph.find(A)) == ["to b", "to c", ""]


def test_redirects_are_followed_in_chains_of_any_length(place: Path) -> None:
    chain = [Page(f"https://r{i:03}.example/", redirect=f"https://r{i + 1:03}.example/") for i in range(50)]
    make(place / "s", [*chain, page(A, "https://r000.example/"), page("https://r050.example/", B)])
    graph = Graph(place / "s")
    end = graph.find("https://r050.example/")
    assert {graph.find(f"https://r{i:03}.example/") for i in range(51)} == {end}
    assert graph.links_from(graph.find(A)).targets.tolist() == [end]
    assert graph.links_to(end).tolist() == [graph.find(A)]


def test_a_circle_of_redirects_ends_at_its_first_page(place: Path) -> None:
    circle = [Page(B, redirect=C), Page(C, redirect=D), Page(D, redirect=B), Page(A, redirect=C)]
    make(place / "s", [*circle, page("https://x.example/", D, C, A)])
    graph = Graph(place / "s")
    assert [graph.address(graph.find(x)) for x in (A, B, C, D)] == [B, B, B, B]
    assert targets(graph, "https://x.example/") == [B]


def test_a_page_that_redirects_to_its_own_variant_keeps_its_links(place: Path) -> None:
    # /foo leads to /foo?lang=en, which says that its proper address is /foo: usual, and nothing may be lost.
    plain, variant = "https://a.example/foo", "https://a.example/foo?lang=en"
    for pages in (
        [Page(plain, redirect=variant), Page(variant, "T", links=[Link(B, "b")], canonical=plain)],
        [Page(variant, "T", links=[Link(B, "b")], canonical=plain), Page(plain, redirect=variant)],
        [Page(variant, redirect=plain), Page(plain, "T", links=[Link(B, "b")], canonical=variant)],
    ):
        make(place / "s", pages)
        graph = Graph(place / "s")
        at = graph.find(plain)
        assert at == graph.find(variant)
        assert targets(graph, plain) == [B]
        assert (graph.title(at), graph.anchors(at), graph.facts.fetched(at)) == ("T", ["b"], True)


def test_a_canonical_address_counts_within_a_domain_only(place: Path) -> None:
    near, far = Page("https://m.a.example/x", links=[Link(C)], canonical=A), Page(B, links=[Link(C)], canonical=D)
    make(place / "s", [near, far])
    graph = Graph(place / "s")
    assert graph.find("https://m.a.example/x") == graph.find(A)
    assert targets(graph, A) == [C]
    assert targets(graph, B) == [C]
    assert graph.get(D) is None, "nothing but a word that is not believed speaks of it"


def test_a_pages_own_record_counts_before_another_that_names_it_canonical(place: Path) -> None:
    variant = Page("https://a.example/?print=1", links=[Link(C)], canonical=A, captured="2024-01-01")
    for pages in ([page(A, B), variant], [variant, page(A, B)]):
        make(place / "s", pages)
        assert targets(Graph(place / "s"), A) == [B]


@pytest.mark.parametrize("per_batch", [1, 2])
def test_the_later_of_equals_does_not_depend_on_batches(place: Path, per_batch: int) -> None:
    variant = "https://a.example/v"
    make(place / "s", [Page(variant, links=[Link(C)], canonical=A), page(variant, B)], per_batch)
    graph = Graph(place / "s")
    assert targets(graph, variant) == [B]
    assert targets(graph, A) == [C]


def test_a_partial_redirect_is_a_redirect(place: Path) -> None:
    make(place / "s", [Page(A, redirect=B, partial=True), page(C, A)])
    graph = Graph(place / "s")
    assert graph.find(A) == graph.find(B)
    assert targets(graph, C) == [B]


def test_texts_of_links_that_all_fell_away(place: Path) -> None:
    make(place / "s", [Page(A, links=[Link(A, "myself")])])
    graph = Graph(place / "s")
    assert (graph.pages, len(graph.links), graph.anchors(0)) == (1, 0, [])


def test_a_text_is_cleaned_whatever_its_neighbours_hold(place: Path) -> None:
    make(place / "s", [Page(A, "two  spaces"), Page(B, "a\n\t b")])
    graph = Graph(place / "s")
    assert graph.title(graph.find(A)) == "two  spaces"
    assert graph.title(graph.find(B)) == "a b"


def test_sites_of_ports_and_home_folders_agree_with_pages_site(place: Path) -> None:
    urls = [
        "https://u.example/~ann/",
        "https://u.example/~bob/",
        "https://u.example:81/~ann/x",
        "https://u.example:81/",
    ]
    make(place / "s", [Page(url) for url in urls])
    graph = Graph(place / "s")
    sites = {url: int(graph.units("site")[graph.find(url)]) for url in urls}
    names = {url: graph.site(graph.find(url)) for url in urls}
    assert len(set(sites.values())) == len(set(names.values())) == len({(sites[u], names[u]) for u in urls})


@pytest.mark.parametrize(
    "address",
    ["name:" + "名" * 4091, "name:" + "𐍈" * 4091, "https://a.example/" + "𐍈" * 339, "https://a.example/" + "a" * 4078],
    ids=["3-byte name", "4-byte name", "escaped path", "plain path"],
)
def test_the_longest_addresses(place: Path, address: str) -> None:
    make(place / "s", [page(A, address, B), page(address, B)])
    graph = Graph(place / "s")
    assert graph.links_from(graph.find(A)).targets.tolist()[0] == graph.find(address.removeprefix("name:"))
    assert targets(graph, address.removeprefix("name:")) == [B]
    assert graph.pages == 3


def test_blocks_beyond_the_largest_are_the_largest(place: Path) -> None:
    blocks = [None, 0, 2**24 - 2, 2**24 - 1, 2**31 - 1, -1, -5, 7]
    make(place / "s", [Page(A, links=[Link(f"https://x{i}.example/", block=b) for i, b in enumerate(blocks)])])
    graph = Graph(place / "s")
    last = 2**24 - 2
    assert graph.links_from(graph.find(A)).blocks.tolist() == [-1, 0, last, last, last, -1, -1, 7]


def links_by_block(graph: Graph, page: int) -> list[tuple[str, NDArray[np.uint32]]]:
    """The links out of a page by block: (heading, targets), in order of appearance; the heading may be empty."""
    links, headings = graph.links_from(page), graph.headings(page)
    order = list(dict.fromkeys(links.blocks.tolist()))
    return [(headings[b] if 0 <= b < len(headings) else "", links.targets[links.blocks == b]) for b in order]


def test_links_by_block_with_headings(place: Path) -> None:
    links = [
        Link(B, block=1),
        Link(C),
        Link(D, block=0),
        Link("https://e.example/", block=1),
        Link("https://f.example/", block=9),
    ]
    make(place / "s", [Page(A, headings=["Zero", "One"], links=links)])
    graph = Graph(place / "s")
    found = [(heading, [graph.address(int(t)) for t in some]) for heading, some in links_by_block(graph, graph.find(A))]
    assert found == [("One", [B, "https://e.example/"]), ("", [C]), ("Zero", [D]), ("", ["https://f.example/"])]


def test_options_leave_texts_out(place: Path) -> None:
    pages = [Page(A, "Title", "Text", [Link(B, "anchor", context="context")])]
    make(place / "s", pages, anchors=False, text=False)
    graph = Graph(place / "s")
    at = graph.find(A)
    assert (graph.title(at), graph.text(at), graph.anchors(at), graph.contexts(at)) == ("Title", "", [""], [""])


def test_unusable_records_are_counted(place: Path) -> None:
    report = ReadReport()
    pages = [
        Page("mailto:x"),
        page(A, "javascript:1", B),
        Page(C, captured="yesterday"),
        Page(D, links=[Link(A, weight=7)]),
    ]
    build([Records(pages)], place / "s", report)
    assert sum(report.skipped.values()) == 4
    assert Graph(place / "s").pages == 4


def test_a_source_of_nothing_is_refused(place: Path) -> None:
    for pages in ([], [Page("mailto:x")]):
        with pytest.raises(BadSource, match="no usable page in the sources"):
            make(place / "s", pages)
        assert not (place / "s").exists()


def test_a_small_memory_setting_is_enough_for_a_small_web(place: Path) -> None:
    make(place / "s", [page(A, B)], memory=1)
    assert targets(Graph(place / "s"), A) == [B]


@pytest.mark.parametrize("name", ["web[1].cocite", "web*.cocite", "it's a ?.cocite", 'ünï "x".cocite'])
def test_odd_paths(place: Path, name: str) -> None:
    make(place / name, [page(A, B)])
    assert targets(Graph(place / name), A) == [B]


class Dictionaries:
    """Batches whose addresses are dictionary-encoded, with an entry that no row uses, and nulls."""

    spec, kind = "dictionaries", "test"

    def records(self) -> Iterator[pa.RecordBatch]:
        addresses = pa.array([A, B, "mailto:x", D, C])
        urls = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2], pa.int32()), addresses)
        targets = pa.DictionaryArray.from_arrays(pa.array([1, 4, None, 0, 4, 1], pa.int32()), addresses)
        links = pa.StructArray.from_arrays([targets], ["url"])
        lists = pa.ListArray.from_arrays(pa.array([0, 3, 4, 5, 6], pa.int32()), links)
        yield pa.RecordBatch.from_arrays([urls, lists], ["url", "links"])
        empty = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int32()), pa.array([], pa.string()))
        yield pa.RecordBatch.from_arrays([empty], ["url"])


def test_dictionaries_of_addresses(place: Path) -> None:
    build([Dictionaries()], place / "s", ReadReport(), BuildOptions(threads=2))
    graph = Graph(place / "s")
    assert [graph.address(i) for i in range(graph.pages)] == [A, B, C], "an address that no row uses isn't a page"
    assert targets(graph, A) == [B, C]
    assert targets(graph, B) == [A]
    assert len(graph.links) == 3


class ManyDictionaries:
    """Every batch has dictionaries of its own, more than are kept at a time."""

    spec, kind = "many dictionaries", "test"

    def records(self) -> Iterator[pa.RecordBatch]:
        for i in range(40):
            urls = pa.array([f"https://s{i}.example/"]).dictionary_encode()
            targets = pa.array([f"https://t{i}-{k}.example/" for k in range(50)]).dictionary_encode()
            lists = pa.ListArray.from_arrays(
                pa.array([0, 50], pa.int32()), pa.StructArray.from_arrays([targets], ["url"])
            )
            yield pa.RecordBatch.from_arrays([urls, lists], ["url", "links"])


def test_more_dictionaries_than_are_kept(place: Path) -> None:
    build([ManyDictionaries()], place / "s", ReadReport(), BuildOptions(threads=8))
    graph = Graph(place / "s")
    assert (graph.pages, len(graph.links)) == (40 * 51, 40 * 50)


def test_a_batch_may_lack_columns_and_hold_bare_links(place: Path) -> None:
    class Bare:
        spec, kind = "bare", "test"

        def records(self) -> Iterator[pa.RecordBatch]:
            yield pa.RecordBatch.from_pydict({"url": [A, B]})
            yield pa.RecordBatch.from_pydict({"url": [A, B], "links": [[B, C, None], None]})
            yield pa.RecordBatch.from_pydict({"url": pa.array([], pa.string())})

    build([Bare()], place / "s", ReadReport(), BuildOptions(threads=2))
    graph = Graph(place / "s")
    assert targets(graph, A) == [B, C]
    assert np.count_nonzero(graph.array("page.kind")) == 2


@pytest.mark.parametrize(
    ("text", "day"),
    [("1999", "1999-01-01"), ("1999-05", "1999-05-01"), (" 2024-02-29T10:00 ", "2024-02-29"), ("1945", "1970-01-01"),
     ("19990517000000", "1999-05-17"), ("199", None), ("1999-13", None), ("soon", None)],
)  # fmt: skip
def test_dates(text: str, day: str | None) -> None:
    found = parse_date(text)
    assert (datetime.fromtimestamp(found, UTC).date().isoformat() if found else None) == day
