"""The code of captures: each is written as what differs from the next newer capture of its page.

A page has its captures newest first. The links of a capture are an edit of a *reference*: the links of the next newer
capture that has any, and for the newest one the links that the store has. So a link that was never changed costs next
to nothing, and a capture that changed nothing less than a bit. An edit is, for each link of the reference in turn,

    is it copied? │ if not: skip s of them, add n, shift the blocks of later copies │ the links to add
    at the end: add n │ the links to add

Everything is written by the range coder (range_coder.py), by chances that are learnt from the pages before. A *chunk*
of pages is a stream of its own, of which nothing is known at its beginning. Two things are known beforehand: which days
are those of one crawl, and how many links lead to each page of the store. The target of an added link is the power of
two of its distance from the page, from the link before it or from the link in its place; within these pages it is as
probable as the store has links to it. FORMAT.md gives every decision. Decoding stays inside its arrays whatever the
bits say.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import bit_length
from cocite.kernels.codec.range_coder import NUMBER
from cocite.kernels.jit import lean_inline

FACT_BITS, LEAD_BITS, ATTRIBUTE_BITS = 8 + 16 + 32, 32, 32
WINDOW_LINKS = 32  # how far an edit looks for the place where both lists go on alike
PARTIAL_KIND = 1  # of a record, as in graph/build/scratch.py
NO_LEAD = 0xFFFFFFFF
CAPTURE_KINDS = 4  # of captures that aren't partial; a page has at most one of each kind on a day
MAX_PAGE_CAPTURES, MAX_PAGE_LINKS = 1 << 22, 1 << 25
"""Of one page, all its captures together: they are read at once, and a few bytes can say any number of them."""
DAY_LIMIT = 30
"""Chances of days forget quickly: a site's pages are captured on the same days."""
MAX_WEIGHTS = 0xFFFFFFFF
SIZE_CLASSES, STATES, EDITS, ADDINGS = 32, 4, 4, 8
PAGE, BEFORE, INSTEAD = 0, 1, 2  # what a target is near to: its page, the link before it, the link in its place

# Where the chances of each kind of decision begin.
OTHER_LINKS = 0  # by STATES, then by the size of the reference
UNUSUAL = OTHER_LINKS + STATES * SIZE_CLASSES  # by that of the capture before
OTHER_FACTS, LEADS, OTHER_LEAD = range(UNUSUAL + 2, UNUSUAL + 5)
RECORDS = OTHER_LEAD + 1
PARTIAL_DAY, PARTIALS, FIRST_CRAWL, CRAWLS, DAY_GAP = range(RECORDS + NUMBER, RECORDS + 6 * NUMBER, NUMBER)
NOT_COPIED = RECORDS + 6 * NUMBER  # by EDITS; of these, the first SIZE_CLASSES until something changes, then two
UNLIKE = NOT_COPIED + EDITS * (SIZE_CLASSES + 2)  # anything but one link in place of another
SHIFTS = UNLIKE + 1
SHIFT, SKIPPED = SHIFTS + 1, SHIFTS + 1 + NUMBER
ADDED = SKIPPED + NUMBER  # by the links that were skipped
AT_END = ADDED + ADDINGS * NUMBER  # by whether something changed
ORIGIN = AT_END + 2 * NUMBER
TARGET_DISTANCE = ORIGIN + 2  # by origin: a tree of 6 decisions
ATTRIBUTE = TARGET_DISTANCE + 3 * 64
DAYS = ATTRIBUTE + 3  # by the middle of the days that are possible


class Captures(NamedTuple):
    """Captures of neighbouring pages: those of a page follow each other, partial ones first, then newest first."""

    page: NDArray[np.uint32]
    day: NDArray[np.uint32]  # index into the table of days, 0: unknown
    facts: NDArray[np.uint64]  # kind, status << 8, language << 24
    lead: NDArray[np.uint32]  # the page that an alias leads to, NO_LEAD for others
    before: NDArray[np.uint32]  # partial captures of the page before it in the sources, for those that aren't partial
    first: NDArray[np.int64]  # its first link; one more for the end
    target: NDArray[np.uint32]
    attribute: NDArray[np.uint32]


class References(NamedTuple):
    """The links that the store has of pages [low, low + n)."""

    low: int
    first: NDArray[np.int64]  # the first link of each page; one more for the end
    target: NDArray[np.uint32]
    attribute: NDArray[np.uint32]


class CodingContext(NamedTuple):
    """What the code of captures is made with."""

    crawl: NDArray[np.int64]  # the crawl of each day
    first_day: NDArray[np.int64]  # the first day of each crawl; one more for the end
    weight: NDArray[np.int64]  # the sum of the weights of all pages before each; one more for the end


def new_model(context: CodingContext) -> NDArray[np.uint32]:
    """Room for the chances."""
    return np.zeros(DAYS + len(context.crawl), np.uint32)


@lean_inline
def shifted(attribute, shift):
    """An attribute with its block moved; an unknown block stays unknown."""
    return attribute + shift if block_of(attribute) > 0 else attribute


@lean_inline
def size_class(links):
    """A class of numbers of links: exact below 16, then two for each power of two."""
    if links < 16:
        return links
    length = bit_length(links)
    return min(16 + 2 * (length - 5) + (links >> (length - 2) & 1), SIZE_CLASSES - 1)


@lean_inline
def copied_chance(edits_before, edits, resumed, left):
    """The place of the chance of "not copied"."""
    at = NOT_COPIED + min(bit_length(edits_before), EDITS - 1) * (SIZE_CLASSES + 2)
    if edits == 0:
        return at + size_class(left)
    return at + SIZE_CLASSES + (1 if resumed else 0)


@lean_inline
def state_of(first, edits_before):
    """What came before a capture: nothing, a capture that changed nothing, one with one edit, one with more."""
    return 0 if first else min(1 + bit_length(edits_before), STATES - 1)


@lean_inline
def span_of(origin, step, pages):
    """The pages [first, last] that have this step from an origin: 32 for upwards, and the power of two."""
    near = np.int64(1) << (step & 31)
    if step >= 32:
        return origin + near, min(origin + 2 * near, pages) - 1
    return max(origin - 2 * near + 1, np.int64(0)), origin - near
