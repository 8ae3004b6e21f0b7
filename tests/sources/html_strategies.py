"""Made-up HTML for property tests: pages as people write them, and tag soup as nobody should."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = st.sampled_from(["alpha", "beta gamma", "Delta", " ", "x", "1,234", "&amp; more", "a &lt; b", "é", "日本", "|"])
HREFS = st.sampled_from(["/a", "b.html", "../c?x=1&amp;y=2", "#top", "http://other.example/", "mailto:m@x.example", "//s.example/p"])


def _element(name: str, inside: str, end: bool = True, attributes: str = "") -> str:
    return f"<{name}{attributes}>{inside}" + (f"</{name}>" if end else "")


@st.composite
def links(draw: st.DrawFn) -> str:
    """A link: with text, markup, an image, a title, a rel."""
    href = draw(HREFS)
    inside = draw(
        st.one_of(
            WORDS,
            WORDS.map(lambda text: f"<b>{text}</b>"),
            WORDS.map(lambda text: f"<span>{text}</span><br>more"),
            st.just('<img src="i.png" alt="a picture">'),
            st.just("<svg><title>drawn</title></svg>"),
            st.just(""),
        )
    )
    more = draw(st.sampled_from(["", ' rel="nofollow"', " title='a title'", ' class=x aria-label="a label"', " target=_blank"]))
    return f'<a href="{href}"{more}>{inside}</a>' if draw(st.booleans()) else f"<a{more} href={href}>{inside}</a>"


INLINE = st.lists(
    st.one_of(WORDS, links(), WORDS.map(lambda text: f"<b>{text}</b>"), st.sampled_from(["<br>", "<em>it</em>", "<!-- <a href=/no> -->", '<a name="here"></a>'])),
    max_size=4,
).map(" ".join)


def _row(cells: list[tuple[str, str]], end: bool) -> str:
    return _element("tr", "".join(_element(name, inside, end) for name, inside in cells), end)


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    many = st.lists(inner, max_size=4).map("\n".join)
    ends = st.booleans()
    cells = st.lists(st.tuples(st.sampled_from(["td", "td", "th"]), many), min_size=1, max_size=3)
    return st.one_of(
        st.builds(_element, st.sampled_from(["div", "section", "article", "main", "nav", "aside", "header", "footer", "blockquote"]), many),
        st.builds(
            _element,
            st.sampled_from(["div", "ul", "section"]),
            many,
            st.just(True),
            st.sampled_from([' class="menu"', ' id="sidebar"', ' role="navigation"', ' class="wide content"']),
        ),
        st.tuples(st.sampled_from(["ul", "ol"]), st.lists(many, max_size=4), ends).map(
            lambda made: _element(made[0], "".join(_element("li", item, made[2]) for item in made[1]))
        ),
        st.tuples(st.lists(st.tuples(INLINE, many), max_size=3), ends).map(
            lambda made: _element("dl", "".join(_element("dt", dt, made[1]) + _element("dd", dd, made[1]) for dt, dd in made[0]))
        ),
        st.tuples(st.lists(cells, max_size=3), ends).map(
            lambda made: _element("table", "".join(_row(row, made[1]) for row in made[0]))
        ),
        st.tuples(INLINE, many).map(lambda made: f"<details><summary>{made[0]}</summary>{made[1]}</details>"),
    )


BLOCKS = st.recursive(
    st.one_of(
        INLINE.map(lambda inside: f"<p>{inside}</p>"),
        INLINE,
        st.tuples(st.integers(1, 6), INLINE).map(lambda made: f"<h{made[0]}>{made[1]}</h{made[0]}>"),
        st.just("<hr>"),
        WORDS.map(lambda text: f"<p><strong>{text}</strong></p>"),
    ),
    _extend,
    max_leaves=25,
)
PAGES = st.lists(BLOCKS, max_size=6).map("\n".join)
"""Pages whose tags nest as they should; end tags that may be left out sometimes are."""

SOUP = st.lists(
    st.one_of(
        st.sampled_from("a div ul li table tr td th p h2 b nav dl dt dd section template noscript script style title select".split())
        .flatmap(lambda name: st.sampled_from([f"<{name}>", f"</{name}>", f"<{name.upper()} x='>'>", f"<{name} "])),
        st.sampled_from(['<a href="/x">', "<a href=/y>z</a>", "<!--", "-->", "<![CDATA[", "]]>", "<", ">", "&", "&#0;", "&#xD800;", "\0", "\x1f", "</", "<!", "<?x", "'", '"', "=", "<base href=//[>"]),
        st.text(max_size=5),
    ),
    max_size=40,
).map("".join)
"""Anything."""
