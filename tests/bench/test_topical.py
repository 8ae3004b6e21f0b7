"""The generated web about topics is the same for the same seed and has the shape that its docstring promises."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cocite
from cocite.kernels.words.keyword_pairs import Rows
from cocite.words.relevance import count_relevance
from topical import Topical, address_of, topical, word_of, write_records


@pytest.fixture(scope="module")
def web() -> Topical:
    return topical(4000, seed=3)


def test_the_same_seed_gives_the_same_web(web: Topical) -> None:
    again, other = topical(4000, seed=3), topical(4000, seed=4)
    assert all(np.array_equal(a, b) for a, b in zip(web, again, strict=True))
    assert not np.array_equal(web.key_ids, other.key_ids)


def test_different_keywords_and_links(web: Topical) -> None:
    keys, links = web.key_ids.reshape(4000, 20).astype(int), web.link_targets.reshape(4000, 20).astype(int)
    for rows in (keys, links):
        assert (np.diff(rows, axis=1) > 0).all()
    assert int(keys.max()) < web.vocabulary
    assert int(links.max()) < 4000
    assert not (links == np.arange(4000)[:, None]).any()
    assert web.key_starts.tolist() == web.link_starts.tolist() == list(range(0, 80_001, 20))


def test_words_come_in_bursts_and_links_stay_in_topics() -> None:
    web = topical(4000, seed=3, topics=20)
    own = np.repeat(web.topic, 20)
    assert 0.6 < (web.topic[web.link_targets] == own).mean() < 0.85
    frequency = np.bincount(web.key_ids, minlength=web.vocabulary)
    assert frequency[0] == frequency.max() > 1000  # the most frequent word
    inside = np.bincount(web.key_ids[own == 0], minlength=web.vocabulary)
    share, overall = inside / inside.sum(), frequency / frequency.sum()
    assert int(np.count_nonzero((inside >= 5) & (share > 3 * overall))) > 50


@pytest.mark.parametrize(("pages", "links"), [(1, 0), (2, 1), (5, 4), (30, 20)])
def test_tiny_webs(pages: int, links: int) -> None:
    web = topical(pages, topics=2, vocabulary=8)
    assert np.diff(web.key_starts).tolist() == [8] * pages
    assert np.diff(web.link_starts).tolist() == [links] * pages


def test_records(tmp_path: Path) -> None:
    web = topical(3, vocabulary=4)
    write_records(web, tmp_path)
    records = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert records[0] == {
        "url": "https://example.org/0",
        "text": "w0 w1 w2 w3",
        "links": [{"url": "https://example.org/1"}, {"url": "https://example.org/2"}],
    }


def test_a_store_of_the_records_has_these_keywords(place: Path) -> None:
    web = topical(60, topics=3, vocabulary=300)
    write_records(web, place)
    cocite.build([place / "pages.jsonl"], place / "web.cocite")
    store = cocite.open(place / "web.cocite")
    number = [store.graph.find(address_of(page)) for page in range(60)]
    for page in range(60):
        own = web.key_ids[web.key_starts[page] : web.key_starts[page + 1]].tolist()
        assert {store.keywords.words[word] for word, _ in store.keywords.ordered(number[page])} == set(
            map(word_of, own)
        )
    same = count_relevance(Rows(web.key_starts, web.key_ids), 300, Rows(web.link_starts, web.link_targets))
    found = store.relevance
    assert (found.support, found.mutual, found.confidence) == (same.support, same.mutual, same.confidence)
    for a, b in ((0, 1), (5, 250), (17, 3)):
        ours = store.keywords.words.find(word_of(a)), store.keywords.words.find(word_of(b))
        if None not in ours:
            one, other = ours
            assert found.all_similar(one)[other] == same.all_similar(a)[b]
            assert found.all_led_to(one)[other] == same.all_led_to(a)[b]
