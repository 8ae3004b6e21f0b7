"""The generated web is the same for the same seed and has the shape that bench/README.md promises."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import generate as generator
from cocite.sources.records import LINK, SCHEMA
from generate import addresses, crawled, edges, generate, links, positions, world_of, write
from web_model import NEARBY, ORDER, RUN, Array, World, front_pages, permutation

PAGES = 20_000
SEEDS = st.integers(0, 2**64 - 1)


def texts(world: World, pages: Array) -> list[str]:
    """Addresses as Python strings."""
    text, ends = addresses(world, pages)
    whole = text.tobytes().decode("ascii")
    return [whole[a:b] for a, b in pairwise(ends)]


def one_page(address: str) -> str:
    """A spelling that goes further than any rule for what counts as one page."""
    return re.sub(r"^https?://(www\.)?", "", address).rstrip("/").lower()


class Sample:
    """A small graph in numbers, each link with its source, site and place."""

    def __init__(self) -> None:
        self.world = world_of(PAGES, 1)
        self.pages, places, self.ends = crawled(self.world, 0, positions(self.world))
        self.targets, self.blocks = links(self.world, self.pages, places, self.ends)
        self.sources = np.repeat(self.pages, np.diff(self.ends))
        starts = self.world.starts
        self.sizes = np.diff(starts)
        self.site = np.searchsorted(starts, self.sources, "right") - 1
        self.target_site = np.searchsorted(starts, self.targets, "right") - 1
        fronts = np.array([front_pages.py_func(size) for size in self.sizes])
        self.to_front = self.targets - starts[self.target_site] < fronts[self.target_site]
        self.inside = self.site == self.target_site


@pytest.fixture(scope="module")
def sample() -> Sample:
    return Sample()


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several part files and row groups even for a few thousand pages."""
    monkeypatch.setattr(generator, "BATCH", RUN * 20)
    monkeypatch.setattr(generator, "PART", RUN * 60)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_same_seed_same_bytes(tmp_path: Path, small_parts: None) -> None:
    write(world_of(3000, 7), tmp_path / "once", threads=1)
    write(world_of(3000, 7), tmp_path / "again", threads=3)
    write(world_of(3000, 8), tmp_path / "other", threads=1)
    once = files(tmp_path / "once")
    assert sorted(once) == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet", "part-00003.parquet"]
    assert once == files(tmp_path / "again")
    assert not set(once.values()) & set(files(tmp_path / "other").values())


