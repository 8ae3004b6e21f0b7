"""Markdown files and folders as pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocite.errors import BadSource
from cocite.sources.collections.markdown import parse, read_markdown
from cocite.sources.kinds import ReadOptions
from cocite.sources.records import Link, ReadReport

HERE = "https://example.org/notes/list.md"

LIST = """\
See [the guide](guide.md) first.

# My *favourite* papers [![Awesome](https://awesome.example/badge.svg)](https://awesome.example)

- [Contents](#dailies) and [mail](mailto:me@example.org)

Dailies
-------

- [The New York Times](https://www.nytimes.com/ "NYT") — *of record*, [Le Monde][lm] and <https://www.zeit.de/>.
  Also good: [BBC][].
- ![logo](logo.png) plain, https://www.elpais.com/ in Spanish

## Empty section

## Weeklies ##

1. [The Economist](https://www.economist.com/)
   1. nested [Der Spiegel](https://www.spiegel.de/) is German
2. <a href="https://www.newyorker.com/?a=1&amp;b=2">The <b>New</b> Yorker</a>: long reads

| paper | town |
|---|---|
| [Tribune](https://www.chicagotribune.com/) | Chicago |

[lm]: https://www.lemonde.fr/ "Paris"
[bbc]: <https://www.bbc.co.uk/news>
"""


def test_a_list_of_links_as_a_page() -> None:
    report = ReadReport()
    page = parse(LIST, HERE, report)
    assert page.url == HERE
    assert page.title == "My favourite papers"
    assert page.headings == ["", "My favourite papers", "Dailies", "Weeklies"]
    assert page.links == [
        Link("https://example.org/notes/guide.md", "the guide", 0, "first."),
        Link("https://awesome.example", "Awesome", 1),
        Link("https://www.nytimes.com/", "The New York Times", 2, "of record,"),
        Link("https://www.lemonde.fr/", "Le Monde", 2, "and"),
        Link("https://www.zeit.de/", "https://www.zeit.de/", 2, "Also good:"),
        Link("https://www.bbc.co.uk/news", "BBC", 2),
        Link("https://www.elpais.com/", "https://www.elpais.com/", 2, "in Spanish"),
        Link("https://www.economist.com/", "The Economist", 3),
        Link("https://www.spiegel.de/", "Der Spiegel", 3, "is German"),
        Link("https://www.newyorker.com/?a=1&b=2", "The New Yorker", 3, "long reads"),
        Link("https://www.chicagotribune.com/", "Tribune", 3, "Chicago"),
    ]
    assert report.read["link to something other than a web page"] == 2
    assert "nested Der Spiegel is German" in page.text


def test_html_headings_begin_blocks_too() -> None:
    text = '<h1 align="center">Title</h1>\n<p><a href="/a">A</a><h2>Second</h2><a href="/b"><img alt="B"></a></p>\n'
    page = parse(text, HERE, ReadReport())
    assert page.title == "Title"
    assert page.headings == ["Title", "Second"]
    assert page.links == [Link("https://example.org/a", "A", 0), Link("https://example.org/b", "B", 1)]


def test_a_link_to_the_page_itself_is_skipped_only_with_a_fragment() -> None:
    page = parse("[top](list.md#top) [self](list.md) [other](other.md#top)", HERE, ReadReport())
    assert [link.url for link in page.links] == [HERE, "https://example.org/notes/other.md#top"]


@pytest.mark.parametrize(
    "front",
    [
        '---\nurl: https://example.org/x\ntitle: "A: title"\ndate: 2024-05-06 # then\nlang: de\ntags:\n  - a\n---\n',
        "---\r\nurl: https://example.org/x\r\nTitle: 'A: title'\r\ncaptured: 2024-05-06\r\nlang: de\r\n...\r\n",
        '+++\nurl = "https://example.org/x"\ntitle = "A: title"\ndate = 2024-05-06\nlang = "de"\n[menu]\na = 1\n+++\n',
    ],
)
def test_front_matter(front: str) -> None:
    page = parse(front + "[a](a)\n", None, ReadReport())
    assert (page.url, page.title, page.captured, page.lang) == ("https://example.org/x", "A: title", "2024-05-06", "de")
    assert [link.url for link in page.links] == ["https://example.org/a"]
    assert page.text == "a"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Export PDFs\n---\nSome text.\n\n# Introduction\n", "Export PDFs"),
        ("---\ntitle: Export PDFs\n---\n## First\n\n# Introduction\n", "Export PDFs"),
        ("---\ntitle: Links\n---\n# Links of a club\n", "Links of a club"),
        ("Some text.\n\n# Introduction\n\n# More\n", "Introduction"),
        ("# One\n\n# Two\n", "One"),
    ],
)
def test_a_title_is_that_of_the_whole_page(text: str, title: str) -> None:
    assert parse(text, HERE, ReadReport()).title == title


def test_front_matter_may_be_broken_or_none_at_all() -> None:
    report = ReadReport()
    assert parse("+++\nurl = \n+++\ntext", HERE, report).text == "text"
    assert parse("---\ndate: yesterday\n---\ntext", HERE, report).captured == ""
    assert report.skipped == {
        "front matter that is not valid TOML": 1,
        "front matter with a date that is not an ISO date": 1,
    }
    assert parse("---\n[a](a)\n\n---\n", HERE, report).links[0].url == "https://example.org/notes/a"
    assert parse("---\nurl: /elsewhere\n---\n", HERE, report).url == "https://example.org/elsewhere"
    assert parse("# Own\n\ntext", HERE, report).title == "Own"


def test_addresses_of_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "b" / "two words.md").write_text("[up](../a.markdown)")
    (tmp_path / "a.markdown").write_text("[down](b/two%20words.md)")
    (tmp_path / ".git" / "c.md").write_text("hidden")
    (tmp_path / "d.txt").write_text("other")
    pages = list(read_markdown(tmp_path, ReadReport(), ReadOptions("https://example.org/notes")))
    assert [page.url for page in pages] == [
        "https://example.org/notes/a.markdown",
        "https://example.org/notes/b/two%20words.md",
    ]
    assert [page.links[0].url for page in pages] == [pages[1].url, pages[0].url]
    file = tmp_path / "a.markdown"
    assert next(read_markdown(file, ReadReport(), ReadOptions("https://x.org/README"))).url == "https://x.org/README"
    assert next(read_markdown(file, ReadReport(), ReadOptions("https://x.org/"))).url == "https://x.org/a.markdown"
    with pytest.raises(BadSource, match=r"a.markdown has no address: use --base"):
        list(read_markdown(file, ReadReport()))
    with pytest.raises(BadSource, match="Invalid --base"):
        list(read_markdown(file, ReadReport(), ReadOptions("example.org")))


def test_an_empty_folder_and_encodings(tmp_path: Path) -> None:
    report = ReadReport()
    assert list(read_markdown(tmp_path, report, ReadOptions(HERE))) == []
    assert report.skipped == {"source without records": 1}
    (tmp_path / "a.md").write_bytes("# Café".encode("cp1252"))
    (tmp_path / "b.md").write_bytes("# Café".encode("utf-16"))
    (tmp_path / "c.md").write_bytes(b"\xef\xbb\xbf# Caf\xc3\xa9")
    assert [page.title for page in read_markdown(tmp_path, report, ReadOptions(HERE))] == ["Café"] * 3
