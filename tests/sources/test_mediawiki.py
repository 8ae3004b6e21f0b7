"""MediaWiki dumps: articles, redirects, sections, judgements; damaged, hostile and compressed files."""

from __future__ import annotations

import bz2
import io
import json
import time
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
import zstandard

from cocite.errors import BadSource
from cocite.sources.kinds import detect_kind
from cocite.sources.open_source import open_source
from cocite.sources.records import Page, ReadReport
from cocite.sources.wikis import mediawiki
from cocite.sources.wikis.mediawiki import ReadOptions, WikiSite, prefix_of, read_mediawiki
from tests.cli.conftest import run
from tests.sources.timing import without_collection

BASE = "https://w.example/wiki/"
HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
<siteinfo><sitename>W</sitename><dbname>w</dbname><base>https://w.example/wiki/Hauptseite</base>
<generator>MediaWiki 1.44</generator><case>first-letter</case><namespaces><namespace key="-2">Medium</namespace>
<namespace key="0" /><namespace key="1">Diskussion</namespace><namespace key="6">Datei</namespace>
<namespace key="10">Vorlage</namespace><namespace key="14">Kategorie</namespace></namespaces></siteinfo>
"""


def page(title: str, text: str = "", ns: int = 0, redirect: str = "", extra: str = "") -> str:
    target = f"<redirect title={quoteattr(redirect)} />" if redirect else ""
    return (
        f"<page><title>{escape(title)}</title><ns>{ns}</ns><id>1</id>{target}<revision><id>2</id>"
        "<timestamp>2024-05-06T07:08:09Z</timestamp><contributor><username>u</username></contributor>"
        f"<model>wikitext</model><format>text/x-wiki</format>{extra}"
        f'<text bytes="1" xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


def dump(*pages: str, head: str = HEAD) -> str:
    return f"{head}{''.join(pages)}</mediawiki>\n"


def read(
    folder: Path, content: str | bytes, report: ReadReport | None = None, name: str = "dump.xml", **options: object
) -> list[Page]:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_mediawiki(path, report or ReadReport(), ReadOptions(**options)))  # type: ignore[arg-type]


def test_an_article_has_its_links_by_section(tmp_path: Path) -> None:
    text = (
        "'''Bern''' at the [[Aare]] {{Infobox|[[Schweiz]]}}\n== Lage ==\nNear [[thun (Stadt)|Thun]] and [[Bern]]\n"
        "== Leer ==\nnothing\n== Siehe auch ==\n* [[Zürich]]\n== Weblinks ==\n* [https://bern.ch/ Site]\n"
        "[[Kategorie:Ort]]"
    )
    (bern,) = read(tmp_path, dump(page("Bern", text)))
    assert (bern.url, bern.title, bern.lang, bern.captured) == (f"{BASE}Bern", "Bern", "de", "2024-05-06T07:08:09Z")
    assert bern.headings == ["", "Lage", "Siehe auch", "Weblinks"]
    assert [
        (link.url.removeprefix(BASE), link.text, link.block, link.rel, link.boilerplate) for link in bern.links
    ] == [
        ("Aare", "Aare", 0, "", False),
        ("Schweiz", "Schweiz", 0, "", True),
        ("Thun_(Stadt)", "Thun", 1, "", False),
        ("Z%C3%BCrich", "Zürich", 2, "see-also", False),
        ("https://bern.ch/", "Site", 3, "", False),
    ]
    assert bern.text.startswith("Bern at the Aare")
    assert read(tmp_path, dump(page("Bern", text)), text=False)[0].text == ""


def test_redirects_are_aliases_and_other_pages_are_skipped(tmp_path: Path) -> None:
    report = ReadReport()
    pages = read(
        tmp_path,
        dump(
            page("Bern", "x"),
            page("Berne", "#REDIRECT [[Bern#Lage]]", redirect="Bern#Lage"),
            page("X", redirect="Datei:Y.png"),
            page("Vorlage:T", "[[A]]", ns=10),
            page("Data", "{}", extra="<model>json</model>"),
        ),
        report,
    )
    assert [(each.url, each.redirect) for each in pages] == [(f"{BASE}Bern", ""), (f"{BASE}Berne", f"{BASE}Bern")]
    assert report.read["page outside the articles of the wiki, skipped"] == 1
    assert report.read["page that isn't wikitext, skipped"] == 1
    assert report.read["redirect to something other than an article"] == 1
    assert not report.skipped


def test_old_dumps_without_numbers_of_namespaces(tmp_path: Path) -> None:
    content = dump(page("Vorlage:T", "[[A]]"), page("Alien: 3", "[[A]]")).replace("<ns>0</ns>", "")
    assert [each.title for each in read(tmp_path, content)] == ["Alien: 3"]


def test_the_newest_revision_counts(tmp_path: Path) -> None:
    old = "<revision><timestamp>2001-01-01T00:00:00Z</timestamp><text>[[Old]]</text></revision>"
    (found,) = read(tmp_path, dump(page("A", "[[New]]").replace("<revision>", f"{old}<revision>", 1)))
    assert [link.text for link in found.links] == ["New"]
    assert found.captured.startswith("2024")


def test_see_also_links_go_to_a_file_and_categories_become_links(tmp_path: Path) -> None:
    text = "[[B]]\n== See also ==\n[[C]] {{t|[[D]]}} [https://e.example/ e]\n[[Category:One]] [[kategorie:two|x]]"
    file, report = io.StringIO(), ReadReport()
    (found,) = read(tmp_path, dump(page("A", text)), report, see_also=file)
    assert file.getvalue() == f"{BASE}A\t{BASE}C\n"
    assert found.text == "B"
    assert [(link.text, link.boilerplate) for link in found.links] == [("B", False), ("D", True), ("e", False)]
    assert report.read["category, kept apart"] == 2
    (found,) = read(tmp_path, dump(page("A", text)), categories=True)
    assert [link.url.removeprefix(BASE) for link in found.links[-2:]] == ["Category:One", "Kategorie:two"]
    assert found.headings[found.links[-1].block or 0] == "Categories"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("bern", "Bern"),
        (" aare__(river) ", "Aare_(river)"),
        ("Bern#History", "Bern"),
        (":Bern", "Bern"),
        ("AT&amp;T", "AT%26T"),
        ("A%20b", "A_b"),
        ("What?", "What%3F"),
        ("Alien: Resurrection", "Alien:_Resurrection"),
        ("C/C++ (x), y;z@$!*~", "C/C%2B%2B_(x),_y;z@$!*~"),
        ("école", "%C3%89cole"),
        ("#History", None),
        ("", None),
        ("a<b", None),
        ("a|b", None),
        ("fr:Berne", None),
        ("wikt:bear", None),
        ("zh-min-nan:Bern", None),
        ("File:x.png", None),
        ("datei:x.png", None),
        ("Category:Towns", None),
        (":Kategorie:Ort", None),
        ("User talk:Me", None),
        ("x" * 1001, None),
    ],
)
def test_titles_are_spelled_as_mediawiki_does(title: str, expected: str | None) -> None:
    site = WikiSite(f"{BASE}Main_Page")
    site.add_namespace("Datei", "6")
    site.add_namespace("Kategorie", "14")
    assert site.target(title) == (expected and BASE + expected)


def test_wiktionaries_tell_capitals_apart(tmp_path: Path) -> None:
    head = HEAD.replace("first-letter", "case-sensitive")
    (found,) = read(tmp_path, dump(page("bear", "[[Bear]] [[bears]]"), head=head))
    assert [found.url, *(link.url for link in found.links)] == [BASE + name for name in ("bear", "Bear", "bears")]


def test_addresses_of_other_wikis() -> None:
    assert prefix_of("https://w.example/index.php/Main_Page") == "https://w.example/index.php/"
    assert prefix_of("https://w.example/w/index.php?title=Main_Page") == "https://w.example/w/index.php?title="
    assert prefix_of("http://w.example") == "http://w.example/"
    assert prefix_of("nonsense") == ""


def test_a_dump_without_an_address_needs_a_base(tmp_path: Path) -> None:
    content = "<mediawiki>" + page("A", "[[B]]") + "</mediawiki>"
    with pytest.raises(BadSource, match=r"has no <base>: give the wiki's address, as in --base"):
        read(tmp_path, content)
    assert read(tmp_path, content, base=BASE)[0].url == f"{BASE}A"


BOTH = dump(page("A", "[[B]]"), page("C", "[[D]]"))


@pytest.mark.parametrize(
    "cut", [BOTH[: BOTH.index("[[D]]")], BOTH.replace("<title>C", "<title>C<&"), BOTH.replace("[[D]]", "\x01")]
)
def test_of_a_damaged_dump_what_comes_before_is_kept(tmp_path: Path, cut: str) -> None:
    report = ReadReport()
    assert [each.title for each in read(tmp_path, cut, report)] == ["A"]
    assert dict(report.skipped) == {mediawiki.DAMAGED_XML: 1}
    with pytest.raises(BadSource, match="damaged XML"):
        read(tmp_path, cut, ReadReport(strict=True))


def test_a_file_that_only_begins_like_a_dump(tmp_path: Path) -> None:
    for content in ("<mediawiki><", "<mediawiki", '<?xml version="1.0" encoding="x-none"?><mediawiki>'):
        with pytest.raises(BadSource, match="is not a MediaWiki dump"):
            read(tmp_path, content)


def test_entities_are_refused(tmp_path: Path) -> None:
    content = '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>' + dump(page("A"))
    with pytest.raises(BadSource, match="declares XML entities"):
        read(tmp_path, content)


def test_depth_tags_and_texts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = ReadReport()
    assert len(read(tmp_path, dump(page("A"), "<x>" * 50), report)) == 1
    assert "20 deep" in report.example[mediawiki.DAMAGED_XML]
    monkeypatch.setattr(mediawiki, "MAX_TAG", 200_000)
    report = ReadReport()
    assert len(read(tmp_path, dump(page("A"), f"<x y='{'z' * 500_000}'/>"), report)) == 1
    assert "tag longer than" in report.example[mediawiki.DAMAGED_XML]
    monkeypatch.setattr(mediawiki, "MAX_PAGE", 1 << 20)
    report = ReadReport()
    pages = read(tmp_path, dump(page("Long", "x" * (2 << 20)), page("B")), report)
    assert [each.title for each in pages] == ["B"]
    assert dict(report.skipped) == {"page longer than 1 MiB": 1}


def test_thousands_of_namespaces_take_linear_time(tmp_path: Path) -> None:
    @without_collection
    def cost(count: int) -> float:
        names = "".join(f'<namespace key="6">Picture {number}</namespace>' for number in range(count))
        content = dump(
            page("A", "[[Picture 1:x]] [[b:c]]" * count), head=HEAD.replace("<namespaces>", f"<namespaces>{names}")
        )
        began = time.process_time()
        read(tmp_path, content)
        return time.process_time() - began

    cost(10)
    assert cost(4000) < 9 * cost(1000) + 0.1


def test_compressed_dumps(tmp_path: Path) -> None:
    first, second = BOTH[: BOTH.index("<page>")], BOTH[BOTH.index("<page>") :]
    multistream = bz2.compress(first.encode()) + bz2.compress(second.encode())
    for content in (bz2.compress(BOTH.encode()), multistream, zstandard.compress(BOTH.encode())):
        assert [each.title for each in read(tmp_path, content, name="dump")] == ["A", "C"]
        assert detect_kind(tmp_path / "dump") == "mediawiki"
    report, cut = ReadReport(), bz2.compress(second.encode())
    assert read(tmp_path, bz2.compress(first.encode()) + cut[: len(cut) // 2], report) == []
    assert report.skipped["truncated compressed file: read up to its end"] == 1


def test_archives_of_7_zip_are_unpacked_by_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a stand-in: this machine may not have 7-Zip."""
    content = b"7z\xbc\xaf\x27\x1c" + BOTH.encode()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadSource, match=r"is a 7z archive: install 7-Zip \(7z\), or unpack it"):
        read(tmp_path, content, name="dump.7z")
    program = tmp_path / "7z"
    program.write_text('#!/bin/sh\n[ "$1 $2 $3 $4" = "e -so -bd -y" ] && /usr/bin/tail -c +7 "$5"\n')
    program.chmod(0o755)
    assert [each.title for each in read(tmp_path, content, name="dump.7z")] == ["A", "C"]
    assert detect_kind(tmp_path / "dump.7z") == "mediawiki"
    program.write_text('#!/bin/sh\n/usr/bin/tail -c +7 "$5"; exit 2\n')
    report = ReadReport()
    assert len(read(tmp_path, content, report, name="dump.7z")) == 2
    assert report.skipped["damaged compressed file: read up to the damage"] == 1


