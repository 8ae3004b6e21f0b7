"""cocite communities, as people and programs see it."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import networkx as nx
import pytest

from tests.cli.conftest import NASTY, run
from tests.graph.webs import make
from tests.operations.test_communities import PAGES, site


@pytest.fixture(scope="module")
def topics(fast_root: Path) -> Iterator[Path]:
    pages = deepcopy(PAGES)
    pages[0].links[0].text = NASTY
    make(fast_root / "topics.cocite", pages)
    yield fast_root / "topics.cocite"


def test_words(topics: Path) -> None:
    done = run("communities", "makers", "of", "cars", "-i", topics)
    assert done.code == 0 and "principal" in done.out and "motor" in done.out
    lines = done.out.splitlines()
    assert [line.split("\t")[-1] for line in lines if "\thttps://fast" in line or "\thttps://slow" in line][:2] == [
        site("fast"),
        site("slow"),
    ]
    assert " root pages, " in lines[-1] and lines[-1].endswith("ms")


def test_pages_and_noise(topics: Path) -> None:
    names = ("papers0", "papers1", "papers2", "post", "globe", "times")
    pages = [part for name in names for part in ("--page", site(name))]
    done = run("communities", *pages, "-i", topics, "-m", "community(npea=max, basis=root)", "-k", "2")
    assert done.code == 0
    assert "noise pages (first 2 of 8)" in done.out
    assert "linked with 1 of 6 root pages" in done.out and "8 eliminated below" in done.out
    assert "\x1b" not in done.out


def test_side_by_side(topics: Path) -> None:
    names = ("papers0", "papers1", "papers2", "post", "globe", "times")
    pages = [part for name in names for part in ("--page", site(name))]
    done = run("communities", *pages, "-i", topics, "-m", "community(npea=max, basis=root)", "--no-npea")
    assert done.code == 0 and "with NPEA: principal" in done.out and "without: principal" in done.out
    assert "− Buy now" in done.out  # what NPEA takes away


def test_json(topics: Path) -> None:
    done = run("communities", "newspapers", "-i", topics, "--json", "--no-npea")
    told = json.loads(done.out)
    assert told["query"] == "newspapers" and told["communities"][0]["hubs"]
    assert {"base_set", "without_npea"} <= set(told)
    assert "without_npea" not in json.loads(run("communities", "newspapers", "-i", topics, "--json").out)


NAMES = ("papers0", "papers1", "papers2", "post", "times", "cars0", "cars1", "fast", "slow")
GIVEN = [part for name in NAMES for part in ("--page", site(name))]


def test_drawn(topics: Path, tmp_path: Path) -> None:
    page, graph = tmp_path / "out.html", tmp_path / "out.gexf"
    page.write_text("before")
    done = run("communities", *GIVEN, "-i", topics, "-m", "community(basis=root)", "--html", page, "--gexf", graph)
    assert done.code == 0, done.err
    text = page.read_text("utf-8")
    assert text.startswith("<!doctype html>") and text.count("<path") == 13 and "\x1b" not in text
    assert nx.read_gexf(graph, version="1.3").number_of_nodes() == 18
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.gexf", "out.html"]  # nothing passing is left
    assert len([line for line in done.out.splitlines() if "Buy now" in line]) > 5  # 12 of each where they are drawn


def test_drawn_side_by_side_with_the_experiment(topics: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text("".join(f"{site(f'spam{n}')}\tnoise\n" for n in range(8)) + f"{site('globe')}\ttopic\nx\ty\n")
    args = (*GIVEN, "-i", topics, "-m", "community(basis=root)", "--labels", labels)
    page = tmp_path / "out.html"
    done = run("communities", *args, "--no-npea", "--html", page)
    assert done.code == 0, done.err
    assert "Labels by labels.tsv: 8 noise, 1 on topic, 0 of them suspected" in done.out
    assert "0.5\t2\tavg\t1.792\t8\t8\t0\t1.00\t1.00\t0.00\t1.00" in done.out
    assert "Skipped in" in done.err and "1 label that is neither noise nor topic" in done.err
    text = page.read_text("utf-8")
    assert "Without removing noise" in text and "How well noise is recognised" in text
    told = json.loads(run("communities", *args, "--json").out)["experiment"]
    assert [each["npfr"] for each in told["table_1"] if (each["npea"], each["delta"]) == ("avg", 0.5)] == [1.0]


def test_swept_by_words(topics: Path) -> None:
    done = run("communities", "newspapers", "-i", topics, "--sweep")
    assert done.code == 0 and "Labels by the words" in done.out and "NPFR\tNPFP\tSPFP\tEFP" in done.out


def test_an_old_picture_stays_if_the_new_one_fails(
    topics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "out.html"
    page.write_text("before")

    def broken(self: Path, *_: object, **__: object) -> int:
        self.open("w").close()
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", broken)
    done = run("communities", "newspapers", "-i", topics, "--html", page)
    assert done.code == 2 and "no space left" in done.err
    assert page.read_bytes() == b"before" and [file.name for file in tmp_path.iterdir()] == ["out.html"]


def test_places_that_cannot_be_written_to(topics: Path, tmp_path: Path) -> None:
    for option in ("--html", "--gexf"):
        done = run("communities", "newspapers", "-i", topics, option, tmp_path)
        assert (done.code, done.out) == (2, "") and "is a folder: give the name of a file in it" in done.err
        done = run("communities", "newspapers", "-i", topics, option, tmp_path / "no" / "out")
        assert (done.code, done.out) == (2, "") and "Unknown folder" in done.err
    done = run("communities", "zebra", "-i", topics, "--html", tmp_path / "out.html")
    assert done.code == 1 and not (tmp_path / "out.html").exists()


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        ((), 2, "Nothing to look for: give some words, or pages"),
        (("",), 2, "Nothing to look for"),
        (("?!",), 2, "No word to search for"),
        (("zebra",), 1, "No page has any of the words 'zebra'"),
        (("--page", "https://nowhere.example/"), 3, "not in this store"),
        (("cars", "-m", "companion"), 2, "by the method community, not 'companion'"),
        (("cars", "-m", "community(delta=7)"), 2, "delta must be a number"),
        (("cars", "-k", "-1"), 2, "-k must be a whole number"),
        (
            ("--page", site("fast"), "--sweep"),
            2,
            "--sweep needs words, or --labels FILE",
        ),
        (("cars", "--labels", "nowhere.tsv"), 2, "nowhere.tsv"),
        (("--page", site("fast"), "-m", "community(in_links=0)"), 1, "No link between two sites around"),
    ],
)
def test_failures(topics: Path, args: tuple[str, ...], code: int, says: str) -> None:
    done = run("communities", *args, "-i", topics)
    assert (done.code, len(done.err.strip().splitlines()[-1:])) == (code, 1)
    assert says in done.err
