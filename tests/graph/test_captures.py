"""Captures are written as FORMAT.md says: a literal reader finds what was written, and so does the fast one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.graph.build.captures import crawls_of
from cocite.graph.changes.history import STATE_NUMBERS, empty_captures
from cocite.kernels.codec import history_reader
from cocite.kernels.codec.history_codec import (
    CAPTURE_KINDS,
    NO_LEAD,
    PARTIAL_KIND,
    Captures,
    CodingContext,
    References,
    new_model,
)
from cocite.kernels.codec.history_reader import read_captures
from cocite.kernels.codec.history_writer import write_captures
from cocite.kernels.interpreted import as_python
from tests.graph.literal_captures import Capture, Decoder, Link, Reader

PAGES, LOW, OWN = 70, 20, 6
DAYS = np.array([0, 100, 101, 103, 120, 121, 122, 123, 400, 401, 402, 500], np.uint32)
CRAWLS = crawls_of(DAYS).tolist()

attributes = st.one_of(st.integers(0, 5), st.integers(0, 2**32 - 1))
links = st.lists(st.tuples(st.integers(0, PAGES - 1), attributes), max_size=60)
weights = st.lists(st.integers(1, 1000), min_size=PAGES, max_size=PAGES)


@st.composite
def edited(draw: st.DrawFn, before: list[Link]) -> list[Link]:
    """Links that were changed a little: some gone, some added, blocks moved."""
    first, last = sorted(draw(st.tuples(st.integers(0, len(before)), st.integers(0, len(before)))))
    added, moved = draw(st.lists(st.tuples(st.integers(0, PAGES - 1), attributes), max_size=3)), draw(st.integers(0, 2))
    after = [(target, min(kind + moved, 2**32 - 1) if kind % (1 << 24) else kind) for target, kind in before[last:]]
    return [*before[:first], *added, *after]


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[list[Link]], list[Capture]]:
    """What a store has of some pages, and captures of these."""
    stored, found = list[list[Link]](), list[Capture]()
    for page in range(LOW, LOW + OWN):
        own = draw(links)
        stored.append([link for link in own if link[0] != page])
        reference, day, partials = stored[-1], len(DAYS) - 1, 0
        for _ in range(draw(st.integers(0, 5))):
            partial = draw(st.booleans()) and day == len(DAYS) - 1
            day = day if partial else draw(st.integers(0, day))
            now = draw(st.one_of(st.just(reference), edited(reference), links))
            now = [link for link in now if link[0] != page]
            facts = draw(st.sampled_from([0, 200 << 8, 2**56 - 2])) | partial
            lead = draw(st.one_of(st.none(), st.integers(0, PAGES - 1)))
            before = draw(st.integers(0, partials)) if partials and not partial else 0
            found.append(Capture(page, draw(st.integers(0, day)) if partial else day, facts, lead, before, now))
            reference, partials = now or reference, partials + partial
    return stored, found


def arrays_of(captures: list[Capture], stored: list[list[Link]]) -> tuple[Captures, References]:
    """The same as arrays."""

    def lists(found: list[list[Link]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        every = np.array([link for each in found for link in each], np.int64).reshape(-1, 2).astype(np.uint32)
        return np.cumsum([0, *map(len, found)]), every[:, 0].copy(), every[:, 1].copy()

    columns = zip(*captures, strict=True) if captures else ([],) * 6
    page, day, facts, lead, before, now = (list(column) for column in columns)
    leads = np.array([NO_LEAD if each is None else each for each in lead], np.uint32)
    small = (np.array(values, np.uint32) for values in (page, day, before))
    own, days, earlier = small
    known = np.array(facts, np.uint64)
    return Captures(own, days, known, leads, earlier, *lists(now)), References(LOW, *lists(stored))


def known_of(weight: list[int]) -> CodingContext:
    """What captures are coded with."""
    ends = np.array([*CRAWLS, len(DAYS)])
    return CodingContext(np.repeat(np.arange(len(CRAWLS)), np.diff(ends)), ends, np.cumsum([0, *weight]))


def written(captures: Captures, references: References, known: CodingContext) -> np.ndarray:
    """The units of a chunk, which are counted if there is no room for them, and the same as Python writes them."""
    model, none = new_model(known), np.zeros(0, np.uint16)
    stop, count = write_captures(captures, references, known, 0, model, none)
    assert stop == len(captures.page)
    units = np.zeros(count, np.uint16)
    assert write_captures(captures, references, known, 0, model, units) == (stop, count)
    return units


def read(
    units: np.ndarray,
    references: References,
    known: CodingContext,
    until: int,
    said: tuple[int, int],
    room: int,
    reader: Callable[..., Any] = read_captures,
) -> object:
    """The captures of a chunk, None if they make no sense."""
    out, rows = empty_captures(said[0], said[1]), np.zeros((said[0], 3), np.int64)
    sizes, state = np.zeros((OWN, 2), np.int64), np.zeros(STATE_NUMBERS, np.int64)
    given = units, new_model(known), references, known, (until, 0, OWN), said, np.zeros((4, room), np.uint32)
    count, total, good = reader(*given, (out, rows, sizes, state))
    if not good:
        return None
    assert sizes.sum(axis=0).tolist() == [count, total]
    assert count <= said[0] and total <= said[1]
    out.first[count] = total
    bounds = out.first[: count + 1].tolist()
    pairs = list(zip(out.target.tolist(), out.attribute.tolist(), strict=True))
    lead = [None if each == NO_LEAD else each for each in out.lead[:count].tolist()]
    columns = (values[:count].tolist() for values in (out.page, out.day, out.facts))
    now = [pairs[start:stop] for start, stop in pairwise(bounds)]
    return [Capture(*each) for each in zip(*columns, lead, out.before[:count].tolist(), now, strict=True)]


@settings(max_examples=150)
@given(histories(), weights)
def test_captures_are_read_as_they_were(history: tuple[list[list[Link]], list[Capture]], weight: list[int]) -> None:
    stored, captures = history
    arrays, references = arrays_of(captures, stored)
    known = known_of(weight)
    units = written(arrays, references, known)
    said, longest = (len(captures), len(arrays.target)), max([len(each.links) for each in captures], default=0)
    assert read(units, references, known, -1, said, longest) == captures
    crawls = [range(*pair) for pair in zip(CRAWLS, [*CRAWLS[1:], len(DAYS)], strict=True)]
    assert Reader(Decoder(units.tolist()), crawls, weight).captures(LOW, stored) == captures
    newest = read(units, references, known, 5, said, longest)
    assert isinstance(newest, list) and all(each.day <= 5 and each in captures for each in newest)


@settings(max_examples=10)
@given(histories(), weights)
def test_interpreted_code_writes_the_same(history: tuple[list[list[Link]], list[Capture]], weight: list[int]) -> None:
    arrays, references = arrays_of(history[1], history[0])
    known = known_of(weight)
    units = written(arrays, references, known)
    again = np.zeros(len(units), np.uint16)
    as_python(write_captures)(arrays, references, known, 0, new_model(known), again)
    assert again.tolist() == units.tolist()


@settings(max_examples=150)
@given(histories(), weights, st.data())
def test_damaged_units_end(
    history: tuple[list[list[Link]], list[Capture]], weight: list[int], data: st.DataObject
) -> None:
    """Other units, missing ones and further ones are damage, or other captures of as many links."""
    stored, captures = history
    arrays, references = arrays_of(captures, stored)
    known = known_of(weight)
    units = written(arrays, references, known)
    said, longest = (len(captures), len(arrays.target)), max([len(each.links) for each in captures], default=0)
    for other in (units[:-1], np.append(units, np.uint16(0)), units[:0]):
        assert read(other, references, known, -1, said, longest) is None
    for _ in range(5):
        changed = units.copy()
        first = data.draw(st.integers(0, len(units) - 1))
        changed[first:] = data.draw(st.sampled_from([0, 0xFFFF])) if data.draw(st.booleans()) else changed[first:]
        changed[first] ^= np.uint16(1 << data.draw(st.integers(0, 15)))
        found = read(changed, references, known, -1, said, longest)
        assert found is None or (isinstance(found, list) and len(found) == len(captures))


@pytest.mark.parametrize("said", [(0, 3), (2, 3), (1, 2), (1, 4)])
def test_other_numbers_of_captures_are_damage(said: tuple[int, int]) -> None:
    now: list[Link] = [(1, 0), (2, 0), (3, 0)]
    arrays, references = arrays_of([Capture(LOW, 1, 0, None, 0, now)], [[]] * OWN)
    known = known_of([1] * PAGES)
    units = written(arrays, references, known)
    assert read(units, references, known, -1, (1, 3), 3) is not None
    assert read(units, references, known, -1, said, 3) is None
    assert read(units, references, known, -1, (1, 3), 2) is None


def chunk_of(captures: list[Capture], stored: list[Link]) -> tuple[Any, ...]:
    """The units of a chunk whose first page has these captures, and what a reader is given with them."""
    arrays, references = arrays_of(captures, [stored, *[[]] * (OWN - 1)])
    known = known_of([1] * PAGES)
    said = len(captures), len(arrays.target)
    return written(arrays, references, known), references, known, -1, said, len(stored)


def test_a_page_has_one_capture_of_a_kind_on_each_day() -> None:
    """A capture that changed nothing costs next to nothing: a few bytes could say any number of them."""
    now: list[Link] = [(1, 0), (2, 0), (3, 0)]
    most = CAPTURE_KINDS * len(DAYS)
    for count in (most, most + 1):
        chunk = chunk_of([Capture(LOW, 1, 0, None, 0, now)] * count, now)
        assert len(chunk[0]) < 30
        assert (read(*chunk) is not None) == (count == most)
    partial = [Capture(LOW, 1, PARTIAL_KIND, None, 0, now)] * (2 * most)  # sources may have any number of them
    assert read(*chunk_of(partial, now)) == partial


@pytest.mark.parametrize("name, limit", [("MAX_PAGE_CAPTURES", 5), ("MAX_PAGE_LINKS", 15)])
def test_captures_of_one_page_are_limited(name: str, limit: int) -> None:
    now: list[Link] = [(1, 0), (2, 0), (3, 0)]
    with patch.object(history_reader, name, limit):
        for count in (5, 6):
            chunk = chunk_of([Capture(LOW, 1, PARTIAL_KIND, None, 0, now)] * count, now)
            assert (read(*chunk, as_python(read_captures)) is not None) == (count == 5)
