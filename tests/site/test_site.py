"""`cocite site`: files in, lists out, the same bytes, overrides, and only what changed is read."""

from __future__ import annotations

import json
import os
import shutil
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from cocite.site.read import path_of, without_related
from cocite.site.relate import METHOD
from cocite.site.write import inserted
from tests.cli.conftest import Ran, run

BASE = "https://birds.example/docs/"
SONGS = 5 * "song sing melody dawn chorus "
NESTS = 5 * "nest eggs twigs moss brood "
BODY = (
    "<!doctype html><html><head><title>{title} | Birds</title>{head}</head><body>"
    "<nav><a href='/docs/'>Home</a></nav>{text}<!-- cocite:related --></body></html>"
)


def write(folder: Path, **texts: str) -> None:
    """Pages by name; `sub_page` is in a folder."""
    for name, text in texts.items():
        file = folder / f"{name.replace('_', '/')}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        head, _, text = text.rpartition("##")
        file.write_text(BODY.format(title=name.title().replace("_", " "), head=head, text=f"<p>{text}</p>"), "utf-8")


@pytest.fixture
def birds(place: Path) -> Path:
    """A small site."""
    write(
        place / "public",
        index="birds of all kinds",
        robin=f"robin {SONGS} red breast",
        wren=f"wren {SONGS} small loud",
        finch=f"finch {NESTS} beak <a href='swift.html'>swift</a>",
        swift=f"swift {NESTS} wings",
        sub_index=f"owl {NESTS} night hoot",
        sub_lark=f"lark {SONGS} sky",
    )
    return place / "public"


def made(folder: Path, *options: str | Path, base: str = BASE) -> Ran:
    place = folder.parent
    return run("site", folder, "--base", base, "-o", place / "related.json", "--cache", place / "cache", *options)


def lists(folder: Path, *options: str | Path) -> dict[str, list[str]]:
    ran = made(folder, *options)
    assert ran.code == 0, ran.err
    found = json.loads((folder.parent / "related.json").read_text("utf-8"))["pages"]
    return {path: [each["path"] for each in about["related"]] for path, about in found.items()}


def test_related_pages_of_every_page(birds: Path) -> None:
    found = lists(birds)
    assert list(found) == sorted(found) and "/docs/" in found and "/docs/sub/" in found
    assert set(found["/docs/robin.html"]) == {"/docs/wren.html", "/docs/sub/lark.html"}
    assert found["/docs/finch.html"][0] == "/docs/swift.html"
    whole = json.loads((birds.parent / "related.json").read_text("utf-8"))
    first = whole["pages"]["/docs/finch.html"]["related"][0]
    assert whole["base"] == BASE and whole["pages"]["/docs/finch.html"]["title"] == "Finch"
    assert first["url"] == "https://birds.example/docs/swift.html" and first["title"] == "Swift"
    assert first["why"]["linked"] == "to" and set(first["why"]["words"]) <= {*NESTS.split(), "swift"}


def test_the_same_bytes_wherever_and_whenever(birds: Path, place: Path) -> None:
    lists(birds)
    first = (place / "related.json").read_bytes()
    other = place / "elsewhere" / "_site"
    other.parent.mkdir()
    for file in sorted(birds.rglob("*.html"), reverse=True):
        copy = other / file.relative_to(birds)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
        os.utime(copy, (1, 1))
    lists(other)
    assert (other.parent / "related.json").read_bytes() == first
    shutil.rmtree(place / "cache")
    lists(birds)
    assert (place / "related.json").read_bytes() == first


