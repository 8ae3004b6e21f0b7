"""cocite demo: the bundled sample, from its pages to answers; and the helper that compiles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from cocite.surfaces.cli import demo as module
from cocite.surfaces.cli import prepare
from cocite.surfaces.cli.demo import cached_store, company_of, sample_pages, typical
from tests.graph.webs import make
from tests.surfaces.conftest import run


def test_demo(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    ran = run("demo")
    assert ran.code == 0
    pages = len(list(sample_pages().glob("*.md")))
    assert f"{pages:,} lists" in ran.out
    assert "built in" in ran.out
    for line in ("The New York Times  https://www.nytimes.com/", "PostgreSQL  https://www.postgresql.org/"):
        assert line in ran.out
    beside = next(line for line in ran.out.splitlines() if "MySQL" in line)
    assert "most often beside it:" in beside and "SQLite" in beside
    store = next((place / "cocite").iterdir())
    assert f"export COCITE_INDEX={store}" in ran.out
    commands = [line.strip().split("\t")[0].split() for line in ran.out.splitlines() if line.startswith("  cocite ")]
    monkeypatch.setenv("COCITE_INDEX", str(store))
    for _, *args in [command for command in commands if command[1] != "build"]:
        assert run(*args).code == 0, f"demo recommends cocite {' '.join(args)}"
    again = run("demo", "python.org")
    assert "from the last run" in again.out
    assert again.err == ""
    assert run("demo", "no-such-page.example").code == 3


def test_demo_builds_anew_where_the_cache_is_damaged(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    cached_store().mkdir(parents=True)
    (cached_store() / "CURRENT").write_text("nonsense")

    def build_sample(store: Path, _: object) -> tuple[Path, float]:
        return make(store, [Page("https://a.example/", links=[Link("https://b.example/")])]).path, 1.0

    monkeypatch.setattr(module, "build_sample", build_sample)
    ran = run("demo", "b.example")
    assert "1 list, 1 link to 1 page, built in 1.0 s" in ran.out


def test_the_cache_goes_elsewhere_where_it_cannot_be_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "file"))
    store = cached_store()
    assert os.access(store.parent, os.W_OK)
    assert store.name.startswith("sample-")
    store.parent.rmdir()


@pytest.fixture
def lists(place: Path) -> Graph:
    """Three lists: two have x with a and b in one block, one has x with c; in the first, d is in another block."""
    x, a, b, c, d = (f"https://{name}.example/" for name in "xabcd")
    pages = [
        Page("https://l1.example/", links=[Link(x, block=0), Link(a, block=0), Link(b, block=0), Link(d, block=1)]),
        Page("https://l2.example/", links=[Link(b, block=3), Link(x, block=3), Link(a, block=3), Link(c, block=4)]),
        Page("https://l3.example/", links=[Link(x, block=0), Link(c, block=0)]),
        Page("https://l4.example/", links=[Link(x), Link(d)]),
    ]
    make(place / "web.cocite", pages)
    return Graph(place / "web.cocite")


def test_company(lists: Graph) -> None:
    found = company_of(lists, lists.find("x.example"))
    named = {lists.site(page): [lists.site(parent) for parent in parents] for page, parents in found.items()}
    assert named == {
        "a.example": ["l1.example", "l2.example"],
        "b.example": ["l1.example", "l2.example"],
        "c.example": ["l3.example"],
    }, "d is in another block, or in none that is known"


def test_typical_lists_come_first(lists: Graph) -> None:
    page = lists.find("x.example")
    order = [lists.site(parent) for parent in typical(lists, page, company_of(lists, page))]
    assert order == ["l1.example", "l2.example", "l3.example", "l4.example"]


def test_a_page_that_nothing_lists(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(place / "web.cocite", [Page("https://a.example/", links=[Link("https://b.example/")])])
    ran = run("demo", "a.example", "-o", place / "web.cocite")
    assert ran.code == 0
    assert "https://a.example/  in 0 lists" in ran.out


def test_the_helper_compiles_what_a_build_needs(place: Path) -> None:
    """Loops are compiled for the types of their arguments: the helper's must be those of a build."""
    from cocite.kernels import lists, look_up, near_duplicates

    loops = [near_duplicates.sketch_lists, near_duplicates.unite_equal, near_duplicates.unite_alike]
    loops += [look_up.find, lists.read_one]
    make(place / "web.cocite", [Page("https://a.example/", links=[Link("https://b.example/")])])
    Graph(place / "web.cocite").links_from(Graph(place / "web.cocite").find("a.example"))
    needed = [set(loop.signatures) for loop in loops]
    prepare.compile_late()
    assert [set(loop.signatures) for loop in loops] == needed


def test_the_helper_ends_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "COMMAND", ["sleep", "60"])
    monkeypatch.setattr(prepare.os, "cpu_count", lambda: 2)
    with prepare.helper() as start:
        start()
        (process,) = start()
        assert process.poll() is None
    assert process.poll() is not None
