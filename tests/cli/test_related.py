"""`cocite related`, `compare` and `methods`: answers, reasons, filters, exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from cocite.operations import COMPARED_METHODS
from cocite.related import methods
from tests.cli.conftest import LIST, LONELY, NEWS, OTHER, run
from tests.graph.webs import make, page

EVERY_METHOD = ", ".join(methods.names())


def test_answers_and_why(store: Path) -> None:
    ran = run("related", NEWS, "-i", store)
    assert ran.code == 0
    first = ran.out.splitlines()[0].split("\t")
    assert (first[0], first[2]) == (
        "1",
        OTHER,
    )  # in a block of two, as the list on the blog's roll is; and words
    assert first[3:] == [
        "[31mred [0m [bold]markup[/bold] gnp line",
        'Listed together on 1 of 2 pages: Papers under "Dailies" · '
        "Listed in sections about bold, 0m, 31mred, gnp, markup",
    ]
    assert "ms by auto" in ran.out.splitlines()[-1]
    assert "\x1b" not in ran.out


def test_all_reasons(store: Path) -> None:
    ran = run("related", NEWS, "-i", store, "--explain")
    assert ran.code == 0
    assert '     Listed next to each other on Papers under "Dailies"' in ran.out.splitlines()
    assert '     Listed together on 1 of 2 pages: Papers under "Dailies"' in ran.out.splitlines()


def test_json_has_the_keys_of_the_contract(store: Path) -> None:
    ran = run("related", "old.example", "-i", store, "--json", "-m", "companion(parents=2000)", "-k", "2")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert set(found) == {"query", "method", "params", "used", "answers", "store", "milliseconds"}
    assert (found["query"], found["used"], found["method"]) == (["old.example"], ["news.example"], "companion")
    assert found["params"]["parents"] == 2000
    assert set(found["store"]) == {"id", "built", "pages", "links"}
    assert [set(answer) for answer in found["answers"]] == [{"rank", "url", "title", "score", "reasons"}] * 2
    known = {
        "kind",
        "by",
        "title",
        "block",
        "distance",
        "to",
        "through",
        "count",
        "of",
        "voices",
        "copy",
        "pages",
        "query",
        "text",
    }
    assert all(set(reason) <= known for answer in found["answers"] for reason in answer["reasons"])


def test_values_by_commas_and_by_tabs(store: Path) -> None:
    by_commas, by_tabs = (run("related", NEWS, "-i", store, way).out for way in ("--csv", "--tsv"))
    rows = list(csv.reader(io.StringIO(by_commas)))
    assert rows[0] == ["rank", "score", "url", "title", "why"]
    assert rows == [line.split("\t") for line in by_tabs.splitlines()]
    assert rows[1][2] == OTHER
    assert "\x1b" not in by_commas
    both = run("related", NEWS, "-i", store, "--csv", "--json")
    assert (both.code, both.out, both.err) == (2, "", "cocite: --json, --csv and --tsv: give one of them\n")


def test_more_pages_from_a_file(store: Path, place: Path) -> None:
    (place / "pages.txt").write_bytes(f"\ufeff# my pages\r\n\r\n  {OTHER}  \r\n  # another\r\n".encode())
    ran = run("related", NEWS, "--like", place / "pages.txt", "-i", store, "--json")
    assert json.loads(ran.out)["query"] == [NEWS, OTHER]
    alone = run("related", "--like", place / "pages.txt", "-i", store, "--json")
    assert json.loads(alone.out)["query"] == [OTHER]
    (place / "bytes").write_bytes(b"\xff\xfe\x00")
    ran = run("related", "--like", place / "bytes", "-i", store)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "isn't a text in UTF-8: give a file of addresses, one per line" in ran.err
    (place / "empty.txt").write_text("# nothing yet\n")
    ran = run("related", "--like", place / "empty.txt", "-i", store)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"{place / 'empty.txt'} has no address: give bookmarks, an OPML file, or addresses" in ran.err
    ran = run("related", "--like", place / "none", "-i", store)
    assert (ran.code, ran.err) == (2, f"cocite: {place / 'none'}: no such file or directory; check the path\n")


def test_pages_that_are_not_wanted(store: Path) -> None:
    urls = [answer["url"] for answer in json.loads(run("related", NEWS, "-i", store, "--json").out)["answers"]]
    assert {LIST, OTHER} <= set(urls)
    ran = run("related", NEWS, "--not", LIST, "-i", store, "--json")
    assert LIST not in [answer["url"] for answer in json.loads(ran.out)["answers"]]
    ran = run("related", NEWS, "--not", NEWS, "-i", store)
    assert (ran.code, ran.err) == (2, f"cocite: '{NEWS}' is asked about and unwanted at once: leave out one\n")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["-k", "-1"], "-k must be a whole number from 1 to 100000, not -1"),
        (["-k", "1000000"], "-k must be a whole number from 1 to 100000, not 1000000"),
        (["-k", "ten"], "-k must be a whole number from 1 to 100000, not 'ten'"),
        (["--per-site", "-2"], "--per-site must be a whole number of at least 0, not -2"),
        (["--lang", "german"], "--lang must be a code such as de or en-GB, not 'german'"),
        (["--since", "soon"], "--since must be a date such as 2020-05-17, not 'soon'"),
        (["-m", "companion(parents=-1)"], "parents must be a whole number of at least 0, not -1"),
        (["-m", "companion(parents=many)"], "parents must be a whole number of at least 0, not 'many'"),
        (["-m", "companion(parents=nan)"], "parents must be a whole number of at least 0, not 'nan'"),
        (["-m", "proximity(alpha=nan)"], "alpha must be a number from 0 to 100, not nan"),
        (["-m", "companion(seed=-1)"], "seed must be a whole number from 0 to 9223372036854775807, not -1"),
        (["-m", "companion(stop=no.txt)"], "Unknown file 'no.txt' of stop pages: check the path"),
        (["-m", "companion(unit=planet)"], "unit must be one of auto, site, domain, host, none, not 'planet'"),
        (["-m", "companion(parents="], "Invalid method 'companion(parents='; write companion or"),
        (["-m", "companion(parents=1, parents=2)"], "parents is given twice in"),
        (["-m", "companion(sizes=3)"], "companion has no parameter 'sizes'; it has"),
        (["-m", "companions"], f"Unknown method 'companions'; did you mean companion? Available: {EVERY_METHOD}"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_line(store: Path, given: list[str], message: str) -> None:
    ran = run("related", NEWS, "-i", store, *given)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"cocite: {message}")


def test_no_page_at_all(store: Path) -> None:
    ran = run("related", "-i", store)
    assert (ran.code, ran.err) == (2, "cocite: No page to ask about: give an address\n")


def test_an_unknown_page_and_the_nearest(store: Path) -> None:
    for command in ("related", "compare"):
        ran = run(command, "https://new.example/none", "-i", store)
        assert (ran.code, ran.out) == (3, "")
        assert "'https://new.example/none' is not in this store; did you mean https://news.example" in ran.err
        assert ran.err.count("\n") == 1


def test_an_unknown_page_of_a_known_site(store: Path) -> None:
    ran = run("related", "https://news.example/none", "-i", store)
    note = f"https://news.example/none isn't in this store; these results are for {NEWS}"
    assert (ran.code, ran.out.splitlines()[0]) == (0, note)
    found = json.loads(run("related", "https://news.example/none", "-i", store, "--json").out)
    assert (found["query"], found["used"], found["note"]) == (["https://news.example/none"], ["news.example"], note)
    assert run("compare", "https://news.example/none", "-i", store).code == 0


def test_a_known_page_without_answers(store: Path) -> None:
    ran = run("related", LONELY, "-i", store)
    assert (ran.code, ran.out) == (1, "")
    assert "is known, but auto finds nothing related: look at its links" in ran.err
    ran = run("related", LONELY, "-i", store, "--json")
    assert (ran.code, json.loads(ran.out)["answers"]) == (1, [])
    for filters in (["--lang", "fr"], ["--not", LIST, "--since", "2030-01-01"]):
        ran = run("related", NEWS, "-i", store, *filters)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == f"cocite: Nothing related to {NEWS} passes the filters; give fewer of them\n"


def test_why_nothing_is_found(place: Path) -> None:
    pages = [
        page("https://list.example/", "https://a.example/", "https://b.example/"),
        *(page(f"https://own.example/{n}", "https://own.example/", "https://own.example/x") for n in range(3)),
        page("https://c.example/"),
        page("https://d.example/"),
    ]
    make(place / "web.cocite", pages)
    for given, message in (
        (["a.example", "--lang", "de"], "This store doesn't have the language of any page: ask without lang"),
        (
            ["a.example", "--since", "2020-01-01"],
            "This store doesn't have the date of any page: ask without since and until",
        ),
        (["a.example", "--not", "b.example"], "Nothing related to a.example passes the filters; give fewer of them"),
        (
            ["c.example", "d.example"],
            "c.example, d.example are known, but auto finds nothing related: look at their links",
        ),
        (
            ["own.example", "-m", "companion(parents=9, unit=site)"],
            "own.example is known, but linked only from pages of its own site: "
            "try the method 'companion(unit=none, parents=9)'",
        ),
    ):
        ran = run("related", *given, "-i", place / "web.cocite")
        assert (ran.code, ran.out, ran.err) == (1, "", f"cocite: {message}\n")
    assert run("related", "own.example", "-m", "companion(unit=none)", "-i", place / "web.cocite").code == 0


def test_what_did_not_count_is_shown(store: Path) -> None:
    ran = run("related", NEWS, "-i", store, "--explain", "-m", "proximity(rel=follow, stop=unknown.example)")
    assert ran.out.splitlines()[-1].endswith("ms by proximity: stop pages 0, links not counted: nofollow")


def test_a_shorter_address_is_named(place: Path) -> None:
    pages = [page("https://list.example/", "https://a.example/", "https://b.example/"), page("https://a.example/x/y")]
    make(place / "web.cocite", pages)
    ran = run("related", "a.example/x/y", "-i", place / "web.cocite")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "Too few links are known around the page itself; these results are for a.example"
    assert ran.out.splitlines()[1].split("\t")[2] == "https://b.example/"
    assert json.loads(run("related", "a.example/x/y", "-i", place / "web.cocite", "--json").out)["used"] == [
        "a.example"
    ]
    assert "these results are for" not in run("related", "a.example", "-i", place / "web.cocite").out
    assert "these results are for" not in run("related", "A.Example/", "-i", place / "web.cocite").out
    ran = run("related", "a.example/x/y", "-i", place / "web.cocite", "-m", "proximity(chop=none)")
    assert (ran.code, ran.out) == (1, "")


def test_methods_side_by_side(store: Path) -> None:
    ran = run("compare", NEWS, "-i", store, "-m", "proximity", "-m", "cocitation", "-k", "3")
    assert ran.code == 0
    assert ran.out.splitlines()[0].split("\t") == ["proximity", "cocitation", "page"]
    found = json.loads(run("compare", NEWS, "-i", store, "--json").out)
    assert list(found["methods"]) == ["auto", *COMPARED_METHODS]
    ran = run("compare", LONELY, "-i", store)
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "no method finds anything related" in ran.err
    for given in (["-k", "-1"], ["-m", "nonsense"]):
        ran = run("compare", NEWS, "-i", store, *given)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_every_method_is_listed() -> None:
    ran = run("methods")
    assert [line.split()[0] for line in ran.out.splitlines()[:-2]] == methods.names()
    told = {each["name"]: each for each in json.loads(run("methods", "--json").out)}
    for name in methods.names():
        text = run("methods", name).out
        assert all(f"{each.name}=" in text and each.help in text for each in methods.about(name).parameters)
        assert [each["name"] for each in told[name]["parameters"]] == [p.name for p in methods.about(name).parameters]
    ran = run("methods", "nonsense")
    assert (ran.code, ran.out) == (2, "")
    assert ", ".join(methods.names()) in ran.err
