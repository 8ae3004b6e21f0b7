"""Vaults of notes: wiki links, aliases, embeds, tags; the same name twice, missing notes, links of folders."""

from __future__ import annotations

import builtins
import io
import os
import time
from pathlib import Path

import pytest

from cocite.errors import BadSource
from cocite.sources.collections import note_workers
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from cocite.sources.wikis.notes import Notes, properties, relative
from tests.sources.timing import without_collection

BASE = "https://notes.example/"


def vault(folder: Path, **files: str) -> Path:
    """A folder of notes; __ in names is a slash."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def read(folder: Path, kind: str | None = None) -> dict[str, dict]:  # type: ignore[type-arg]
    batches = open_source(str(folder), ReadReport(strict=True), base=BASE, kind=kind).records()
    return {row["url"].removeprefix(BASE): row for batch in batches for row in batch.to_pylist()}


def links(row: dict) -> list[tuple[str, str]]:  # type: ignore[type-arg]
    return [(link["url"].removeprefix(BASE), link["text"]) for link in row["links"]]


@pytest.mark.parametrize("kind", [None, "markdown"])
def test_wiki_links_lead_to_the_notes_that_they_name(tmp_path: Path, kind: str | None) -> None:
    vault(
        tmp_path,
        start="[[storage]], [[Ideas/files|the *files*]], ![[Search#Why]], [[sql lite]], [[#here]] and [[new note]].\n"
        "![[picture.png]] `[[code]]` [a](storage.md) [[storage|again]]\n",
        ideas__Files="# Files\n## Two\n[[start]] [[Storage#x^y|s]]\n\n| a | b |\n|---|---|\n| [[search\\|t]] | x |\n",
        storage="---\naliases: [SQL Lite, other]\n---\nnothing",
        search="---\naliases:\n  - find\n  - 'look up'\n---\n[[look up]] [[other]]",
    )
    pages = read(tmp_path, kind)
    assert links(pages["start.md"]) == [
        ("storage.md", "storage"),
        ("ideas/Files.md", "the files"),
        ("search.md", "Search"),
        ("storage.md", "sql lite"),
        ("new%20note.md", "new note"),
        ("storage.md", "a"),
        ("storage.md", "again"),
    ]
    files = pages["ideas/Files.md"]
    assert links(files) == [("start.md", "start"), ("storage.md", "s"), ("search.md", "t")]
    assert {files["headings"][link["block"]] for link in files["links"]} == {"Two"}
    assert (files["title"], pages["start.md"]["title"]) == ("Files", "start")
    assert links(pages["search.md"]) == [("storage.md", "other")]
    assert "[[" not in pages["start.md"]["text"].replace("[[code]]", "")


def test_of_notes_with_one_name_the_nearest_comes_first(tmp_path: Path) -> None:
    vault(tmp_path, a__index="[[index]] [[x]]", b__index="[[a/index]]", b__x="[[index]]", c__d__x="", start="[[index]]")
    pages = read(tmp_path)
    assert links(pages["a/index.md"]) == [("b/x.md", "x")]
    assert links(pages["b/index.md"]) == [("a/index.md", "index")]
    assert links(pages["b/x.md"]) == [("b/index.md", "index")]
    assert links(pages["start.md"]) == [("a/index.md", "index")]


def test_tags_are_weak_links_in_vaults(tmp_path: Path) -> None:
    text = '---\ntags: [SQL, "two words"]\n---\n# Title\nA #python/json note, #1, a#b, `#code` https://x.example/#part'
    vault(tmp_path, sub__note=text)
    assert links(read(tmp_path)["sub/note.md"]) == [("https://x.example/#part", "https://x.example/#part")]
    (tmp_path / ".obsidian").mkdir()
    page = read(tmp_path)["sub/note.md"]
    assert links(page)[1:] == [
        ("tags/sql", "#SQL"), ("tags/two%20words", "#two words"), ("tags/python/json", "#python/json"),
    ]  # fmt: skip
    assert {(link["weight"], link["boilerplate"]) for link in page["links"][1:]} == {(0.25, True)}
    assert page["headings"][page["links"][-1]["block"]] == "Tags"


def test_logseq(tmp_path: Path) -> None:
    vault(tmp_path, pages__c="- [[a/b]] [[AB]]")
    (tmp_path / "pages" / "a___b.md").write_text("alias:: ab, other name\ntags:: x, y\n- [[c%2Fd]]\n- text")
    (tmp_path / "logseq").mkdir()
    pages = read(tmp_path)
    assert links(pages["pages/c.md"]) == [("pages/a___b.md", "b"), ("pages/a___b.md", "AB")]
    assert links(pages["pages/a___b.md"])[1:] == [("tags/x", "#x"), ("tags/y", "#y")]


def test_properties() -> None:
    assert properties("---\naliases: one\nTags:\n- a\n- b\ntitle: x\n---\n") == {"alias": ["one"], "tag": ["a", "b"]}
    assert properties("---\naliases:\n  - \"one, two\"\n  - three\ntags: [a, b]\n---\n") == {
        "alias": ["one, two", "three"], "tag": ["a", "b"]
    }  # fmt: skip
    assert properties("text\naliases: no\n") == {}


def test_a_single_file_has_no_vault(tmp_path: Path) -> None:
    vault(tmp_path, note="[[other]] [x](https://x.example/)")
    assert links(read(tmp_path / "note.md")["note.md"]) == [("https://x.example/", "x")]


def test_folders_that_link_to_themselves_end(tmp_path: Path) -> None:
    vault(tmp_path, a="[[b]]", sub__b="")
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    assert links(read(tmp_path)["a.md"]) == [("sub/b.md", "b")]


def test_names_outside_the_vault_stay_inside(tmp_path: Path) -> None:
    notes = Notes(vault(tmp_path, a="", sub__b=""))
    assert notes.find("../../../etc/passwd", "sub/b.md") is not None
    assert notes.find("sub/b", "sub/b.md") is None
    assert notes.find("A", "sub/b.md") == "a.md"
    assert notes.find("12:30 call", "a.md") == "12:30 call.md"
    assert relative("12:30 call.md", "a.md") == "./12%3A30%20call.md"
    assert relative("a.md", "sub/b.md") == "../a.md"


def in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(note_workers, "MIN_FILES", 1)
    monkeypatch.setattr(note_workers, "CHUNK_FILES", 3)
    monkeypatch.setattr(note_workers, "usable_cores", lambda: 2)


def test_several_processes_read_what_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".obsidian").mkdir()
    notes = {f"n{number}": f"# N {number}\n[[n{number + 1}]] [[other {number - 1}]] #t\n" for number in range(20)}
    vault(
        tmp_path,
        **notes,
        empty="",
        mention="see other 3",
        sub__deep="---\naliases: other 3\n---\n[x](https://x.example/) [y](mailto:y)",
    )
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("[[n1]]")
    (tmp_path / "pages.jsonl").write_text('{"url": "https://p.example/"}')

    def rows(text: bool) -> tuple[list[dict], ReadReport]:  # type: ignore[type-arg]
        report = ReadReport()
        batches = open_source(str(tmp_path), report, base=BASE, text=text, mentions=text).records()
        return [row for batch in batches for row in batch.to_pylist()], report

    expected = {text: rows(text) for text in (True, False)}
    in_processes(monkeypatch)
    for text, (alone, report) in expected.items():
        together, counted = rows(text)
        assert together == alone
        assert (counted.read, counted.skipped, counted.example) == (report.read, report.skipped, report.example)
    assert expected[True][1].read["file of an unsupported type"] == 1
    assert [len(row["links"]) for row in expected[True][0] if row["url"] == f"{BASE}mention.md"] == [1]


def test_processes_say_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_processes(monkeypatch)
    vault(tmp_path, **{f"n{number}": "text" for number in range(8)})
    with pytest.raises(BadSource, match="has no address: use --base"):
        list(open_source(str(tmp_path), ReadReport()).records())
    with pytest.raises(BadSource, match="has no address: use --base"):
        list(open_source(str(tmp_path), ReadReport(strict=True), kind="markdown").records())
    vault(tmp_path, n1="---\nurl: https://one.example/\n---\n")
    report = ReadReport()
    assert sum(batch.num_rows for batch in open_source(str(tmp_path), report).records()) == 1
    assert report.skipped == {"file that can't be read": 7}


def test_a_process_that_ends_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_processes(monkeypatch)
    vault(tmp_path, one="text", two="text")
    monkeypatch.setattr(note_workers.Worker, "send", lambda worker, message: worker.process.kill())
    with pytest.raises(BadSource, match="ended: is there enough memory"):
        list(open_source(str(tmp_path), ReadReport(), base=BASE).records())


def test_time_grows_with_the_number_of_notes(tmp_path: Path) -> None:
    @without_collection
    def seconds(count: int) -> float:
        folder = vault(tmp_path / str(count), **{f"n{n}": f"[[n{n + 1}]] [[index]]" for n in range(count)})
        began = time.process_time()
        read(folder)
        return time.process_time() - began

    seconds(50)
    once = seconds(300)
    assert seconds(1200) < 9 * once + 0.2


def test_names_that_are_not_linked_are_weak_links_if_wanted(tmp_path: Path) -> None:
    folder = vault(
        tmp_path,
        start="# Start\nAn INVERTED index of the storage, [[linked]]; linked again; not storages. Start.\n",
        **{"inverted index": "---\naliases: [posting list]\n---\nA posting list", "index": "x", "ideas__storage": "y"},
        linked="z",
        map="a map, 2024 and the posting\nlist",
    )
    (tmp_path / "2024.md").write_text("numbers alone name too much")
    plain = read(folder)
    assert links(plain["start.md"]) == [("linked.md", "linked")]
    found = {
        row["url"].removeprefix(BASE): row
        for batch in open_source(str(folder), ReadReport(strict=True), base=BASE, mentions=True).records()
        for row in batch.to_pylist()
    }
    assert links(found["start.md"])[1:] == [
        ("inverted%20index.md", "inverted index"),
        ("ideas/storage.md", "storage"),
    ]
    assert links(found["map.md"]) == [("inverted%20index.md", "posting list")]
    assert links(found["inverted%20index.md"]) == []
    weak = found["start.md"]["links"][1]
    assert (weak["weight"], weak["boilerplate"], weak["block"]) == (0.25, True, 1)
    assert found["start.md"]["headings"] == ["Start", "Mentions"]


def test_a_note_that_cannot_be_read_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("# A\n[[b]] [[x]]\n")
    (tmp_path / "b.md").write_text("---\naliases: [x]\n---\n# B\n")
    (tmp_path / "c.md").write_text("[[a]]\n")
    opened = builtins.open

    def failing(file: object, *args: object, **options: object) -> object:
        if str(file) == str(tmp_path / "c.md"):
            raise PermissionError(13, "Permission denied", str(file))
        return opened(file, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(builtins, "open", failing)
    monkeypatch.setattr(io, "open", failing)
    report = ReadReport()
    batches = open_source(str(tmp_path), report, base="https://n.example/", kind="markdown").records()
    pages = [page for batch in batches for page in batch.to_pylist()]
    assert [page["url"] for page in pages] == ["https://n.example/a.md", "https://n.example/b.md"]
    assert [link["url"] for link in pages[0]["links"]] == ["https://n.example/b.md"] * 2
    assert report.skipped == {"file that can't be read": 1}
