"""A web of pages about topics, as keywords and links: what keyword relevance and word similarity are measured on.

    python bench/topical.py -o bench/data/topical [--pages 100000] [--seed 1]

Every page has one of 500 topics, of uneven sizes, 20 different keywords and 20 different links. Words follow Zipf's law
over the whole vocabulary. Each topic has 300 words of its own, of any rank, that come in bursts: two of three keywords
of its pages are drawn from them, by a Zipf law of their own. Four of five links stay in the topic, where some pages are
more popular than others; the rest go anywhere. The same seed gives the same arrays.

The command writes page records (one JSON Lines file), each page's keywords as its text.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 54_280
TOPICS = 500
KEYWORDS = LINKS = 20
TOPIC_WORDS = 300
OWN_WORD, OWN_LINK = 2 / 3, 4 / 5
DRAWS = 3
"""Draws for each place: the first different ones are taken."""


class Topical(NamedTuple):
    """Keywords of page p: `key_ids[key_starts[p]:key_starts[p + 1]]`, ascending; its links likewise."""

    key_starts: NDArray[np.int64]
    key_ids: NDArray[np.uint32]
    vocabulary: int
    link_starts: NDArray[np.int64]
    link_targets: NDArray[np.uint32]
    topic: NDArray[np.int32]


def topical(pages: int = 100_000, seed: int = 1, topics: int = TOPICS, vocabulary: int = VOCABULARY) -> Topical:
    """The whole web; fewer keywords or links where there are fewer different ones."""
    rng = np.random.default_rng(seed)
    # Squaring makes the topics uneven, as a Zipf law of exponent 0.5 would.
    topic = (rng.random(pages) ** 2 * topics).astype(np.int32)
    keys = draw_keywords(rng, topic, topics, vocabulary)
    links = draw_links(rng, topic, topics)
    return Topical(starts_of(keys), keys.ravel(), vocabulary, starts_of(links), links.ravel(), topic)


def draw_keywords(
    rng: np.random.Generator, topic: NDArray[np.int32], topics: int, vocabulary: int
) -> NDArray[np.uint32]:
    """The keywords of every page, a row each."""
    wanted, own = min(KEYWORDS, vocabulary), min(TOPIC_WORDS, vocabulary)
    shape = (len(topic), DRAWS * wanted)
    # Of any rank, but frequent words sooner: ranks are drawn evenly on a scale between plain and logarithmic.
    words = (rng.random((topics, own)) ** 3 * vocabulary).astype(np.int64)
    common = zipf(rng, shape, vocabulary)
    bursts = words[topic[:, None], zipf(rng, shape, own)]
    return first_different(np.where(rng.random(shape) < OWN_WORD, bursts, common), wanted, vocabulary)


def draw_links(rng: np.random.Generator, topic: NDArray[np.int32], topics: int) -> NDArray[np.uint32]:
    """The links of every page, a row each; none to the page itself."""
    pages = len(topic)
    wanted = min(LINKS, max(0, pages - 1))
    shape = (pages, DRAWS * wanted)
    members = np.argsort(topic, kind="stable")
    begins = np.searchsorted(topic[members], np.arange(topics + 1))
    first, size = begins[topic], np.diff(begins)[topic]
    # Squared, the first of a topic are the popular ones.
    near = members[first[:, None] + (rng.random(shape) ** 2 * size[:, None]).astype(np.int64)]
    far = rng.integers(0, max(1, pages), shape)
    drawn = np.where(rng.random(shape) < OWN_LINK, near, far)
    # Seen from the page, so that no link leads to it: all others are 0 … pages - 2.
    at = np.arange(pages)[:, None]
    drawn = np.where(drawn == at, far, drawn)
    drawn = np.where(drawn == at, (at + 1) % max(1, pages), drawn)
    others = first_different(drawn - (drawn > at), wanted, max(1, pages - 1)).astype(np.int64)
    return np.sort(others + (others >= at), axis=1).astype(np.uint32)


def zipf(rng: np.random.Generator, shape: tuple[int, int], size: int) -> NDArray[np.int64]:
    """Ranks from 0, by a Zipf law of exponent 1."""
    return np.minimum((size + 1.0) ** rng.random(shape), size).astype(np.int64) - 1


def first_different(drawn: NDArray[np.int64], wanted: int, limit: int) -> NDArray[np.uint32]:
    """The first `wanted` different numbers of each row, ascending; if there are fewer, the smallest others too."""
    order = np.argsort(drawn, axis=1, kind="stable")
    values = np.take_along_axis(drawn, order, axis=1)
    repeated = np.zeros(drawn.shape, np.bool_)
    repeated[:, 1:] = values[:, 1:] == values[:, :-1]
    again = np.zeros(drawn.shape, np.bool_)
    np.put_along_axis(again, order, repeated, axis=1)
    chosen = ~again & (np.cumsum(~again, axis=1) <= wanted)
    for row in np.flatnonzero(chosen.sum(axis=1) < wanted).tolist():
        have = drawn[row][chosen[row]]
        spare = np.setdiff1d(np.arange(min(limit, 2 * wanted)), have)[: wanted - len(have)]
        places = np.flatnonzero(~chosen[row])[: len(spare)]
        drawn[row, places] = spare
        chosen[row, places] = True
    return np.sort(drawn[chosen].reshape(len(drawn), wanted), axis=1).astype(np.uint32)


def starts_of(rows: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where the rows begin when they are laid end to end."""
    starts: NDArray[np.int64] = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
    return starts


def address_of(page: int) -> str:
    """The address of a page."""
    return f"https://example.org/{page}"


def word_of(number: int) -> str:
    """The spelling of a word, which isn't a stop word of any language."""
    return f"w{number}"


def write_records(web: Topical, folder: Path) -> None:
    """The web as page records."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "pages.jsonl").open("w") as file:
        for page in range(len(web.topic)):
            words = web.key_ids[web.key_starts[page] : web.key_starts[page + 1]].tolist()
            targets = web.link_targets[web.link_starts[page] : web.link_starts[page + 1]].tolist()
            record = {
                "url": address_of(page),
                "text": " ".join(map(word_of, words)),
                "links": [{"url": address_of(target)} for target in targets],
            }
            file.write(json.dumps(record) + "\n")


def main() -> None:
    """Write the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write_records(topical(options.pages, options.seed), options.output)


if __name__ == "__main__":
    main()
