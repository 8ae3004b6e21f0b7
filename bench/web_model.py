"""The shape of the generated web: the sizes of sites, the links of pages, and the order of the crawl.

Nothing here keeps state between pages. Every choice is a hash of the seed and of what is chosen for, so any page can be
made alone with its links, in any order and on any number of threads, and comes out the same. Even a link "copied from
an earlier link" does: the earlier link is drawn, then its own first draw is made again from its hash.

Pages are numbered site by site and, within a site, in the order of writing; a site's first pages are its front pages.
The crawler found them in another order: runs of `RUN` pages in a pseudo-random permutation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import int64, uint64

from cocite.kernels.jit import inline, kernel

Array = npt.NDArray[Any]

SIZE_EXPONENT = 0.8
MEAN_LINKS, MOST_LINKS = 20, 1000
FRONT, NEAR, TOPIC, COPY = 0.35, 0.70, 0.92, 0.96  # cumulated shares; what is left goes to any page
NEARBY = 20
HOME = 0.2  # of links to front pages, the share that goes to the home page rather than to a section
SAME, DRAWS = (
    4,
    8,
)  # draws until a page that is not linked yet: of the link's own kind, then of the topic; then anywhere
NEW_BLOCK = 1 / 6
RUN = 16  # pages of a site that a crawler fetches in one go

# One stream of hashes for each purpose.
ORDER, DEGREES, LINKS, TOPICS, SIZES, POPULARITY, SITE_NAMES, SITE_STYLES, PAGE_NAMES, ANCHORS = range(1, 11)

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class World(NamedTuple):
    """Everything that is kept of a web: 16 bytes per site, nothing per page."""

    seed: np.uint64
    pages: int
    starts: Array  # int64, sites + 1: the first page of each site
    topic: Array  # int32: the topic of each site
    topic_starts: Array  # int64, topics + 1: where a topic's sites begin in `members`
    members: Array  # int32: the sites of each topic, the most popular first


def make_world(pages: int, sites: int, topics: int, seed: int) -> World:
    """Size and topic of each site, chosen by the seed; takes three times the memory of what it returns."""
    key = np.uint64(seed)
    rank = permutation(sites, key, SIZES)
    starts = np.zeros(sites + 1, np.int64)
    np.cumsum(sizes_by_rank(pages, sites)[rank], out=starts[1:])
    # Squaring makes the topics uneven, as a Zipf law of exponent 0.5 would.
    topic = (units(sites, key, TOPICS) ** 2 * topics).astype(np.int32)
    # Large sites tend to be the popular ones of their topic; chance counts as much.
    popularity = units(sites, key, POPULARITY)
    popularity *= rank
    del rank
    members = np.lexsort((popularity, topic)).astype(np.int32)
    topic_starts = np.searchsorted(topic, np.arange(topics + 1), sorter=members).astype(np.int64)
    return World(key, pages, starts, topic, topic_starts, members)


def sizes_by_rank(pages: int, sites: int) -> Array:
    """How many pages the largest site has, the second largest, and so on: a Zipf law."""
    ends = np.arange(1, sites + 1, dtype=np.float64)
    ends **= -SIZE_EXPONENT
    smallest = ends[-1]
    np.cumsum(ends, out=ends)
    if pages * smallest < ends[-1]:
        raise ValueError(f"{sites} sites are too many for {pages} pages: the smallest would be empty; ask for fewer")
    ends *= pages / ends[-1]
    return np.diff((ends + 0.5).astype(np.int32), prepend=np.int32(0))


def positions(world: World) -> int:
    """Places in the crawl's order: a multiple of `RUN`, so that up to `RUN` - 1 of them hold no page."""
    return -(-world.pages // RUN) * RUN


@inline
def mix(x: Any) -> Any:
    """A hash of 64 bits to 64 bits (the finisher of splitmix64)."""
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@inline
def draw(key: Any, number: Any) -> Any:
    """The given number of the stream with that key."""
    return mix(key + (uint64(number) + uint64(1)) * GOLDEN)


@inline
def unit(bits: Any) -> Any:
    """A hash as a number in [0, 1)."""
    return (bits >> uint64(11)) * 2.0**-53


@inline
def below(bits: Any, limit: Any) -> Any:
    """A hash as a whole number in [0, limit)."""
    return int64(unit(bits) * limit)


@inline
def permuted(x: Any, size: Any, key: Any) -> Any:
    """The place of x in a permutation of 0 … size - 1: a Feistel cipher, repeated until inside."""
    half = uint64(1)
    while (uint64(1) << (half + half)) < uint64(size):
        half += uint64(1)
    mask = (uint64(1) << half) - uint64(1)
    y = uint64(x)
    while True:
        for turn in range(4):
            y = ((y & mask) << half) | ((y >> half) ^ (draw(key + uint64(turn), y & mask) & mask))
        if y < uint64(size):
            return int64(y)


@inline
def stream(seed: Any, purpose: Any) -> Any:
    """The key of one purpose's hashes."""
    return draw(mix(uint64(seed)), purpose)


@kernel
def permutation(size: int, seed: Any, purpose: int) -> Array:
    """A whole permutation at once."""
    key = stream(seed, purpose)
    places = np.empty(size, np.int32)
    for i in range(size):
        places[i] = permuted(i, size, key)
    return places


@kernel
def units(size: int, seed: Any, purpose: int) -> Array:
    """The first numbers of a stream, in [0, 1)."""
    key = stream(seed, purpose)
    numbers = np.empty(size, np.float64)
    for i in range(size):
        numbers[i] = unit(draw(key, i))
    return numbers


@inline
def site_of(starts: Any, page: Any) -> Any:
    """The site of a page, by bisection."""
    low, high = int64(0), int64(len(starts) - 1)
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= page:
            low = middle
        else:
            high = middle
    return low


@inline
def front_pages(size: Any) -> Any:
    """How many front pages a site of that size has: its home page, and a section for every four pages, 50 at most."""
    return int64(1) + min(int64(49), size // 4)


@inline
def page_at(world: Any, order: Any, position: Any) -> Any:
    """The page that a crawler found at that position; `world.pages` or more if there is none."""
    runs = (world.pages + RUN - 1) // RUN
    return permuted(position // RUN, runs, order) * RUN + position % RUN


@inline
def out_degree(world: Any, degrees: Any, page: Any) -> Any:
    """Links on a page: exponential, rounded to the nearest so that the mean stays; at most one to each other page."""
    most = min(int64(MOST_LINKS), int64(world.pages - 1))
    return min(most, int64(0.5 - MEAN_LINKS * np.log(1.0 - unit(draw(degrees, page)))))


@inline
def front_page(world: Any, site: Any, bits: Any) -> Any:
    """One of a site's front pages, most often its home."""
    first = world.starts[site]
    fronts = front_pages(world.starts[site + 1] - first)
    u = unit(bits)
    if fronts == 1 or u < HOME:
        return first
    return first + 1 + int64((u - HOME) / (1 - HOME) * (fronts - 1))


@inline
def near_page(world: Any, site: Any, page: Any, bits: Any) -> Any:
    """Another page of the site, written at most `NEARBY` pages before or after; the page itself if it is alone."""
    low = max(world.starts[site], page - NEARBY)
    high = min(world.starts[site + 1] - 1, page + NEARBY)
    other = low + below(bits, high - low)
    if other >= page and high > low:
        return other + 1
    return other


@inline
def topic_page(world: Any, site: Any, bits: Any) -> Any:
    """A front page of another site of the topic, chosen by a Zipf law of exponent 1; -1 if there are no others."""
    first = world.topic_starts[world.topic[site]]
    size = world.topic_starts[world.topic[site] + 1] - first
    if size == 1:
        return int64(-1)
    place = min(int64((size + 1.0) ** unit(bits)), size) - 1
    if world.members[first + place] == site:
        place = (place + 1) % size
    return front_page(world, int64(world.members[first + place]), draw(bits, 1))


@inline
def earlier_link(world: Any, order: Any, degrees: Any, position: Any, bits: Any) -> Any:
    """Position and place of a link that the crawler found before, all links alike; -1 if there is none.

    The first draw of that link is copied. If it was drawn again, its page linked there already, or was that page.
    Drawing a place of 128 and trying again where the page has no such link makes longer pages likelier in proportion;
    only the 1.2 % of links after that are never copied.
    """
    for _ in range(64):
        bits = mix(bits + GOLDEN)
        before = below(bits, position)
        page = page_at(world, order, before)
        place = below(draw(bits, 1), 128)
        if page < world.pages and place < out_degree(world, degrees, page):
            return before, place
    return int64(-1), int64(0)


@kernel
def crawled(world: Any, first: int, last: int) -> tuple[Array, Array, Array]:
    """The pages at positions first … last - 1, their positions, and where each page's links begin and end."""
    order, degrees = stream(world.seed, ORDER), stream(world.seed, DEGREES)
    pages = np.empty(last - first, np.int64)
    places = np.empty(last - first, np.int64)
    ends = np.zeros(last - first + 1, np.int32)
    count = 0
    for position in range(first, last):
        page = page_at(world, order, position)
        if page < world.pages:
            pages[count] = page
            places[count] = position
            ends[count + 1] = ends[count] + out_degree(world, degrees, page)
            count += 1
    return pages[:count], places[:count], ends[: count + 1]


@inline
def target_of(
    world: Any, order: Any, degrees: Any, link_key: Any, page: Any, site: Any, position: Any, kind: Any, bits: Any
) -> Any:
    """Where a link of some kind may lead: in the site, in the topic, where an earlier link leads, or anywhere."""
    while True:
        target = int64(-1)
        if kind < FRONT:
            target = front_page(world, site, bits)
        elif kind < NEAR:
            target = near_page(world, site, page, bits)
        elif kind < TOPIC:
            target = topic_page(world, site, bits)
        elif kind < COPY and position > 0:
            position, place = earlier_link(world, order, degrees, position, bits)
            if position >= 0:
                page = page_at(world, order, position)
                site = site_of(world.starts, page)
                link = draw(draw(link_key, page), place)
                kind, bits = unit(link), draw(link, 1)
                continue
        return target if target >= 0 else below(bits, world.pages)


@inline
def may_link(targets: Any, start: Any, stop: Any, page: Any, target: Any) -> Any:
    """Whether a target is another page that the links so far, which are few, do not lead to."""
    if target < 0 or target == page:
        return False
    for k in range(start, stop):  # noqa: SIM110
        if targets[k] == target:
            return False
    return True


@kernel
def links(world: Any, pages: Array, places: Array, ends: Array) -> tuple[Array, Array]:
    """Target and block of every link of the pages that `crawled` gave; a page links to no page twice, nor to itself."""
    order, degrees, link_key = stream(world.seed, ORDER), stream(world.seed, DEGREES), stream(world.seed, LINKS)
    targets = np.empty(ends[-1], np.int64)
    blocks = np.empty(ends[-1], np.int32)
    for i in range(len(pages)):
        page, site, start = pages[i], site_of(world.starts, pages[i]), ends[i]
        block = 0
        for k in range(start, ends[i + 1]):
            link = draw(draw(link_key, page), int64(k - start))
            if k > start and unit(draw(link, 0)) < NEW_BLOCK:
                block += 1
            blocks[k] = block
            target, drawn = int64(-1), 0
            while not may_link(targets, start, k, page, target):
                drawn += 1
                bits = draw(link, drawn)
                if drawn <= SAME:
                    target = target_of(world, order, degrees, link_key, page, site, places[i], unit(link), bits)
                elif drawn <= DRAWS:
                    target = topic_page(world, site, bits)
                elif drawn == DRAWS + 1:
                    target = below(bits, world.pages)
                else:  # the next free page: there is one, as a page has fewer links than there are pages
                    target = (target + 1) % world.pages
            targets[k] = target
    return targets, blocks
