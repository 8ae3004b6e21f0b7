"""A vault of notes: how long it takes to read, to build, and until a changed note is in the store.

    python bench/vault.py --notes 20000

Reading by markdown-it alone is measured beside it, in turns, on a tenth of the notes. Times are of the processor, so
that other work on the machine counts less; those of the build are of the wall, by part.
"""

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from cocite.graph.build.maintain import add
from cocite.graph.build.passes import BuildOptions, build
from cocite.sources.collections import plain_markdown
from cocite.sources.open_source import Source, open_source
from cocite.sources.records import ReadReport
from cocite.sources.watched_folder import WatchedFolder
from cocite.system import usable_cores
from cocite.words.search import renew_search

BASE = "https://notes.example/"


def make_vault(folder: Path, notes: int) -> int:
    """Write notes with headings, paragraphs, lists, tags and twelve links each; returns their bytes."""
    dice = random.Random(1)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(3, 9))) for _ in range(20_000)]

    def some(number: int) -> str:
        return " ".join(words[min(int(dice.paretovariate(0.6)) - 1, len(words) - 1)] for _ in range(number))

    (folder / ".obsidian").mkdir(parents=True)
    size = 0
    for note in range(notes):
        parts = [f"---\naliases: [alias {note}]\ntags: [t{note % 97}]\n---\n# Note {note}\n\n{some(40)}\n"]
        for _ in range(3):
            one, two, three = (dice.randrange(notes) for _ in range(3))
            parts.append(
                f"## {some(2)}\n\n{some(30)} [[Note {one}]] {some(10)} [[Note {two}|{some(2)}]] #{some(1)}\n\n"
                f"- {some(5)} [[alias {three}]]\n- [x](https://example{dice.randrange(2000)}.org/{some(1)}) {some(5)}\n"
                f"- **{some(2)}** {some(8)} *{some(1)}* `{some(1)}`\n"
            )
        place = folder / f"folder {note % 50}"
        place.mkdir(exist_ok=True)
        text = "\n".join(parts)
        (place / f"Note {note}.md").write_text(text)
        size += len(text)
    return size


def processor_seconds(work: Callable[[], object]) -> float:
    """What a piece of work takes of the processor."""
    began = _used()
    work()
    return _used() - began


def _used() -> float:
    """Processor time of this process, and of those that it started and that ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def read_all(folder: Path) -> None:
    """Read a vault as a build does."""
    for _ in open_source(str(folder), ReadReport(), base=BASE).records():
        pass


def by_markdown_it(folder: Path) -> None:
    """Read a vault with every block left to markdown-it."""
    split = plain_markdown.split
    plain_markdown.split = lambda text: None
    try:
        read_all(folder)
    finally:
        plain_markdown.split = split


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        small, large, store = (Path(place) / name for name in ("small", "large", "notes.cocite"))
        make_vault(small, given.notes // 10)
        size = make_vault(large, given.notes)
        read_all(small)
        theirs, ours = float("inf"), float("inf")
        for _ in range(3):
            theirs = min(theirs, processor_seconds(lambda: by_markdown_it(small)))
            ours = min(ours, processor_seconds(lambda: read_all(small)))
        print(f"{given.notes:,} notes, {size / 1e6:.1f} MB")
        print(
            f"reading a tenth: {ours:.2f} s of processor; by markdown-it alone {theirs:.2f} s (× {theirs / ours:.1f})"
        )
        options, report = BuildOptions(), ReadReport()
        opened = open_source(str(large), report, base=BASE)
        began = time.perf_counter()
        took = processor_seconds(lambda: build([opened], store, report, options))
        built = time.perf_counter()
        words = processor_seconds(lambda: renew_search(store, True))
        print(f"build: {took:.1f} s of processor, {built - began:.1f} s of the wall; {usable_cores()} cores")
        print(f"words: {words:.1f} s of processor, {time.perf_counter() - built:.1f} s of the wall")
        watched = WatchedFolder(large, BASE, None, text=True)
        watched.keep(watched.changes())
        note = large / "folder 1" / "Note 1.md"
        for number in range(4):
            note.write_text(f"# Note 1\n[[Note {number + 5}]] changed\n")
            began = time.perf_counter()
            changes = watched.changes_of([note])
            read = time.perf_counter()
            add(
                [Source("notes", "folder", 0, report, lambda found=changes.records: iter(found))],
                store,
                report,
                options,
            )
            added = time.perf_counter()
            renew_search(store, True)
            watched.keep(changes)
            times = (read - began, added - read, time.perf_counter() - added)
            print("change {}: read {:.2f} s, links {:.2f} s, words {:.2f} s of the wall".format(number + 1, *times))


if __name__ == "__main__":
    main()
