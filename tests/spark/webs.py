"""Webs for Spark and for one machine, and what Spark wrote, read back."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.store import Graph
from cocite.sources.open_source import open_source
from cocite.sources.page_records import write_parquet
from cocite.sources.records import Link, Page, ReadReport, batch
from tests.forged import forged

HOSTS = [f"site{n}.example" for n in range(12)] + ["github.com", "alice.github.io", "blog.site1.example"]
PATHS = ["", "a", "a/b", "a/b?q=1", "user1/project", "user2/project", "list.html", "deep/er/still", "x#!/part"]
ADDRESSES = [f"https://{host}/{path}" for host in HOSTS for path in PATHS]
VICTIM = ADDRESSES[0]
FORGED = forged(VICTIM)


def messy_web(seed: int) -> list[list[Page]]:
    """Files of pages as strangers write them; the same for the same seed."""
    draw = random.Random(seed)

    def link(url: str) -> Link:
        spelled = url.replace("https://", draw.choice(["https://", "https://", "http://", "https://www."]))
        block = draw.choice([None, 0, 1, 2])
        return Link(spelled, block=block, rel=draw.choice(["", "", "", "nofollow"]), boilerplate=draw.random() < 0.2)

    def links(most: int) -> list[Link]:
        return [link(url) for url in draw.choices(ADDRESSES[:60], k=draw.randrange(most))] + [
            link(url) for url in draw.choices(ADDRESSES, k=draw.randrange(most))
        ]

    pages = [Page(url, links=links(14)) for url in draw.sample(ADDRESSES, 100)]
    template = [Link(url, block=k % 3) for k, url in enumerate(draw.sample(ADDRESSES, 24))]
    mirrors = [Page(f"https://mirror{n}.example/", links=template[: 24 - n % 2]) for n in range(5)]
    equal = [Page(f"https://twin{n}.example/", links=draw.sample(template[:12], 12)) for n in range(3)]
    pages += (
        mirrors + equal + [Page("https://site2.example/mirrored", links=[link(each.url) for each in mirrors + equal])]
    )
    older = [Page(url, links=links(8), captured="2019-01-01") for url in draw.sample(ADDRESSES, 20)]
    newer = [Page(url, links=links(8), captured="2024-05-06") for url in draw.sample(ADDRESSES, 20)]
    parts = [Page(url, links=links(6), partial=True) for url in draw.choices(ADDRESSES, k=20)]
    moved = [Page(f"https://old{n}.example/", redirect=f"https://old{n + 1}.example/") for n in range(4)]
    first = [Page("https://ring1.example/", links=links(5))]  # replaced by its redirect, and yet the end of a circle
    circle = [Page(f"https://ring{n}.example/", redirect=f"https://ring{(n + 1) % 3}.example/") for n in range(3)]
    circle += [Page(f"https://loop{n}.example/", redirect=f"https://loop{1 - n}.example/") for n in range(2)]
    circle.append(Page("https://into.example/", redirect="https://ring0.example/"))
    named = [
        Page("https://site3.example/print", canonical="https://site3.example/a", links=links(9)),
        Page("https://site4.example/print", canonical="https://elsewhere.example/a", links=links(9)),
        Page("mailto:nobody@example.org", links=links(3)),
        Page(
            "https://site5.example/odd",
            links=[Link("ftp://x.example/"), Link("name:42"), Link("https://old0.example/")],
        ),
        Page(
            "https://site6.example/odd",
            links=[Link(f"https://{name}.example/") for name in ("old2", "ring0", "ring2", "loop0", "into")],
        ),
    ]
    made = [  # with the public hash of another page: it is neither that page, nor has its links or its redirect
        Page(FORGED, links=[Link("https://site1.example/a"), Link("https://site7.example/")]),
        Page("https://site7.example/made", links=[Link(FORGED), Link(VICTIM), Link(forged("https://old1.example/"))]),
        Page(forged(ADDRESSES[3]), redirect="https://site8.example/a"),
    ]
    order = pages + parts
    draw.shuffle(order)
    return [first + order[:70] + newer, order[70:] + moved + named, older + circle + made]


def build_records(folder: Path, files: Sequence[Sequence[Page]]) -> Path:
    """Pages as a folder of Parquet files."""
    folder.mkdir()
    for number, pages in enumerate(files):
        write_parquet([batch(list(pages))], folder / f"part-{number:05d}.parquet")
    return folder


def build_store(records: Path, path: Path) -> Graph:
    """The store of one machine."""
    report = ReadReport()
    source = open_source(str(records), report)
    build([source], path, report, BuildOptions(threads=2, text=False, anchors=False))
    return Graph(path)


def table(folder: Path) -> pa.Table:
    """The rows that Spark wrote, file by file."""
    return pa.concat_tables([pq.ParquetFile(file).read() for file in sorted(folder.rglob("*.parquet"))])
