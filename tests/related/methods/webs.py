"""Random webs for methods: few sites, many links among few pages, mirrors, blocks and flags."""

from __future__ import annotations

from hypothesis import strategies as st

from cocite.sources.records import Link, Page

LISTS = [f"https://list{n}.example/{path}" for n in range(6) for path in ("", "more", "more/links.html")]
PAGES = [f"https://page{n}.example/" for n in range(12)]
DEEP = [f"https://page{n}.example/{path}" for n in range(4) for path in ("a", "a/b", "a/b?q=1")]
HOMES = [f"https://github.com/user{n}/project" for n in range(4)] + ["https://github.com/user0/other"]
SUBDOMAINS = [f"https://{name}.page1.example/" for name in ("blog", "docs")]
ALL = LISTS + PAGES + DEEP + HOMES + SUBDOMAINS

links = st.builds(
    Link,
    url=st.sampled_from(ALL),
    block=st.none() | st.integers(0, 3),
    rel=st.sampled_from(["", "", "", "nofollow"]),
    boilerplate=st.sampled_from([False, False, False, True]),
)


@st.composite
def webs(draw: st.DrawFn) -> list[Page]:
    """Lists that link to pages and to each other; some are mirrors of others, but for a link."""
    owners = draw(st.lists(st.sampled_from(ALL), min_size=2, max_size=24, unique=True))
    pages = [Page(url, links=draw(st.lists(links, min_size=1, max_size=16))) for url in owners]
    for _ in range(draw(st.integers(0, 3))):
        first, second = draw(st.permutations(range(len(pages))))[:2]
        many = [Link(url, block=k % 3) for k, url in enumerate(draw(st.permutations(ALL))[:22])]
        pages[first].links, pages[second].links = many, many[: draw(st.integers(20, 22))]
    return pages