def test_batches_do_not_change_the_records(small_parts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    in_many = pa.Table.from_batches(generate(3000, 7, anchors=True))
    assert in_many.column("url").num_chunks == 10  # 188 runs of pages, 20 to a batch
    monkeypatch.setattr(generator, "BATCH", RUN * 1000)
    assert pa.Table.from_batches(generate(3000, 7, anchors=True)).combine_chunks() == in_many.combine_chunks()


def test_links_of_a_page_are_distinct(sample: Sample) -> None:
    assert len(np.unique(sample.sources * PAGES + sample.targets)) == len(sample.targets)
    assert (sample.sources != sample.targets).all()


def test_shares_of_links(sample: Sample) -> None:
    """35 % to the own site's front pages, 35 % near, 22 % to front pages of the topic, 8 % copied or uniform."""
    large = sample.sizes[sample.site] > 1000  # so large that few draws repeat and few near pages are front pages
    inside, near = sample.inside[large], np.abs(sample.sources - sample.targets)[large] <= NEARBY
    to_front = sample.to_front[large]
    topic = sample.world.topic
    same_topic = (topic[sample.site] == topic[sample.target_site])[large]
    assert inside.mean() == pytest.approx(0.69, abs=0.015)
    assert (inside & to_front).mean() == pytest.approx(0.35, abs=0.015)
    assert (inside & near & ~to_front).mean() == pytest.approx(0.34, abs=0.015)
    # 22 %, 1 % that found the site's choices linked, and up to a fifth of 8 %, as there are only eight topics.
    assert (~inside & to_front & same_topic).mean() == pytest.approx(0.24, abs=0.015)
    assert (inside & ~near & ~to_front).mean() < 0.01  # copied or uniform, by chance into the own site


def test_small_sites_link_elsewhere(sample: Sample) -> None:
    """A site of ten pages has no 14 to link to: what it cannot offer goes to its topic."""
    size = sample.sizes[sample.site]
    shares = [sample.inside[(size >= low) & (size < low * 2)].mean() for low in (5, 10, 20, 40, 80)]
    assert shares == sorted(shares)
    assert shares[0] < 0.3 < 0.6 < shares[-1]
    assert sample.inside.mean() == pytest.approx(0.525, abs=0.015)


def test_out_degrees(sample: Sample) -> None:
    degrees = np.diff(sample.ends)
    assert degrees.mean() == pytest.approx(20, abs=0.5)
    assert degrees.std() == pytest.approx(20, abs=0.6)
    assert np.median(degrees) == pytest.approx(20 * np.log(2), abs=1)
    assert degrees.max() <= 1000


def test_blocks(sample: Sample) -> None:
    """A block goes on with probability 5/6: a geometric size of mean 6."""
    firsts = sample.ends[:-1][np.diff(sample.ends) > 0]
    later = np.ones(len(sample.blocks), bool)
    later[firsts] = False
    steps = np.diff(sample.blocks, prepend=0)[later]
    assert (sample.blocks[firsts] == 0).all()
    assert set(steps) == {0, 1}
    assert 1 / steps.mean() == pytest.approx(6, abs=0.1)


def test_site_sizes(sample: Sample) -> None:
    sizes = np.sort(sample.sizes)[::-1]
    assert (len(sizes), sizes.sum()) == (800, PAGES)
    assert sizes[0] / sizes[9] == pytest.approx(10**0.8, rel=0.01)
    assert sizes[9] / sizes[99] == pytest.approx(10**0.8, rel=0.02)
    assert (sample.sizes != sizes).any()  # the first site is not the largest


def test_some_pages_are_popular(sample: Sample) -> None:
    """A page of the largest site draws 1.4 links home on average: 1.4 of 2.4 pages have one. Topics follow Zipf."""
    largest = sample.sizes.argmax()
    home = sample.targets == sample.world.starts[largest]
    assert (home & (sample.site == largest)).sum() / sample.sizes[largest] == pytest.approx(0.6, abs=0.05)
    offsite = np.sort(np.bincount(sample.target_site[~sample.inside & sample.to_front], minlength=800))[::-1]
    assert offsite[:8].sum() > 0.1 * offsite.sum()
    assert np.median(offsite) < offsite[0] / 20


def test_crawl_order(sample: Sample) -> None:
    """Each page once, in runs of neighbours, the runs in no order."""
    assert sorted(sample.pages) == list(range(PAGES))
    runs = sample.pages[::RUN]
    assert (np.diff(sample.pages) == 1).mean() == pytest.approx(1 - 1 / RUN, abs=0.01)
    assert abs(np.corrcoef(runs, np.arange(len(runs)))[0, 1]) < 0.1


def test_addresses(sample: Sample) -> None:
    written = texts(sample.world, np.arange(PAGES))
    lengths = np.array([len(address) for address in written])
    assert lengths[sample.targets].mean() == pytest.approx(60, abs=2)
    assert lengths.mean() == pytest.approx(63, abs=2)
    assert len({one_page(address) for address in written}) == PAGES
    hosts = Counter(one_page(address).split("/")[0] for address in written)
    assert sorted(hosts.values()) == sorted(sample.sizes)
    assert all(re.fullmatch(r"https?://[a-z.-]+/[\w/.?=-]*", address, re.ASCII) for address in written)


def test_addresses_of_front_pages(sample: Sample) -> None:
    """The largest site has a home page and 49 sections, in eight branches."""
    first = sample.world.starts[sample.sizes.argmax()]
    home, *sections = (one_page(address) for address in texts(sample.world, np.arange(first, first + 50)))
    branches = Counter(section.removeprefix(home + "/").split("/")[0] for section in sections)
    assert sorted(branches.values()) == [6, 6, 6, 6, 6, 6, 6, 7]
    assert all(re.fullmatch(rf"{home}/[a-z]+(/[a-z]+-[a-z]+){{0,3}}(/[a-z]+)?", section) for section in sections)
    assert len({re.split("[/-]", section)[-1] for section in sections}) == 49


def test_address_order_agrees_in_part_with_the_order_of_writing(sample: Sample) -> None:
    """Neither a shuffle nor a give-away: the next page by address is near in time on some sites only."""
    near = []
    for first, size in zip(sample.world.starts, sample.sizes, strict=False):
        if size >= 100:
            order = np.argsort(texts(sample.world, np.arange(first, first + size)))
            near.extend(np.abs(np.diff(order)) <= 10)
    assert 0.2 < np.mean(near) < 0.8


def test_records_are_the_graph_in_words(sample: Sample) -> None:
    records = pa.Table.from_batches(generate(PAGES, 1)).combine_chunks()
    pairs = pa.Table.from_batches(edges(sample.world, 0, positions(sample.world)))
    assert records.num_rows == PAGES
    urls = np.array(records.column("url").to_pylist())
    number = {address: page for page, address in enumerate(texts(sample.world, np.arange(PAGES)))}
    flat = records.column("links").chunk(0)
    sources = np.repeat(urls, np.diff(flat.offsets))
    assert [number[url] for url in sources] == pairs.column("from").to_pylist() == sample.sources.tolist()
    assert [number[url] for url in flat.values.field("url").to_pylist()] == pairs.column("to").to_pylist()


@pytest.mark.parametrize("anchors", [False, True])
def test_schema_is_that_of_page_records(anchors: bool) -> None:
    batch = next(generate(500, anchors=anchors))
    assert batch.schema.names == ["url", "title", "links"] if anchors else ["url", "links"]
    item = batch.schema.field("links").type.value_type
    assert [f.name for f in item] == (["url", "text", "block"] if anchors else ["url", "block"])
    assert all(f.type == LINK.field(f.name).type for f in item)
    assert all(f.type == SCHEMA.field(f.name).type for f in batch.schema if f.name != "links")
    batch.validate(full=True)


def test_texts_of_links_begin_the_title() -> None:
    table = pa.Table.from_batches(generate(500, 3, anchors=True)).to_pylist()
    title = {page["url"]: page["title"] for page in table}
    said = [(link["text"], title[link["url"]]) for page in table for link in page["links"]]
    more = sum(text == "read more" for text, _ in said)
    assert more / len(said) == pytest.approx(0.1, abs=0.02)
    assert all(name.startswith(text) for text, name in said if text != "read more")


def test_other_formats_hold_the_same(tmp_path: Path, small_parts: None) -> None:
    world = world_of(2000, 5)
    for suffix in ("parquet", "jsonl", "tsv"):
        write(world, tmp_path / "it's" / suffix, suffix, threads=2)
    pages = [page for path in parts(tmp_path / "it's/parquet") for page in pq.read_table(path).to_pylist()]
    lines = [line for path in parts(tmp_path / "it's/jsonl") for line in path.read_text().splitlines()]
    assert [json.loads(line) for line in lines] == pages
    number = {address: page for page, address in enumerate(texts(world, np.arange(2000)))}
    pairs = [line for path in parts(tmp_path / "it's/tsv") for line in path.read_text().splitlines()]
    assert pairs == [f"{number[page['url']]}\t{number[link['url']]}" for page in pages for link in page["links"]]


def parts(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.iterdir()))


