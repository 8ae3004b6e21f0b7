"""A watched folder: what is read after a change is what reading everything gives."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.sources.watched_folder import FolderChanges, WatchedFolder

BASE = "https://notes.example/"
NAMES = ("a", "b", "c", "sub/a", "sub/d", "other/d")
TEXTS = st.lists(
    st.sampled_from(
        ["[[a]]", "[[B|x]]", "[[sub/a]]", "[[d]]", "[[alias]]", "[[new]]", "[c](c.md)", "#tag", "words", "![[c#h]]"]
    ),
    max_size=4,
).map(" ".join)
FRONTS = st.sampled_from(["", "", "---\naliases: [alias]\n---\n", "---\naliases: [d, c]\n---\n"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "write", "delete", "move"]), st.sampled_from(NAMES), FRONTS, TEXTS), max_size=5
)


def watch(folder: Path, base: str | None = BASE, text: bool = True) -> WatchedFolder:
    return WatchedFolder(folder, base, None, text)


def committed(watched: WatchedFolder, changes: FolderChanges) -> FolderChanges:
    watched.keep(changes)
    return changes


def urls(changes: FolderChanges) -> dict[str, int | None]:
    return {row["url"].removeprefix(BASE): row["status"] for batch in changes.records for row in batch.to_pylist()}


@settings(max_examples=300, deadline=None)
@given(
    kept=st.booleans(), start=st.dictionaries(st.sampled_from(NAMES), st.tuples(FRONTS, TEXTS), min_size=1), steps=STEPS
)
def test_changes_are_what_reading_everything_gives(
    kept: bool, start: dict[str, tuple[str, str]], steps: list[tuple[str, ...]]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / ".obsidian").mkdir()
        (folder / "kept.md").write_text("[[a]] [[d]] [[alias]] [[other/d]]")
        for name, (front, text) in start.items():
            write(folder, name, front + text)
        watched = watch(folder, text=kept)
        committed(watched, watched.changes())
        for what, name, front, text in steps:
            file = folder / f"{name}.md"
            touched = {file}
            if what == "write":
                write(folder, name, front + text)
            elif what == "delete":
                file.unlink(missing_ok=True)
            elif file.exists():
                touched.add(file.rename(folder / "moved.md"))
            committed(watched, watched.changes_of(touched))
            fresh = watch(folder, text=kept)
            fresh.keep(fresh.changes())
            assert watched.seen == fresh.seen
            assert not watched.changes()


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / f"{name}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_only_what_changed_is_given(tmp_path: Path) -> None:
    one, two = write(tmp_path, "one", "[[two]]"), write(tmp_path, "two", "# Two")
    write(tmp_path, "three", "nothing")
    watched = watch(tmp_path)
    assert urls(committed(watched, watched.changes())) == {"one.md": None, "two.md": None, "three.md": None}
    assert not watched.changes_of([one, two])
    two.write_text("# Two!")
    assert urls(committed(watched, watched.changes_of([two]))) == {"two.md": None}
    (tmp_path / "sub").mkdir()
    moved = two.rename(tmp_path / "sub" / "two.md")  # the link of one leads elsewhere
    assert urls(committed(watched, watched.changes_of([two, moved]))) == {
        "one.md": None,
        "sub/two.md": None,
        "two.md": 410,
    }
    shutil.rmtree(tmp_path / "sub")
    assert urls(committed(watched, watched.changes_of([tmp_path / "sub"]))) == {"one.md": None, "sub/two.md": 410}
    moved = write(tmp_path, "sub/two", "again")
    assert urls(watched.changes_of([tmp_path / "sub"])) == {"one.md": None, "sub/two.md": None}
    assert urls(watched.changes_of([moved])) == urls(watched.changes_of([moved])), (
        "kept only when they are in the store"
    )


def test_what_is_not_a_page_is_ignored(tmp_path: Path) -> None:
    write(tmp_path, "one", "x")
    watched = watch(tmp_path)
    committed(watched, watched.changes())
    (tmp_path / ".obsidian").mkdir()
    store = tmp_path / "web.cocite"
    store.mkdir()
    (store / "CURRENT").write_text(f"g000001 {'0' * 32}\n")
    files = [
        tmp_path / name for name in ("picture.png", ".obsidian/workspace.json", "web.cocite/x.md", "web.cocite/CURRENT")
    ]
    for file in files[:3]:
        file.write_text("[[one]]")
    assert not watched.changes_of([*files, Path("/elsewhere/x.md")])
    assert not watched.report.read


def test_pages_of_a_documentation_tool(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>i</title><a href=a.html>a</a>")
    (tmp_path / "a.html").write_text("<title>a</title><a href=index.html>i</a>")
    watched = watch(tmp_path)
    committed(watched, watched.changes())
    (tmp_path / "a.html").write_text("<title>other</title>")
    assert urls(committed(watched, watched.changes_of([tmp_path / "a.html"]))) == {"a.html": None}
    (tmp_path / "a.html").unlink()
    assert urls(committed(watched, watched.changes_of([tmp_path / "a.html"]))) == {"a.html": 410}


def test_an_address_in_the_front_matter(tmp_path: Path) -> None:
    file = write(tmp_path, "one", "---\nurl: https://me.example/1\n---\n")
    write(tmp_path, "two", "---\nurl: https://me.example/2\n---\n")
    watched = watch(tmp_path, None)
    committed(watched, watched.changes())
    file.unlink()
    assert urls(watched.changes_of([file])) == {"https://me.example/1": 410}


def test_state_is_that_of_one_folder(tmp_path: Path) -> None:
    write(tmp_path, "one", "x")
    watched = watch(tmp_path)
    committed(watched, watched.changes())
    again = watch(tmp_path)
    assert again.restore(watched.state())
    assert not again.changes()
    for other in (None, {}, {**watched.state(), "base": "https://x.example/"}, {**watched.state(), "seen": 1}):
        assert not watch(tmp_path).restore(other)


def test_edge_lists_are_refused(tmp_path: Path) -> None:
    (tmp_path / "links.tsv").write_text("https://a.example/\thttps://b.example/\n" * 3)
    with pytest.raises(BadSource, match="can't watch"):
        watch(tmp_path).changes()


def test_changes_that_were_not_stored_are_found_again(tmp_path: Path) -> None:
    """The store may be locked when a note changes: the next change brings both."""
    for name in "abc":
        (tmp_path / f"{name}.md").write_text(f"# {name}\n[[a]]\n")
    watched = WatchedFolder(tmp_path, "https://n.example/", None, True)
    watched.keep(watched.changes())
    (tmp_path / "a.md").write_text("# a\nnew\n")
    (tmp_path / "b.md").unlink()
    lost = watched.changes_of([tmp_path / "a.md", tmp_path / "b.md"])
    assert (lost.changed, lost.gone) == (1, 1)
    (tmp_path / "c.md").write_text("# c\nnew\n")
    found = watched.changes_of([tmp_path / "c.md"])
    assert (found.changed, found.gone) == (2, 1)
    watched.keep(found)
    (tmp_path / "c.md").write_text("# c\nnewer\n")
    assert watched.changes_of([tmp_path / "c.md"]).changed == 1


def test_names_in_texts_are_links_if_that_is_wanted(tmp_path: Path) -> None:
    write(tmp_path, "one", "The words of Albatross are known.")
    other = write(tmp_path, "other", "# Other")
    watched = WatchedFolder(tmp_path, BASE, None, True, reads_mentions=True)
    assert set(urls(committed(watched, watched.changes()))) == {"one.md", "other.md"}
    other.write_text("# Other, which is like One")
    assert set(urls(committed(watched, watched.changes_of([other])))) == {"other.md"}
    named = write(tmp_path, "Albatross", "A bird.")
    changes = committed(watched, watched.changes_of([named]))
    assert set(urls(changes)) == {"one.md", "Albatross.md"}, "a text has the name of a new note"
    [row] = [row for batch in changes.records for row in batch.to_pylist() if row["url"] == BASE + "one.md"]
    assert [link["url"] for link in row["links"]] == [BASE + "Albatross.md"]
    assert WatchedFolder(tmp_path, BASE, None, True, reads_mentions=True).restore(watched.state())
    assert not WatchedFolder(tmp_path, BASE, None, True).restore(watched.state()), "its records were others"


def test_one_note_that_cannot_be_read_hides_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = write(tmp_path, "a", "[[c]]")
    write(tmp_path, "b", "[[c]]")
    read = Path.read_text

    def refuse(self: Path, *args: Any, **options: Any) -> str:
        if self.name == bad.name:
            raise PermissionError(13, "Permission denied")
        return read(self, *args, **options)

    monkeypatch.setattr(Path, "read_text", refuse)
    watched = watch(tmp_path)
    committed(watched, watched.changes())
    moved = write(tmp_path, "sub/c", "now it is there")
    assert "b.md" in urls(watched.changes_of([moved])), "its link leads elsewhere"
