"""cocite search, and the index that build, add and remove make."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import cocite
from cocite.errors import BadStore
from tests.cli.conftest import LIST, NASTY, NEWS, run

A, B = "https://a.example/", "https://b.example/"


def records(file: Path, *pages: dict[str, object]) -> Path:
    file.write_text("".join(json.dumps(page) + "\n" for page in pages))
    return file


@pytest.fixture
def web(place: Path) -> Path:
    """A store made by the command, with its index."""
    source = records(place / "a.jsonl", {"url": A, "title": "Bird list", "links": [{"url": B, "text": "Falcon"}]})
    assert run("build", source, "-o", place / "web.cocite", "-q").code == 0
    return place / "web.cocite"


def urls(*args: str | Path) -> list[str]:
    ran = run("search", *args, "--json")
    assert ran.code in (0, 1), ran.err
    return [answer["url"] for answer in json.loads(ran.out)["answers"]]


def test_build_makes_the_index(web: Path) -> None:
    ran = run("search", "falcon", "-i", web)
    assert ran.code == 0
    rank, score, url, title = ran.out.splitlines()[0].split("\t")
    assert (rank.strip(), url, title) == ("1", B, "Falcon")
    assert float(score) > 0
    assert ran.err == ""  # nothing had to be made


def test_json(web: Path) -> None:
    found = json.loads(run("search", "bird", "list", "-i", web, "--json").out)
    assert found["query"] == ["bird list"]
    assert found["method"] == "search"
    assert [(answer["rank"], answer["url"], answer["title"]) for answer in found["answers"]] == [(1, A, "Bird list")]
    assert found["store"]["pages"] == 2


def test_nothing_found_and_nothing_asked(web: Path) -> None:
    ran = run("search", "nonsense", "-i", web)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "cocite: No page has any of the words 'nonsense'; try others\n"
    assert run("search", "nonsense", "-i", web, "--json").code == 1
    for words in ((), ("",)):
        ran = run("search", *words, "-i", web)
        assert (ran.code, ran.err) == (2, "cocite: Nothing to search for: give some words\n")
    ran = run("search", "?!", "-i", web)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "give some letters or digits" in ran.err
    assert run("search", "x", "-i", web, "-k", "-1").code == 2
    assert run("search", "x", "-i", web.parent / "none").code == 2


def test_only_some_of_the_words(web: Path) -> None:
    assert run("search", "falcon nonsense", "-i", web).out.startswith(
        "No page has all of these words; these pages have at least 1 of them\n"
    )


def test_phrases_and_stray_syntax(web: Path) -> None:
    assert urls('"bird list"', "-i", web) == [A]
    assert urls('bird" AND (list:^~*', "-i", web) == [A]


def test_summary_of_a_build(place: Path) -> None:
    source = records(place / "a.jsonl", {"url": A, "title": "Bird list", "links": [B]})
    ran = run("build", source, "-o", place / "w", "-q")
    assert any(line.startswith("  search\t") and "the index of 2 pages" in line for line in ran.out.splitlines())
    assert json.loads(run("build", source, "-o", place / "w", "-q", "--json").out)["search"]["pages"] == 2
    assert json.loads(run("build", source, "-o", place / "w", "-q", "--json", "--no-text").out)["search"] is None


def test_without_text_the_first_search_makes_the_index(place: Path) -> None:
    source = records(place / "a.jsonl", {"url": A, "title": "Bird list", "text": "secret", "links": [B]})
    store = place / "web.cocite"
    run("build", source, "-o", store, "-q", "--no-text")
    assert not list(store.glob("side/search*"))
    with pytest.raises(BadStore, match="cocite search --make"):
        cocite.open(store).search("bird")
    ran = run("search", "bird", "-i", store)
    assert ran.code == 0
    assert "indexing pages: 2 pages" in ran.err
    assert urls("secret", "-i", store) == []


def test_add_and_remove_renew_the_index(web: Path) -> None:
    more = records(web.parent / "b.jsonl", {"url": "https://c.example/", "title": "Kestrel"})
    assert json.loads(run("add", more, "-i", web, "-q", "--json").out)["search"]["pages"] == 3
    assert urls("kestrel", "-i", web) == ["https://c.example/"]
    assert run("remove", "https://c.example/", "-i", web, "-q").code == 0
    assert urls("kestrel", "-i", web) == []
    assert len(list(web.glob("side/search-*"))) == 1


def test_a_killed_remove_is_finished_by_the_next(web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is gone, and its words are not yet: the same command sees to it, though it has nothing to remove."""
    more = records(web.parent / "b.jsonl", {"url": "https://c.example/", "title": "Kestrel"})
    assert run("add", more, "-i", web, "-q").code == 0

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("cocite.words.search.renew_search", killed)
        assert run("remove", "https://c.example/", "-i", web, "-q").code == 130
    before = {file.name for file in web.glob("side/search-*")}
    assert run("remove", "https://c.example/", "-i", web, "-q").code == 3
    after = {file.name for file in web.glob("side/search-*")}
    assert (len(before), len(after), len(before & after)) == (1, 1, 0)
    assert urls("kestrel", "-i", web) == []
    assert run("remove", "https://c.example/", "-i", web, "-q").code == 3
    assert {file.name for file in web.glob("side/search-*")} == after, "nothing is left to do"


def test_make(web: Path) -> None:
    shutil.rmtree(next(web.glob("side/search-*")))
    ran = run("search", "--make", "-i", web, "-q")
    assert ran.code == 0
    assert ran.out.startswith(f"Built the search index of {web}: 2 pages, ")
    assert json.loads(run("search", "--make", "-i", web, "-q", "--json").out)["search"]["pages"] == 2
    assert urls("falcon", "-i", web, "--make", "-q") == [B]


def test_an_index_that_cannot_be_written_does_not_spoil_a_build(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BadStore("the disk is full")

    monkeypatch.setattr("cocite.words.search.documents", fail)
    source = records(place / "a.jsonl", {"url": A, "title": "Bird list", "links": [B]})
    ran = run("build", source, "-o", place / "w")
    assert ran.code == 0
    assert "the disk is full" in ran.err
    assert run("links", A, "-i", place / "w").code == 0


def test_interrupted_while_indexing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cocite.words.search.documents", stop)
    source = records(place / "a.jsonl", {"url": A, "title": "Bird list", "links": [B]})
    ran = run("build", source, "-o", place / "w", "-q")
    assert ran.code == 130
    assert "is complete, but has no search index yet" in ran.err
    assert run("links", A, "-i", place / "w").code == 0


def test_strangers_titles_steer_no_terminal(store: Path, place: Path) -> None:
    copy = shutil.copytree(store, place / "w")
    ran = run("search", "red markup", "-i", copy, "-q")
    assert ran.code == 0
    assert "\x1b" not in ran.out and "\u202e" not in ran.out and "\x07" not in ran.out
    assert NASTY not in ran.out


def test_from_python(store: Path, place: Path) -> None:
    copy = shutil.copytree(store, place / "w")
    run("search", "--make", "-i", copy, "-q")
    web = cocite.open(copy)
    answers = web.search("papers", k=3)
    assert answers[0].url == LIST
    assert [answer.page for answer in answers] == [page for page, _ in web.search.find("papers", 3)]
    assert [answer.url for answer in web.search("the news")] == [NEWS]
