"""A store with history gives, as of any date, the store that a build from the captures of then gives."""

from __future__ import annotations

import json
import random
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.errors import BadParameter, BadStore, UnknownPage
from cocite.graph import dates as kept_dates
from cocite.graph import history as history_module
from cocite.graph.arrays import Arrays
from cocite.graph.build import captures as captures_module
from cocite.graph.build.maintain import add, compact, remove
from cocite.graph.build.passes import BuildOptions, Past, build_in_memory
from cocite.graph.check import check
from cocite.graph.dates import graph_of_day
from cocite.graph.history import History, history_of
from cocite.graph.store import Graph
from cocite.sources.records import Link, Page, ReadReport, batch
from cocite.web import Web
from tests.graph.webs import Records, make, page, records

DAYS = ["", "2001-02-03", "2005-06-07", "2005-06-07T05:00:00", "2010-01-01T12:00:00Z", "2020-05-05T05:05:05+02:00"]
CODED = {f"{direction}.{part}" for direction in ("out", "in") for part in ("words", "base", "offset", "code")}
"""Their bits depend on links that a page repeats in one section, which a history doesn't keep."""


def built(pages: list[Page], history: bool = False, past: Past | None = None) -> Arrays:
    """The arrays of a store of these records, or of captures of the past."""
    options, batches = BuildOptions(threads=0, history=history), [batch(pages)] if pages else []
    return build_in_memory(batches, ReadReport(), options, past=past)


def differences(found: Arrays, wanted: Arrays) -> list[str]:
    """What differs between two stores: arrays, and the decoded lists."""
    names = {*found, *wanted} - CODED - {"page.captured"}
    texts = [name for name in names if name.endswith((".first", ".offset"))]
    different = [
        name
        for name in sorted(names)
        if not np.array_equal(found[name], wanted[name]) and not (name in texts and found[name].sum() == 0)
    ]
    if found.pages == wanted.pages:
        one, other = Graph(found), Graph(wanted)
        for number in range(one.pages):
            for part, same in zip(one.links_from(number), other.links_from(number), strict=True):
                different += [] if part.tolist() == same.tolist() else [f"links of {number}"]
            different += [] if one.links_to(number).tolist() == other.links_to(number).tolist() else [f"in {number}"]
        days = [each["page.captured"] // 86_400 for each in (found, wanted)]
        different += [] if np.array_equal(*days) else ["days"]
    return different


def tight() -> ExitStack:
    """Ranges of pages and entry points so small that a web of some pages has several."""
    patches = ExitStack()
    for module in (history_module, captures_module):
        patches.enter_context(patch.object(module, "CHUNK_PAGES", 16))
    patches.enter_context(patch.object(captures_module, "MIN_BUCKET_LINKS", 8))
    patches.enter_context(patch.object(captures_module, "BYTES_PER_LINK", 1 << 40))
    return patches


captured = st.builds(
    lambda page, day, partial: replace(page, captured=day, partial=partial and not page.redirect),
    records(),
    st.sampled_from(DAYS),
    st.integers(0, 7).map(lambda number: number == 0),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(captured, min_size=1, max_size=25))
def test_as_of_any_date_is_a_store_built_from_the_captures_of_then(pages: list[Page]) -> None:
    with tight():
        try:
            whole, plain = built(pages, history=True), built(pages)
        except Exception as error:  # no record that can be used
            assert "Nothing to index" in str(error)
            return
        assert [name for name in plain if not np.array_equal(plain[name], whole[name])] == []
        history = History(Graph(whole))
        for index, date in enumerate(history.dates, 1):
            then = [each for each in pages if not each.captured or each.captured[:10] <= date]
            found, wanted = built([], past=Past(history, index)), built(then)
            spelled = {"name.spelling", *(name for name in wanted if name.startswith("shown."))}
            assert [name for name in differences(found, wanted) if name not in spelled] == []
        again = built([], history=True, past=Past(history))
        assert differences(again, whole) == []
