"""Small webs for tests: a source of page records, builds under tight limits, and Hypothesis strategies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st

from cocite.graph import check
from cocite.graph.build import (
    derive,
    gather_texts,
    maintain,
    name_pieces,
    names,
    number,
    resolve,
    sort_links,
    sort_names,
)
from cocite.graph.build.maintain import add
from cocite.graph.build.passes import BuildOptions, Built, build
from cocite.graph.generation import read_current
from cocite.sources.records import Link, Page, ReadReport, batch

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def examples(count: int) -> settings:
    """The number of examples of a costly test; ten times as many in a thorough run."""
    return settings(max_examples=count * (10 if THOROUGH else 1))


class Records:
    """A source of page records, `per_batch` at a time."""

    spec = "records"
    kind = "test"

    def __init__(self, pages: Sequence[Page], per_batch: int = 1000) -> None:
        self.pages = pages
        self.per_batch = per_batch

    def records(self) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self.pages), self.per_batch):
            yield batch(list(self.pages[start : start + self.per_batch]))


def make(path: Path, pages: Sequence[Page], per_batch: int = 1000, **options: Any) -> Built:
    """Build a store of a few pages."""
    return build([Records(pages, per_batch)], path, ReadReport(), BuildOptions(**{"threads": 2, **options}))


def extend(path: Path, pages: Sequence[Page], per_batch: int = 1000, **options: Any) -> Built:
    """Add a few pages to a store."""
    return add([Records(pages, per_batch)], path, ReadReport(), BuildOptions(**{"threads": 2, **options}))


def files_of(path: Path) -> dict[str, bytes]:
    """Every array of a store, by name."""
    folder, _ = read_current(path)
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix == ".bin"}


def page(url: str, *targets: str, **fields: Any) -> Page:
    """A page with bare links."""
    return Page(url, links=[Link(target) for target in targets], **fields)


LIMITS: dict[ModuleType, dict[str, int]] = {
    names: {"PYTHON_ADDRESSES": 0, "WAITING_NAMES": 40},
    number: {"BATCH_NAMES": 32, "REREAD_NAMES": 16, "FEW_NAMES": 0},
    sort_names: {"MIN_TASK_NAMES": 4},
    name_pieces: {"MIN_NAMES": 16},
    derive: {
        "LONG_LIST_LINKS": 5,
        "SKIP_LINKS": 2,
        "MANY_PARENTS": 3,
        "BEST_PARENTS": 2,
        "SAMPLE_PARENTS": 2,
        "SKETCHED_PAGES": 16,
    },
    maintain: {"CHUNK_PAGES": 16},
    check: {"CHUNK_PAGES": 16},
    resolve: {"TABLE_BYTES_PER_PAGE": resolve.TABLE_BYTES_PER_PAGE << 22},
    sort_links: {"MIN_BUCKET_LINKS": 8, "BYTES_PER_LINK": 1 << 40},
    gather_texts: {"MEMORY_PER_TEXT_BYTE": 1 << 24},
}


@contextmanager
def limited(*modules: ModuleType) -> Iterator[None]:
    """The LIMITS of some modules."""
    with ExitStack() as patches:
        for module in modules:
            for name, value in LIMITS[module].items():
                patches.enter_context(patch.object(module, name, value))
        yield


def long_lists() -> AbstractContextManager[None]:
    """Lists of a few links are long ones, and few names have pieces, so that both are stored. Nothing else is tight."""
    return limited(derive, name_pieces)


def tight() -> AbstractContextManager[None]:
    """Every limit so low that a web of fifty pages meets it: many batches, buckets, parts of the table, text ranges."""
    return limited(*LIMITS)


# Pages in several spellings each, on sites of all kinds: domains, subdomains, platforms, homes, ports, numbers, names.
ADDRESSES = [
    "https://example.com/", "http://www.example.com", "https://EXAMPLE.com/index.html", "https://example.com/a",
    "https://example.com/a/?utm_source=x", "https://example.com/a?b=1", "https://example.com/a#!x/y",
    "https://example.com/a%20b", "https://example.com/a b", "https://example.com/~ann/", "https://example.com/~ann/x",
    "https://example.com/~bob", "https://example.com:8080/~ann/y", "https://example.com:8080/", "http://blog.example.com/1",
    "https://github.com/Ann/Proj", "https://github.com/ann/proj/issues", "https://github.com/ann", "https://github.com/about",
    "https://github.com/bob/x", "https://alice.github.io/", "https://bob.github.io/p", "https://x.s3.amazonaws.com/k",
    "https://amazonaws.com/", "https://zoo.amazonaws.com/", "https://shop.co.uk/", "https://co.uk/", "http://10.0.0.1/a",
    "http://[::1]:8000/b", "http://localhost:3000/", "http://localhost/c", "https://münchen.example/straße",
    "https://example.org/名前", "https://play.google.com/store/apps/details?id=a",
    "https://play.google.com/store/apps/details?id=a&hl=en", "https://play.google.com/store/apps/details?id=a%20b",
    "host:nytimes.com/x", "host:www.nytimes.com/x", "https://nytimes.com/x", "name:12", "name:9", "name:Ada, Countess",
    "name:Ünïcode 名前", "name:a", "name:a)b",
]  # fmt: skip
UNUSABLE = ["mailto:ann@example.com", "javascript:void(0)", "", "http://", "ftp://example.com/a"]
addresses = st.sampled_from(ADDRESSES)
texts = st.sampled_from(["", "", "Home", "two  words", "line\nbreak", "näh", "tab\t here", "a\x00b", "x" * 600])
links = st.builds(
    Link,
    url=addresses | addresses | addresses | st.sampled_from(UNUSABLE),
    text=texts,
    block=st.none() | st.integers(0, 4) | st.sampled_from([-7, 2**24 - 2, 2**30]),
    context=texts,
    rel=st.sampled_from(["", "", "", "nofollow", "UGC  nofollow", "sponsored me noopener"]),
    weight=st.sampled_from([1.0, 1.0, 1.0, 0.5, 0.25, 0.0, 7.0]),
    boilerplate=st.booleans(),
)
plain_links = st.builds(Link, url=addresses, block=st.none() | st.integers(0, 4))
dates = st.sampled_from(["", "", "", "2001-02-03", "2010-01-01T12:00:00Z", "2020-05-05T05:05:05+02:00"])


def records(links: st.SearchStrategy[Link] = links, moved: bool = True) -> st.SearchStrategy[Page]:
    """Page records; with `moved` some are redirects or name a canonical address."""
    elsewhere = st.just("") | st.just("") | st.just("") | addresses if moved else st.just("")
    return st.builds(
        Page,
        url=addresses | addresses | addresses | addresses | st.sampled_from(UNUSABLE),
        title=texts,
        text=st.sampled_from(["", "Some text.", "Some\ntext."]),
        links=st.lists(links, max_size=12),
        headings=st.lists(texts, max_size=3),
        status=st.none() | st.sampled_from([200, 404, -1, 100000]),
        redirect=elsewhere,
        canonical=elsewhere,
        captured=dates,
        lang=st.sampled_from(["", "en", "de-AT", "x", "eng_US", "12"]),
        noindex=st.booleans(),
        partial=st.sampled_from([False, False, False, True]),
    )


webs = st.lists(records(), min_size=1, max_size=25)
