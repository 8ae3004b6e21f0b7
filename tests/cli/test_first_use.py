"""The first minute: what new users give, what they get wrong, and what commands say about it."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import cocite
from cocite.errors import BadParameter, UnknownPage
from cocite.operations.pages.related import Related
from cocite.sources.crawl import start
from cocite.sources.records import Page
from cocite.web import Web
from tests.cli.conftest import LIST, NEWS, OTHER, run
from tests.graph.webs import make

URL_COMMANDS = ("related", "compare", "hubs", "recommend")


@pytest.mark.parametrize("k", ["0", "-3"])
@pytest.mark.parametrize("command", [*URL_COMMANDS, "search", "keywords", "batch"])
def test_k_has_one_lower_bound(store: Path, place: Path, command: str, k: str) -> None:
    more = ["-o", place / "x.tsv"] if command == "batch" else [NEWS]
    ran = run(command, *more, "-i", store, "-k", k)
    expected = f"cocite: -k must be a whole number from 1 to 100000, not {k}\n"
    assert (ran.code, ran.out, ran.err) == (2, "", expected)


def test_a_list_of_addresses_skips_unknown_ones(store: Path, place: Path) -> None:
    (place / "urls.txt").write_text(f"{NEWS}\nunknown.example\nhttp://[\n")
    ran = run("related", "--like", place / "urls.txt", "-i", store)
    assert ran.code == 0 and LIST in ran.out
    assert f"Not in this store: 2 pages of {place}/urls.txt, such as unknown.example, http://[" in ran.err
    (place / "urls.txt").write_text("unknown.example\n")
    ran = run("related", "--like", place / "urls.txt", "-i", store)
    assert (ran.code, ran.out) == (3, "") and "is in this store, e.g. 'unknown.example'" in ran.err


def test_folders_without_results_say_why(store: Path, place: Path) -> None:
    folders = {"Papers": NEWS, "Others": "https://unknown.example/", "Lonely": "https://lonely.example/"}
    items = "".join(f'<DT><H3>{name}</H3><DL><p><DT><A HREF="{url}">x</A></DL><p>' for name, url in folders.items())
    (place / "b.html").write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p>{items}</DL>")
    lines = run("related", "--like", place / "b.html", "-i", store).out.splitlines()
    assert "Others  none of its pages is in this store" in lines and "Lonely  nothing related" in lines


def test_words_where_an_address_is_expected(place: Path) -> None:
    pages = [
        Page("https://json.example/", "JSON encoder and decoder", "loads and dumps"),
        Page("https://b.example/", "B"),
    ]
    make(place / "web.cocite", pages)
    expected = "'json encoder' is not in this store; did you mean https://json.example/ (JSON encoder and decoder)?"
    for command in URL_COMMANDS:
        ran = run(command, "json encoder", "-i", place / "web.cocite")
        assert (ran.code, ran.err) == (3, f"cocite: {expected}\n"), command
    ran = run("related", "json", "encoder", "-i", place / "web.cocite")
    assert (ran.code, ran.err) == (3, f"cocite: {expected}\n"), "without quotes"
    with pytest.raises(UnknownPage) as caught:
        cocite.open(place / "web.cocite").related("json encoder")
    assert (str(caught.value), caught.value.nearest) == (expected, ["https://json.example/"])
    ran = run("related", "nonsense", "-i", place / "web.cocite")
    assert (ran.code, ran.err) == (3, "cocite: 'nonsense' is not in this store, nor is a page with these words\n")


def test_a_name_that_an_edge_list_does_not_have(place: Path) -> None:
    (place / "links.tsv").write_text("source\ttarget\n0\t530\n1\t530\n")
    assert run("build", place / "links.tsv", "-o", place / "web.cocite", "-q").code == 0
    ran = run("related", "Physics", "-i", place / "web.cocite")
    assert ran.code == 3
    assert ran.err == "cocite: 'Physics' is not in this store, whose names look like 0, 1, 530: give one of them\n"


def test_filters_that_nothing_can_pass(store: Path) -> None:
    ran = run("related", NEWS, "-i", store, "--since", "2021", "--until", "2020")
    assert (ran.code, ran.err) == (2, "cocite: --until 2020 is before since 2021: no page can pass; exchange them\n")
    assert run("related", NEWS, "-i", store, "--since", "2020", "--until", "2020").code == 1
    ran = run("related", NEWS, "-i", store, "--site", "no-such.example")
    assert (ran.code, ran.err) == (1, "cocite: This store has no page of no-such.example: check the spelling\n")


@pytest.mark.parametrize("flag", ["--not-own-site", "--unlinked"])
@pytest.mark.parametrize("command", [["rank"], ["search", "news"]])
def test_filters_by_query_page_need_one(store: Path, command: list[str], flag: str) -> None:
    ran = run(*command, "-i", store, flag)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"cocite: {flag} needs a query page, which this question doesn't have: leave it out\n"


def test_ranks_refuse_unknown_parameters(store: Path) -> None:
    web = cocite.open(store)
    with pytest.raises(BadParameter, match="Unknown parameter 'foo'"):
        web.rank("pagerank", foo=1)
    with pytest.raises(BadParameter, match="unlinked needs a query page"):
        web.rank("pagerank", unlinked=True)
    assert web.rank("pagerank", site=["news.example"]).top(3)[0].url == NEWS


def test_a_folder_that_is_no_store(store: Path, place: Path) -> None:
    (place / "passwd").write_text("x")
    ran = run("info", "-i", place)
    assert ran.code == 2 and f"-o {place}" not in ran.err
    assert "is a folder, but not a store; give the path of a store with -i" in ran.err


@pytest.mark.parametrize(
    ("name", "crawl"),
    [("nosuch.txt", False), ("notes.md", False), ("no.zip", False), ("example.org", True), ("example.md/a.html", True),
     ("folder/nosuch.html", False), ("nosuch", False)],
)  # fmt: skip
def test_a_missing_file_is_crawled_only_if_it_looks_like_a_site(name: str, crawl: bool) -> None:
    ran = run("build", name, "-o", "nowhere.cocite")
    assert ran.code == 2
    assert (f"to crawl a site, write https://{name}" in ran.err) == crawl, ran.err


def test_summary_times_add_up_to_the_wait(place: Path) -> None:
    (place / "a.tsv").write_text("a.example\tb.example\n")
    began = time.monotonic()
    found = json.loads(run("build", place / "a.tsv", "-o", place / "web.cocite", "-q", "--json").out)
    waited = time.monotonic() - began
    assert 0.5 * waited < sum(found["times"].values()) <= waited
    assert set(found["times"]) == {"reading and sorting", "indexing words", "compiling, once", "starting"}


def test_an_interrupted_crawl_keeps_its_pages(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = json.dumps({"page": {"url": "https://a.example/", "links": [{"url": "https://b.example/"}]}})
    script = f"import os, sys, time; os.write(int(sys.argv[1]), {message!r}.encode() + b'\\n'); time.sleep(60)"
    monkeypatch.setattr(start, "COMMAND", [sys.executable, "-c", script])
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    ran = run("build", "https://a.example/", "-o", place / "web.cocite", "-q", "--depth", "3")
    timer.join()
    go_on = f"to go on: cocite add https://a.example/ -i {place}/web.cocite --resume --depth 3"
    assert (ran.code, ran.err) == (0, f"cocite: Interrupted; the pages that were fetched are kept; {go_on}\n")
    assert run("links", "a.example", "-i", place / "web.cocite").code == 0
    assert signal.getsignal(signal.SIGINT) is before


def test_private_addresses_name_the_option(place: Path) -> None:
    ran = run("build", "http://127.0.0.1:8099/", "-o", place / "web.cocite", "-q")
    assert ran.code == 2 and "--allow-private" in ran.err


def test_methods_name_papers_by_authors() -> None:
    shown = run("methods").out + "".join(
        run("methods", line.split()[0]).out for line in run("methods").out.splitlines()[:-2]
    )
    assert "Dean & Henzinger 1999" in shown
    assert not any(text in shown for text in ("paper 1", "paper 2", "paper 3", "[1]", "[2]", ".pdf"))


def test_every_result_has_a_reason(store: Path) -> None:
    web = Web(store)
    for url in (NEWS, OTHER, LIST):
        for answer in Related(urls=(url,)).run(web):
            assert answer.reasons and all(str(reason) == reason.text for reason in answer.reasons)
            assert len({json.dumps(reason.to_dict()) for reason in answer.reasons}) == len(answer.reasons)


def test_dir_is_complete() -> None:
    assert set(cocite.__all__) <= set(dir(cocite)) and "__version__" in dir(cocite)
