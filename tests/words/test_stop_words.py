"""Stop words, and languages by them."""

from __future__ import annotations

import pytest

from cocite.words.tokens import language_of, languages, stop_words, terms_of

SENTENCES = {
    "en": "This is not what we had in mind when the library was opened to all of them",
    "de": "Der schnelle Fuchs springt über den faulen Hund und das ist alles was wir heute zu sagen haben",
    "fr": "Le renard saute par-dessus le chien et c'est tout ce que nous avons à dire pour vous aujourd'hui",
    "es": "El zorro salta sobre el perro y eso es todo lo que tenemos que decir hoy para todos ustedes",
    "pl": "Lis przeskakuje nad leniwym psem i to jest wszystko, co mamy dzisiaj do powiedzenia dla was tutaj",
    "ru": "Лиса прыгает через ленивую собаку, и это все, что мы можем вам сказать сегодня",
    "fa": "روباه از روی سگ تنبل می پرد و این تمام چیزی است که امروز برای گفتن داریم",
    "he": "השועל החום המהיר קופץ מעל הכלב העצלן וזה כל מה שיש לנו לומר היום",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_the_language_of_a_sentence(language: str) -> None:
    assert language_of(set(terms_of(SENTENCES[language]))) == language


@pytest.mark.parametrize("text", ["", "Ardour Openclipart Wikimedia", "Design Design", "data store care dog", "音乐"])
def test_names_count_as_english(text: str) -> None:
    assert language_of(set(terms_of(text))) == "en"


def test_a_recorded_language_is_used_if_it_is_known() -> None:
    german = set(terms_of(SENTENCES["de"]))
    assert language_of(german, "fr") == "fr"
    assert language_of(german, "xx") == language_of(german, "") == "de"


def test_lists_are_folded_as_texts_are() -> None:
    assert {"the", "don", "https"} <= stop_words("en")
    assert {"uber", "fur", "und", "https"} <= stop_words("de")
    assert {"一个", "的"} & stop_words("en") == {"一个"}  # a particle isn't a word here
    assert "и" not in stop_words("ru")  # single letters are none either
    assert "что" in stop_words("en")  # it cannot be an English word
    assert "что" not in stop_words("de")
    assert "computation" not in stop_words("en")
    assert languages() >= set(SENTENCES)