def test_only_what_changed_is_read(birds: Path) -> None:
    def told(*options: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(made(birds, "--json", *options).out)
        return found

    assert told()["read"] == 7
    assert told().items() >= {"unchanged": True, "pages": 7}.items()
    for file in birds.rglob("*.html"):  # as a generator does
        content = file.read_bytes()
        file.unlink()
        file.write_bytes(content)
        os.utime(file, (5, 5))
    assert told().get("unchanged")
    assert told("-k", "2")["read"] == 0  # other wishes, the same pages
    write(birds, wren="wren is now about engines and wheels")
    assert told("-k", "2")["read"] == 1
    (birds.parent / "related.json").unlink()
    assert told("-k", "2")["read"] == 0 and (birds.parent / "related.json").exists()
    (birds / "wren.html").unlink()
    assert told("-k", "2")["pages"] == 6


def test_the_same_content_in_two_places_is_two_pages(birds: Path, place: Path) -> None:
    text = 9 * "heron stork " + "<a href='robin.html'>robin</a>"
    write(birds, heron=text, sub_heron=text, sub_robin=f"robin {SONGS}")
    (birds / "sub" / "heron.html").write_bytes((birds / "heron.html").read_bytes())
    first = lists(birds)
    assert "/docs/robin.html" in first["/docs/heron.html"] and "/docs/sub/robin.html" in first["/docs/sub/heron.html"]
    write(birds, wren="wren of another kind")
    with_cache = lists(birds)
    shutil.rmtree(place / "cache")
    assert lists(birds) == with_cache


def test_a_damaged_cache_is_ignored(birds: Path, place: Path) -> None:
    lists(birds)
    first = (place / "related.json").read_bytes()
    for file in (place / "cache").iterdir():
        for junk in (b"", b"{}", b'{"format": 1, "stamps": [1]}', file.read_bytes()[:50]):
            file.write_bytes(junk)
            (place / "related.json").unlink(missing_ok=True)
            lists(birds)
            assert (place / "related.json").read_bytes() == first


class Links(HTMLParser):
    """The links of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if tag == "a" and name == "href"]


def test_fragments_link_relatively(birds: Path, place: Path) -> None:
    write(birds, nasty=f"<b>nasty</b> {SONGS}", alone="zebra quagga")
    page = birds / "nasty.html"
    page.write_text(page.read_text().replace("Nasty", "&lt;script&gt;alert(1)&lt;/script&gt; \"'"))
    lists(birds, "--fragments", place / "pieces", "--heading", "Verwandt & mehr")
    text = (place / "pieces" / "sub" / "lark.html").read_text("utf-8")
    assert set(Links(text).found) == {"../robin.html", "../wren.html", "../nasty.html"}
    assert "<h2>Verwandt &amp; mehr</h2>" in text and "<script>" not in text and "&lt;script&gt;" in text
    assert Links((place / "pieces" / "swift.html").read_text()).found == ["finch.html", "sub/"]
    assert (place / "pieces" / "alone.html").read_text() == ""


def test_lists_are_put_into_pages_once(birds: Path) -> None:
    lists(birds, "--insert")
    robin = (birds / "robin.html").read_bytes()
    assert robin.count(b"<nav class=") == 1 and robin.count(b"<!-- /cocite:related -->") == 1
    assert "unchanged" in made(birds, "--insert").out
    write(birds, thrush=f"thrush {SONGS}")
    lists(birds, "--insert")
    again = (birds / "robin.html").read_bytes()
    assert again.count(b"<nav class=") == 1 and b"thrush.html" in again
    clean = {name: (birds / name).read_bytes() for name in ("robin.html", "thrush.html")}
    write(birds, robin=f"robin {SONGS} red breast")  # the generator writes it anew, without its list
    lists(birds, "--insert")
    assert {name: (birds / name).read_bytes() for name in clean} == clean


@pytest.mark.parametrize(
    "place", ["<div data-cocite-related></div>", '<ASIDE class="x" data-cocite-related="">\n</ASIDE>']
)
def test_lists_are_put_into_elements_once(place: str) -> None:
    before = f"<p>text</p>{place}<p>more</p>".encode()
    once = inserted(before, "<ul></ul>")
    assert once.count(b"<ul></ul>") == 1 and once.startswith(b"<p>text</p>" + place.encode()[:6])
    assert inserted(once, "<ul></ul>") == once and inserted(once, "") == inserted(before, "")
    assert without_related(once).replace(b"\n", b"") == before.replace(b"\n", b"")


def test_an_unclosed_placeholder_removes_no_text() -> None:
    before = b"<!-- cocite:related --><p>text</p><!-- cocite:related --><ul></ul><!-- /cocite:related -->"
    assert without_related(before) == b"<p>text</p>"


def test_a_list_that_a_template_made_is_not_read() -> None:
    before = b"<p>text</p><nav><a href=a>a</a></nav><NAV class=x data-cocite-list>\n<ul><li>x</ul></NAV><p>more</p>"
    assert without_related(before) == b"<p>text</p><nav><a href=a>a</a></nav><p>more</p>"
    unclosed = b"<nav data-cocite-list><p>text</p>"
    assert without_related(unclosed) == unclosed
    assert without_related(b"<nav data-cocite-list " * 100_000) == b"<nav data-cocite-list " * 100_000
    assert inserted(before, "<ol></ol>").count(b"<p>text</p>") == 1


def test_lists_fit_into_pages_of_any_encoding(birds: Path, place: Path) -> None:
    for name in ("robin", "wren"):
        page = birds / f"{name}.html"
        text = page.read_text("utf-8").replace("Wren", "Zaunkönig “klein”")
        page.write_bytes(text.replace("<head>", '<head><meta charset="windows-1252">').encode("cp1252"))
    lists(birds, "--insert", "--fragments", place / "pieces", "--heading", "Verwandt – mehr")
    robin = (birds / "robin.html").read_bytes()
    assert "Zaunkönig “klein”" in unescape(robin.decode("cp1252")) and "Verwandt – mehr" in unescape(
        robin.decode("cp1252")
    )
    assert (place / "pieces" / "robin.html").read_bytes().isascii()


def test_a_template_without_a_placeholder_is_reported(birds: Path) -> None:
    for file in birds.rglob("*.html"):
        file.write_text(file.read_text().replace("<!-- cocite:related -->", ""))
    assert "No place for the list in any page: put <div data-cocite-related></div>" in made(birds, "--insert").err


def test_pages_without_a_placeholder_are_counted(birds: Path) -> None:
    page = birds / "robin.html"
    page.write_text(page.read_text().replace("<!-- cocite:related -->", ""))
    assert "No place for the list in 1 page, such as robin.html: put <div" in made(birds, "--insert").err


def test_the_summary_says_what_was_written(birds: Path, place: Path) -> None:
    assert f", fragments in {place / 'pieces'}  " in made(birds, "--fragments", place / "pieces").out
    assert " pages, 0 new or changed, " in made(birds, "--fragments", place / "others").out


def test_overrides_by_a_file(birds: Path, place: Path) -> None:
    (place / "related.toml").write_text(
        """exclude = ["sub/lark.html"]
        [pages."/docs/robin.html"]
        pin = ["/docs/finch.html", "sub/", "/docs/nowhere.html"]
        never = ["wren.html"]
        [pages."/docs/w*"]
        none = true
        [pages."/docs/swift.html"]
        hidden = true
        """
    )
    found = lists(birds, "--overrides", place / "related.toml")
    assert found["/docs/robin.html"] == ["/docs/finch.html", "/docs/sub/"]
    assert found["/docs/wren.html"] == [] and "/docs/sub/lark.html" not in found
    assert found["/docs/finch.html"] == ["/docs/sub/"] and found["/docs/swift.html"]
    assert "Unknown page: /docs/nowhere.html" in made(birds, "--overrides", place / "related.toml", "-k", "3").err
    (place / "related.toml").write_text('exclude = ["sub/*"]')
    assert "/docs/sub/" not in lists(birds, "--overrides", place / "related.toml")


def test_overrides_by_meta(birds: Path) -> None:
    pin, never = '<meta name="cocite:pin" content="swift.html, sub/">', '<meta name="cocite:never" content="wren.html">'
    write(birds, robin=f"{pin}{never}##{SONGS}")
    write(birds, wren=f'<meta name="cocite:none" content="true">##wren {SONGS}')
    write(birds, finch=f'<meta name="cocite:hidden" content="true">##finch {NESTS}')
    found = lists(birds)
    assert found["/docs/robin.html"] == ["/docs/swift.html", "/docs/sub/", "/docs/sub/lark.html"]
    assert found["/docs/wren.html"] == [] and "/docs/finch.html" not in found["/docs/swift.html"]


def test_pages_that_do_not_count(birds: Path) -> None:
    write(birds, old=f'<meta http-equiv="refresh" content="0; url=robin.html">##{SONGS}')
    write(birds, secret=f'<meta name="robots" content="noindex">##{SONGS}')
    write(birds, print=f'<link rel="canonical" href="{BASE}wren.html">##wren {SONGS}')
    write(birds, tags_a=SONGS, search="search", empty="")
    (birds / "empty.html").write_text("")
    ran = json.loads(made(birds, "--json", "--exclude", "tags/*").out)
    assert ran["pages"] == 7
    reasons = {"alias of another page": 2, "empty": 1, "generated page (index, search)": 1, "noindex": 1}
    assert ran["left_out"] == reasons


def test_links_are_followed_through_redirects_and_in_any_spelling(birds: Path) -> None:
    write(birds, old='<meta http-equiv="refresh" content="0; url=robin.html">##moved')
    ab, cd = 9 * "alpha beta ", 9 * "gamma delta "
    write(birds, one=f"{ab}<a href='old.html'>o</a> <a href='/docs/sub/index.html'>s</a>", two=ab)
    write(birds, three=f"{cd}<a href='swift'>s</a>", four=cd)
    found = lists(birds)
    assert found["/docs/one.html"][0] == "/docs/two.html"
    assert set(found["/docs/one.html"][1:]) == {"/docs/robin.html", "/docs/sub/"}
    assert found["/docs/three.html"][0] == "/docs/four.html"
    assert set(found["/docs/three.html"][1:]) == {"/docs/swift.html", "/docs/finch.html"}  # finch links to swift, too


def test_addresses_without_html_where_pages_use_them(birds: Path) -> None:
    write(birds, robin=f'<link rel="canonical" href="{BASE}robin">##robin {SONGS}')
    found = lists(birds)
    assert "/docs/robin" in found and "/docs/robin" in found["/docs/wren.html"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--overrides", "none.toml"], "none.toml can't be read"),
        (["--fragments", "public/x"], "so its files would become pages"),
        (["-k", "0"], "-k must be a whole number from 1 to 50, not 0"),
    ],
)
def test_wrong_use(birds: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], words: str) -> None:
    monkeypatch.chdir(birds.parent)
    ran = made(birds, *options)
    assert ran.code == 2 and words in ran.err and len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pages = 3", "pages must be tables"),
        ("[page.x]", "use exclude and pages"),
        ('[pages."/a"]\npinned = ["/b"]', "use pin, never, none, hidden"),
        ('[pages."/a"]\npin = "/b"', "list of texts"),
        ('[pages."/a"]\nnone = 1', "true or false"),
        ("exclude = [1]", "list of texts"),
        ("= broken", "TOML"),
    ],
)
def test_wrong_overrides(birds: Path, place: Path, text: str, words: str) -> None:
    (place / "o.toml").write_text(text)
    ran = made(birds, "--overrides", place / "o.toml")
    assert ran.code == 2 and words in ran.err


def test_folders_that_are_not_sites(place: Path) -> None:
    (place / "empty").mkdir()
    assert "has no HTML pages" in made(place / "empty").err
    assert "not a folder" in made(place / "nothing").err
    assert "give a web address such as" in run("site", place / "empty", "--base", "example", "-o", place / "x.json").err


def test_many_pages_are_read_by_several_processes(place: Path) -> None:
    write(place / "public", **{f"p{at}": f"word{at % 30} word{at % 31} {SONGS}" for at in range(230)})
    (place / "public" / "p0.html").chmod(0)
    ran = made(place / "public", "--json")
    expected = 230 if os.access(place / "public" / "p0.html", os.R_OK) else 229  # root may read everything
    assert json.loads(ran.out)["pages"] == expected


def test_lists_are_those_of_related(birds: Path, place: Path) -> None:
    """A store built from the same folder gives the same pages in the same order."""
    store = place / "birds.cocite"
    assert run("build", birds, "--base", BASE, "-o", store, "-q").code == 0
    for path, listed in lists(birds, "-k", "4").items():
        ran = run(
            "related", f"https://birds.example{path}", "-i", store, "-m", METHOD, "--site", BASE, "-k", "4", "--json"
        )
        related = [path_of(each["url"], BASE) for each in json.loads(ran.out)["answers"]]
        assert [each for each in related if each in listed] == listed