@given(size=st.integers(1, 300), key=SEEDS)
@settings(max_examples=30, deadline=None)
def test_permutation(size: int, key: int) -> None:
    assert sorted(permutation(size, np.uint64(key), ORDER)) == list(range(size))


@given(pages=st.integers(1, 150), seed=SEEDS, sites=st.none() | st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_tiny_webs(pages: int, seed: int, sites: int | None) -> None:
    """However few the pages, each is there once and links to others of them, to none twice."""
    sites = sites and min(sites, max(1, pages // 5))
    records = pa.Table.from_batches(generate(pages, seed, sites, 1)).to_pylist()
    known = {one_page(page["url"]) for page in records}
    assert len(records) == len(known) == pages
    for page in records:
        targets = [one_page(link["url"]) for link in page["links"]]
        assert len(set(targets)) == len(targets)
        assert set(targets) <= known - {one_page(page["url"])}


def test_a_page_has_at_most_a_link_to_each_other_page() -> None:
    """Of eight pages, those that drew more than seven links have seven: one to each of the others."""
    pairs = pa.Table.from_batches(edges(world_of(8, 3), 0, RUN)).to_pydict()
    assert sorted(Counter(pairs["from"]).values()) == [5, 6, 7, 7, 7, 7, 7, 7]
    assert len(set(zip(pairs["from"], pairs["to"], strict=True))) == 5 + 6 + 6 * 7


@pytest.mark.parametrize(
    "asked", [{"pages": 0}, {"pages": 10, "sites": 11}, {"pages": 100, "topics": 5}, {"pages": 9, "seed": -1}]
)
def test_impossible_webs(asked: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="need 1 ≤ topics"):
        generate(**asked)


def test_too_many_sites() -> None:
    with pytest.raises(ValueError, match="90 sites are too many for 100 pages"):
        generate(100, sites=90)


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*options: str) -> None:
        monkeypatch.setattr("sys.argv", ["generate.py", "--pages", "1000", "-o", str(tmp_path / "web"), *options])
        generator.main()

    run()
    first = files(tmp_path / "web")
    line = capsys.readouterr().out
    size = sum(map(len, first.values()))
    lengths = r"\d\d\.\d characters an address \(\d\d\.\d in links\)"
    assert re.fullmatch(rf"1,000 pages, [\d,]+ links, {lengths}, [\d.]+ s, {size:,} bytes\n", line)
    with pytest.raises(SystemExit) as stopped:
        run("--seed", "2")
    assert stopped.value.code == 2
    assert "not empty" in capsys.readouterr().err
    assert files(tmp_path / "web") == first
    run("--seed", "2", "--force")
    assert list(files(tmp_path / "web")) == list(first)
    assert files(tmp_path / "web") != first
    (tmp_path / "web" / "notes.txt").touch()
    before = files(tmp_path / "web")
    with pytest.raises(SystemExit):
        run("--force")
    assert "more than part files" in capsys.readouterr().err
    assert files(tmp_path / "web") == before
