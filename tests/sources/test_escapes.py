"""Terminal escape sequences are taken out whole, from texts and from columns of texts."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.sources.arrow_batches import without_escapes
from cocite.sources.escapes import plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é 日本", "plain é 日本"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b[2J\x1b[1;1Hb", "ab"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07shown", "shown"),
        ("\x1b]8;;http://x.example/\x1b\\text\x1b]8;;\x1b\\", "text"),
        ("\x1bPdevice\x1b\\kept", "kept"),
        ("\x1b(Bkept", "kept"),
        ("\x1b]0;never closed", "]0;never closed"),
        ("\x1b[", "["),
        ("\x1b\x1b[m[m", "[m"),
        ("tab\tand\x00null", "tab and null"),
    ],
)
def test_sequences(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.lists(st.none() | st.text(alphabet="\x1b\x9b[];\\m1aé\x07( B"), max_size=5))
def test_columns_lose_the_same_sequences(texts: list[str | None]) -> None:
    found = without_escapes(pa.array(texts, pa.string())).to_pylist()
    assert [None if text is None else plain(text).split() for text in texts] == [
        None if text is None else plain(text).split() for text in found
    ]
    assert not any(text and ("\x1b" in text or "\x9b" in text) for text in found)


def test_columns_without_sequences_are_not_copied() -> None:
    for column in (pa.array(["a", None, "b\n"]), pa.nulls(3, pa.string()), pa.array([], pa.string())):
        assert without_escapes(column) is column
