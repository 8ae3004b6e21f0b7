"""Words that can be keywords, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.words.tokens import analyzer, different_terms, fold, terms_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("C++ and Zürich, 3D in 2019: a b", ["cplusplus", "and", "zurich", "3d", "in"]),
        ("数据库的设计", ["数据", "据库", "设计"]),  # two by two, cut at a particle
        ("大 学", ["大", "学"]),  # alone they stay
        ("日本語のテキストをテストする", ["日本", "本語", "テキスト", "テスト"]),
        ("ｱｲﾃﾑ", ["アイテム"]),  # one spelling of wide and narrow characters
        ("데이터베이스 관리", ["데이터베이스", "관리"]),
        ("ภาษาไทย", ["ภาษา", "ษาไท", "ไทย"]),
        ("שָׁלוֹם עולם", ["שלום", "עולם"]),  # without points
        ("مرحبًا بالعالم", ["مرحبا", "بالعالم"]),  # without vowel signs
        ("می‌خواهم", ["میخواهم"]),  # a joiner does not part words
        ("इत्यादि", ["इतयादि"]),  # one word, not two
        ("", []),
        ("… 12 345 !", []),
        ("\ud800 broken", ["broken"]),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert terms_of(text) == terms
    assert different_terms(text) == set(terms)


@given(st.text(max_size=60))
def test_any_text_gives_words_that_give_themselves(text: str) -> None:
    for term in terms_of(text):
        assert term
        assert not term.isdigit()
        assert not any(character.isspace() for character in term)
        again = terms_of(term)
        assert again == [term] or len(again) != 1


@given(st.text(st.characters(max_codepoint=127), max_size=200) | st.text("aB1 ", min_size=70, max_size=90))
def test_ascii_has_the_words_that_the_tokenizer_finds(text: str) -> None:
    words = analyzer().analyze(fold(text)[0])
    assert terms_of(text) == [word for word in words if len(word) > 1 and not word.isdigit()]
    assert different_terms(text) == set(terms_of(text))