def test_dumps_are_recognised_in_folders(tmp_path: Path) -> None:
    (tmp_path / "wiki.xml").write_text(BOTH)
    (tmp_path / "note.md").write_text("---\nurl: https://n.example/\n---\n[a](https://w.example/wiki/A)\n")
    report = ReadReport()
    rows = [row for batch in open_source(str(tmp_path), report).records() for row in batch.to_pylist()]
    assert {row["url"] for row in rows} == {f"{BASE}A", f"{BASE}C", "https://n.example/"}


def test_from_a_dump_to_an_evaluation(tmp_path: Path) -> None:
    names = ["Bern", "Thun", "Basel", "Genf", "Zug"]
    lists = [page(f"List {n}", "".join(f"[[{name}]] " for name in names[n:] + names[:n])) for n in range(4)]
    articles = [page(name, f"town\n== See also ==\n* [[{names[at - 1]}]]") for at, name in enumerate(names)]
    (tmp_path / "dump.xml").write_text(dump(*lists, *articles, page("Zoug", redirect="Zug")))
    ran = run("build", tmp_path / "dump.xml", "-o", tmp_path / "w.cocite", "--see-also", tmp_path / "see.tsv", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["read"]["link in a See also section, kept out"] == 5
    rows = [line.split("\t") for line in (tmp_path / "see.tsv").read_text().splitlines()]
    assert rows[0] == [f"{BASE}Bern", f"{BASE}Zug"]
    assert len(rows) == 5
    links = json.loads(run("links", f"{BASE}Zoug", "-i", tmp_path / "w.cocite", "--json").out)
    assert not any(link["url"] == f"{BASE}Genf" for block in links["blocks"] for link in block["links"])
    ran = run(
        "evaluate", "-i", tmp_path / "w.cocite", "--judgements", tmp_path / "see.tsv", "-m", "cocitation", "--json"
    )
    assert ran.code == 0, ran.err
    assert "no folder" not in ran.err
    wrong = run("build", tmp_path / "dump.xml", "-o", tmp_path / "x.cocite", "--see-also", tmp_path / "no" / "f.tsv")
    assert wrong.code == 2
    assert "Unknown folder" in wrong.err
