"""Small webs with words in them."""

from __future__ import annotations

from hypothesis import strategies as st

from cocite.sources.records import Link, Page

WORDS = ["alpha", "Beta", "gamma ray", "Ünïcode", "音乐", "C++", "", "  ", "x" * 400]
NAMES = [f"https://{host}.example/{path}" for host in "abc" for path in ("", "one", "two")]


@st.composite
def webs(draw: st.DrawFn) -> list[Page]:
    """Up to six pages with texts and links between them."""
    words, names = st.sampled_from(WORDS), st.sampled_from(NAMES)
    links = st.builds(Link, names, words, st.integers(-1, 2).map(lambda b: b if b >= 0 else None), context=words)
    pages = st.builds(
        Page,
        names,
        words,
        text=st.lists(words, max_size=6).map(" ".join),
        links=st.lists(links, max_size=6),
        headings=st.lists(words, max_size=3),
    )
    return draw(st.lists(pages, min_size=1, max_size=6, unique_by=lambda page: page.url))
