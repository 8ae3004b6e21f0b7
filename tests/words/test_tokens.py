"""Words of texts in any script."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.words import tokens
from cocite.words.search import MAX_CHARACTERS, MAX_CLAUSES, clauses_of
from cocite.words.tokens import fold, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Static-Site  GENERATOR, v2!", ["static", "site", "generator", "v2"]),
        ("Zürich Straße İstanbul", ["zurich", "strasse", "istanbul"]),
        ("e\u0301te\u0301 ｆｕｌｌ", ["ete", "full"]),  # accents apart from their letters, wide letters
        ("在线音乐 v2", ["在", "线", "音", "乐", "v2"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("C++11, C# and F#; issue #5", ["cplusplus", "11", "csharp", "and", "fsharp", "issue", "5"]),
        ("a+b abc++ abc#", ["a", "b", "abc", "abc"]),
        ("a" * 79 + " " + "b" * 80, ["a" * 79]),
        ("\ud800lone\x00nul", ["lone", "nul"]),
        ("…—!?", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(st.text())
def test_any_text_has_words_that_stay_as_they_are(text: str) -> None:
    words = words_of(text)
    assert all(words)
    assert words_of(" ".join(word for word in words if word.isascii())) == [word for word in words if word.isascii()]


@given(st.text(st.one_of(st.characters(), st.sampled_from("aC_9 #+\u0301\u05b0\u2f00ﾊดज़、"))))
def test_spelling_is_normalised_in_any_script(text: str) -> None:
    signed = re.sub(r"(?<![^\W_])([A-Za-z])(\+\+|#)", lambda m: m[1] + {"++": "plusplus ", "#": "sharp "}[m[2]], text)
    normal = unicodedata.normalize("NFKC", signed.encode("utf-8", "replace").decode())
    without_marks = "".join(c for c in normal if not tokens._MARKS.match(c))
    folded, unspaced = fold(text)
    assert folded == without_marks
    assert unspaced or not any(tokens._UNSPACED.match(c) or tokens._RUN.match(c) for c in folded)


@pytest.mark.parametrize(
    ("question", "clauses"),
    [
        ("password manager", [("password",), ("manager",)]),
        ('"static site" generator', [("static", "site"), ("generator",)]),
        ("“static site” x", [("static", "site"), ("x",)]),
        ("node.js 音乐", [("node", "js"), ("音", "乐")]),
        ('an "open quote', [("an",), ("open",), ("quote",)]),
        ("t:x AND (y OR -z)^2 ~ * [a \\", [("t", "x"), ("and",), ("y",), ("or",), ("z", "2"), ("a",)]),
        ("x X x", [("x",)]),
        ('"" " " !!', []),
        ("", []),
    ],
)  # fmt: skip
def test_a_question_is_words_and_phrases(question: str, clauses: list[tuple[str, ...]]) -> None:
    assert clauses_of(question) == clauses


def test_long_questions_are_cut() -> None:
    assert clauses_of(" ".join(map(str, range(1000)))) == [(str(i),) for i in range(MAX_CLAUSES)]
    assert clauses_of(" " * MAX_CHARACTERS + "x") == []
