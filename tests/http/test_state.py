"""What a page shows, and its address: one gives the other back."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.http.page.state import OF_PAGES, PATHS, VIEW_OPERATIONS, State, addresses_of, looks_like_words, state_of

urls = st.lists(
    st.from_regex(r"https://[a-z]{1,8}\.example/[a-z0-9%&=?#+]{0,8}", fullmatch=True), unique=True, max_size=4
)


@given(st.sampled_from(OF_PAGES), urls, urls, st.integers(0, 100), st.integers(0, 9), st.booleans(), st.booleans())
def test_an_address_contains_the_whole_state(
    view: str, asked: list[str], unwanted: list[str], k: int, per_site: int, own: bool, group: bool
) -> None:
    state = State(
        view,
        tuple(asked),
        tuple(url for url in unwanted if url not in asked),
        methods=("companion(parents=5)",),
        k=0 if k == VIEW_OPERATIONS[view][1] else k,
        options=tuple(
            pair
            for pair in (("per_site", str(per_site)), ("not_own_site", "true"), ("lang", "de"), ("group", "true"))
            if {"per_site": per_site, "not_own_site": own, "lang": group, "group": group and view == "related"}[pair[0]]
        ),
    )
    where = urlsplit(state.address())
    assert where.path == PATHS[view]
    assert state_of(view, where.query.encode()) == state


@given(st.lists(st.tuples(st.sampled_from(["url", "not", "q", "k", "method", "per_site", "since", "x"]), st.text())))
def test_any_address_is_a_valid_state(pairs: list[tuple[str, str]]) -> None:
    for view in PATHS:
        state = state_of(view, urlencode(pairs).encode())
        assert 1 <= state.shown <= 100
        assert not set(state.urls) & set(state.unwanted)
        again = urlsplit(state.address())
        assert state_of(view, again.query.encode()).address() == state.address()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("nytimes.com", ["nytimes.com"]),
        (" a.example\t b.example/x?y ", ["a.example", "b.example/x?y"]),
        ("static site generator", ["static site generator"]),
        ("what is node.js", ["what is node.js"]),
    ],
)
def test_a_field_has_addresses_or_words(text: str, found: list[str]) -> None:
    assert addresses_of(text) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nytimes.com", False),
        ("https://x", False),
        ("localhost:80/x", False),
        ("bbc.co.uk/news?a=b", False),
        ("python", True),
        ("static site", True),
        ("C++ rocks", True),
        ("e.g. this", True),
    ],
)
def test_text_that_is_not_an_address_is_words(text: str, words: bool) -> None:
    assert looks_like_words(text) is words


def test_links_for_programs_leave_unsupported_parameters_off() -> None:
    state = State(
        "compare", ("a.example",), ("b.example",), methods=("lli",), options=(("per_site", "2"), ("group", "true"))
    )
    assert state.program() == "/api/compare?url=a.example&method=lli&per_site=2&k=10"
    assert State("keywords", ("a.example",)).program() == "/api/keywords?url=a.example"
    assert State("picture", ("a.example",), k=5).program(format="csv") == "/api/related?url=a.example&k=5&format=csv"
