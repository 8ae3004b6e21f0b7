"""Keys can be turned back, and sort so that what belongs together is together; spellings can be rebuilt."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.errors import BadAddress
from cocite.pages.address import parse
from cocite.pages.key import (
    APART,
    BARE,
    HTTP,
    INDEX_ENDINGS,
    SLASH,
    UNUSABLE,
    WWW,
    from_key,
    key,
    shown,
    spelling_flags,
)
from tests.pages.spellings import addresses


@pytest.mark.parametrize(
    ("page", "sort_key"),
    [
        ("nytimes.com", "com,nytimes)"),
        ("nytimes.com/a/b", "com,nytimes)\x03a\x03b"),
        ("blog.example.com:8080/a/b?c=1/2?d", "com,example,blog):8080\x03a\x03b\x02c=1/2?d"),
        ("example.com?a=1", "com,example)\x02a=1"),
        ("example.com/a#!/b?c", "com,example)\x03a\x01!/b?c"),
        ("example.com?a=1#!/b#c", "com,example)\x02a=1\x01!/b#c"),
        ("10.0.0.1/a", "10.0.0.1)\x03a"),
        ("[::1]:80/a", "[::1]):80\x03a"),
        ("localhost", "localhost)"),
        ("name:42", '\x03"42'),
        ("name:0", "\x03!0"),
        ("name:007", "\x04007"),
        ("name:" + "9" * 40, "\x03H" + "9" * 40),
        ("name:" + "9" * 41, "\x04" + "9" * 41),
        ("name:Ada/Lovelace", "\x04Ada/Lovelace"),
    ],
)
def test_keys(page: str, sort_key: str) -> None:
    assert key(page) == sort_key
    assert from_key(sort_key) == page


def test_order() -> None:
    """Names by number, then hosts under their domain, each address before what is under it, and that before others."""
    pages = [
        "name:9",
        "name:10",
        "name:1x",
        "10.0.0.1",
        "example.com",
        "example.com?q",
        "example.com/alice",
        "example.com/alice#!x",
        "example.com/alice?tab=1",
        "example.com/alice/p",
        "example.com/alice/p/q",
        "example.com/alice-b",
        "example.com:8080",
        "a.example.com",
        "example-a.com",
        "nytimes.com",
        "example.org",
    ]
    assert sorted(pages, key=lambda page: key(page).encode()) == pages


@pytest.mark.parametrize(
    ("spelling", "page", "flags"),
    [
        ("https://example.org/", "example.org", SLASH),
        ("http://www.example.org/", "example.org", HTTP | WWW | SLASH),
        ("https://example.org/a", "example.org/a", 0),
        ("https://example.org/a/?b=1", "example.org/a?b=1", SLASH),
        ("https://example.org/a/index.html", "example.org/a", 1 << 4),
        ("http://www.example.org/Default.aspx", "example.org", HTTP | WWW | 5 << 4),
        ("www.example.org", "example.org", BARE | WWW),
        ("https://www.com/", "www.com", SLASH),
        ("42", "name:42", BARE),
        ("https://github.com/Alice", "github.com/alice", None),
        ("https://example.org/index.jsp", "example.org", None),
        ("https://example.org//", "example.org", None),
    ],
)
def test_spelling_flags(spelling: str, page: str, flags: int | None) -> None:
    assert spelling_flags(page, spelling) == flags
    if flags is not None:
        assert shown(page, flags) == spelling


@given(addresses())
@settings(max_examples=300, deadline=None)
def test_round_trips(address: str) -> None:
    try:
        page = parse(address)
    except BadAddress:
        return
    assert from_key(key(page.canonical)) == page.canonical
    assert "\x00" not in key(page.canonical)
    flags = spelling_flags(page.canonical, page.shown)
    assert flags is None or (0 <= flags < APART and shown(page.canonical, flags) == page.shown)


@given(st.text(), st.integers(0, UNUSABLE))
def test_damaged_stores_do_not_crash(text: str, flags: int) -> None:
    assert isinstance(from_key(text), str)
    assert isinstance(key(text), str)
    assert isinstance(shown(text, flags), str)


def test_index_endings_are_index_names() -> None:
    assert all(parse("https://example.org/a" + ending).canonical == "example.org/a" for ending in INDEX_ENDINGS)
