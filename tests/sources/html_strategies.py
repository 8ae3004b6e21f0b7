"""Made-up HTML for property tests: pages as people write them, and tag soup as nobody should.

Both are made from a string of bytes, one byte for each choice: to draw that is a hundred times faster than to draw
every choice, and it shrinks as well.
"""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = ("alpha", "beta gamma", "Delta", " ", "x", "1,234", "&amp; more", "a &lt; b", "é", "日本", "|", "Words here.")
HREFS = ("/a", "b.html", "../c?x=1&amp;y=2", "#top", "http://other.example/", "mailto:m@x.example", "//s.example/p")
MORE = ("", ' rel="nofollow"', " title='a title'", ' class=x aria-label="a label"', " target=_blank")
IN_LINKS = (
    "<b>{}</b>",
    "<span>{}</span><br>more",
    '<img src=i alt="a picture">',
    "<svg><title>drawn</title></svg>",
    "",
)
ODDS = ("<br>", "<em>it</em>", "<!-- <a href=/no> -->", '<a name="here"></a>', "<script>'<a href=/no>'</script>")
AROUND = ("div", "section", "article", "main", "nav", "aside", "header", "footer", "blockquote")
DIVS = (
    '<div class="menu">',
    '<div id="sidebar">',
    '<div role="navigation">',
    '<div class="wide content">',
    "<div>",
)

SOUP_NAMES = "a div ul li table tr td th p h2 b nav dl dt dd section template noscript script style title select svg"
SOUP_FORMS = ("<{}>", "</{}>", "<{} x='>'>", "<{} ", '<{} href="/x">')
SOUP_BITS = (
    *('<a href="/x">', "<a href=/y>z</a>", "<!--", "-->", "<![CDATA[", "]]>", "<", ">", "&", "&#0;", "&#xD800;", "\0"),
    *(
        "\x1f",
        "</",
        "<!",
        "<?x",
        "'",
        '"',
        "=",
        "<base href=//[>",
        "words",
        " ",
        "\U0001f600",
        "<caption>",
        "<summary>",
    ),
)


class _Maker:
    """Makes HTML of choices; when these are used up, of the simplest things."""

    def __init__(self, choices: bytes) -> None:
        self.choices = iter(choices)

    def below(self, limit: int) -> int:
        return next(self.choices, 0) % limit

    def one(self, things: tuple[str, ...]) -> str:
        return things[self.below(len(things))]

    def link(self) -> str:
        inside = self.one(WORDS)
        if self.below(3) == 2:
            inside = self.one(IN_LINKS).format(inside)
        href, more = self.one(HREFS), self.one(MORE)
        return f'<a href="{href}"{more}>{inside}</a>' if self.below(2) else f"<a{more} href={href}>{inside}</a>"

    def inline(self) -> str:
        made = []
        for _ in range(self.below(5)):
            kind = self.below(8)
            if kind < 3:
                made.append(self.link())
            elif kind < 6:
                made.append(self.one(WORDS))
            else:
                made.append(f"<b>{self.one(WORDS)}</b>{'<br>' * self.below(2)}" if kind == 6 else self.one(ODDS))
        return " ".join(made)

    def blocks(self, depth: int) -> str:
        return "\n".join(self.block(depth) for _ in range(self.below(4)))

    def block(self, depth: int) -> str:
        kind = self.below(14 if depth < 5 else 5)
        end = self.below(2)
        if kind == 0:
            return f"<p>{self.inline()}</p>"
        if kind == 1:
            return self.inline()
        if kind == 2:
            level = 1 + self.below(6)
            return f"<h{level}>{self.inline()}</h{level}>"
        if kind == 3:
            return "<hr>"
        if kind == 4:
            return f"<p><strong>{self.one(WORDS)}</strong></p>"
        if kind < 8:
            name = self.one(AROUND)
            return f"<{name}>{self.blocks(depth + 1)}</{name}>"
        if kind == 8:
            return f"{self.one(DIVS)}{self.blocks(depth + 1)}</div>"
        if kind < 11:
            items = "".join(f"<li>{self.blocks(depth + 1)}" + "</li>" * end for _ in range(self.below(5)))
            return f"<ul>{items}</ul>" if kind == 9 else f"<ol>{items}</ol>"
        if kind == 11:
            pairs = ((self.inline(), self.blocks(depth + 1)) for _ in range(self.below(3)))
            return "<dl>" + "".join(f"<dt>{dt}{'</dt>' * end}<dd>{dd}{'</dd>' * end}" for dt, dd in pairs) + "</dl>"
        if kind == 12:
            return f"<details><summary>{self.inline()}</summary>{self.blocks(depth + 1)}</details>"
        return "<table>" + "".join(self.row(depth, end) for _ in range(self.below(4))) + "</table>"

    def row(self, depth: int, end: int) -> str:
        cells = []
        for _ in range(1 + self.below(3)):
            name = self.one(("td", "td", "th"))
            cells.append(f"<{name}>{self.blocks(depth + 1)}" + f"</{name}>" * end)
        return "<tr>" + "".join(cells) + "</tr>" * end

    def soup(self) -> str:
        made = []
        for choice in self.choices:
            if choice < 160:
                name = SOUP_NAMES.split()[choice % len(SOUP_NAMES.split())]
                form = self.one(SOUP_FORMS).format(name)
                made.append(form.upper() if choice % 7 == 0 else form)
            else:
                made.append(SOUP_BITS[choice % len(SOUP_BITS)])
        return "".join(made)


PAGES = st.binary(max_size=250).map(lambda choices: "\n".join(_Maker(choices[n::3]).blocks(0) for n in range(3)))
"""Pages whose tags nest as they should; end tags that may be left out sometimes are."""

SOUP = st.binary(max_size=80).map(lambda choices: _Maker(choices).soup())
"""Anything."""
