"""Words by number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.words.stored import Vocabulary


@given(st.sets(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6), max_size=12))
def test_numbers_and_words(words: set[str]) -> None:
    ordered = sorted(words)
    vocabulary = Vocabulary.of(ordered)
    assert list(vocabulary) == ordered
    assert [vocabulary.find(word) for word in ordered] == list(range(len(ordered)))
    assert vocabulary.find("\U0010ffff" * 7) is None
    assert vocabulary[:2] == ordered[:2]
    with pytest.raises(IndexError):
        vocabulary[len(ordered)]


def test_nearest() -> None:
    words = ["pass", "passage", "password", "passwords", "pasword", "zebra"]
    vocabulary, frequency = Vocabulary.of(words), np.array([9, 8, 5, 7, 1, 9], np.uint32)
    # One edit away, the most frequent first; then what begins with ever less of it.
    assert vocabulary.nearest("passwrd", frequency) == ["password", "passwords", "pass", "passage", "pasword"]
    assert vocabulary.nearest("passwo", frequency, 2) == ["passwords", "password"]
    assert vocabulary.nearest("qqq", frequency) == []
    assert vocabulary.nearest("", frequency) == []
    assert vocabulary.nearest("x" * 500, frequency) == []
    assert Vocabulary.of([]).nearest("word", np.zeros(0, np.uint32)) == []
