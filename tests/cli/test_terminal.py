"""What reaches a terminal, and the displays of progress."""

from __future__ import annotations

import io
import threading
import time
import unicodedata
from dataclasses import replace
from typing import Any

import numba
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import event
from rich.cells import cell_len
from rich.console import Console

from cocite.cli import progress
from cocite.cli.progress import Lines, Live, Stages, amount, display
from cocite.cli.terminal import Cell, Screen, cut_middle, rate, seconds, short_address, size
from cocite.cli.views.answers import show_answers, show_comparison
from cocite.graph.store import Graph
from cocite.kernels import jit
from cocite.kernels.jit import FIRST_RUN_NOTE, watch
from cocite.operations.pages.compare import Compare
from cocite.operations.pages.related import Related
from cocite.operations.store.build import with_estimates
from cocite.results.naming import titles_of
from cocite.sources.open_source import Source
from cocite.sources.records import Link, Page, ReadReport
from cocite.text import clean, count
from cocite.web import Web

ESCAPE = "\x1b"


@given(st.text())
def test_cleaned_text_is_harmless(text: str) -> None:
    cleaned = clean(text)
    assert all(unicodedata.category(c)[0] != "C" or c in "\u200c\u200d" for c in cleaned)
    assert cleaned == cleaned.strip()
    assert "\n" not in cleaned and "\u2028" not in cleaned
    assert clean(cleaned) == cleaned


def test_cleaning_keeps_printable_text() -> None:
    assert clean("Füße 名前 نیم‌فاصله 👩‍👧 [bold]x[/bold]") == "Füße 名前 نیم‌فاصله 👩‍👧 [bold]x[/bold]"
    assert clean("a\x1b[2Jb\x9b31mc\u202ed\ud800\x00") == "a[2Jb31mcd"
    assert clean(" a \t\r\n b ") == "a b"


class Terminal(Screen):
    """A terminal of a given width, kept in memory."""

    def __init__(self, width: int, color: bool = False) -> None:
        super().__init__()
        self.file = io.StringIO()
        system: Any = "standard" if color else None
        self.__dict__["console"] = Console(
            file=self.file, force_terminal=True, width=width, color_system=system, highlight=False, soft_wrap=True
        )

    @property
    def lines(self) -> list[str]:
        return self.file.getvalue().splitlines()


def test_rows_are_cut_to_the_terminal() -> None:
    terminal = Terminal(30)
    terminal.row(Cell("12", 4, right=True), Cell("a long label", 6), Cell("https://example.com/a/b/c"))
    terminal.row(Cell("1", 4, right=True), Cell("名前名前", 6), Cell("x"))
    assert terminal.lines[0] == "  12  a lon…  https://example…"
    assert [cell_len(line) for line in terminal.lines] == [30, 15], "wide characters count as two"


def test_lines_wrap_with_their_indent() -> None:
    terminal = Terminal(20)
    terminal.line(("one two three ", "bold"), "four five", indent=4)
    assert [line.rstrip() for line in terminal.lines] == ["    one two three", "    four five"]


def test_strangers_cannot_steer_the_terminal() -> None:
    terminal = Terminal(60, color=True)
    terminal.line("a\x1b[2Jb", ("[red]c[/red]", "bold"))
    terminal.row(Cell("a\x1b]0;title\x07", 12, "cyan"), Cell("\r[link=x]y"))
    written = terminal.file.getvalue()
    assert "[red]c[/red]" in written and "[link=x]y" in written
    sequences = {part[: part.index("m") + 1] for part in written.split(ESCAPE)[1:]}
    assert sequences <= {"[1m", "[36m", "[0m"}, "only our own styles"


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (size(0), "0 bytes"), (size(999), "999 bytes"), (size(38_390), "38.4 kB"), (size(383_905), "384 kB"),
        (size(3.6e9), "3.6 GB"), (size(9e12), "9,000 GB"), (seconds(0.04), "0.0 s"), (seconds(34.4), "34 s"),
        (seconds(725), "12 min 5 s"), (rate(840), "840"), (rate(5010), "5,010"), (rate(1.24e6), "1.2 M"),
        (count(1, "page"), "1 page"), (count(2000, "page"), "2,000 pages"), (amount("reading", 5), "5 links"),
        (amount("verifying checksums", 2000), "2.0 kB"), (amount("numbering pages", 1234), "1,234 pages"),
    ],
)  # fmt: skip
def test_numbers_for_people(shown: str, text: str) -> None:
    assert shown == text


def test_a_log_gets_a_line_per_stage(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines(Screen(stderr=True)) as stages:
        for _ in range(3):
            stages("reading", 10, None)
        stages("numbering pages", 7, 7)
        stages("choosing parents", 0, None)
    lines = capsys.readouterr().err.splitlines()
    assert [line.rsplit(",", 1)[0] for line in lines] == ["reading: 30 links", "numbering pages: 7 pages"]


def test_long_stages_are_logged(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "HEARTBEAT_SECONDS", -1)
    stages = Lines(Screen(stderr=True))
    stages("reading", 10, None)
    stages("reading", 5, None)
    assert capsys.readouterr().err == "reading: 10 links, so far\nreading: 15 links, so far\n"


def test_how_much_is_left_follows_from_the_bytes_read() -> None:
    stages, report = Stages(), ReadReport()
    report.read["bytes"] = 250
    source = Source("a", "records", 1000, report, lambda: iter(()))
    progress = with_estimates(stages, [source], report)
    progress("reading", 100, None)
    assert (stages.done, stages.total) == (100, 400)
    progress("resolving links", 50, 80)
    assert (stages.done, stages.total) == (50, 80)
    with_estimates(stages, [source, replace(source, size_bytes=0)], report)("reading", 10, None)
    assert (stages.done, stages.total) == (10, None), "the size of one is unknown"


def test_the_live_display() -> None:
    terminal = Terminal(80)
    with Live(terminal) as stages:
        stages("reading", 1_000, None)
        stages.say(FIRST_RUN_NOTE)
        stages.compile("read_parents")
        stages("numbering pages", 300, 300)
        table = stages._progress.make_tasks_table(stages._progress.tasks)
        other = Terminal(80)
        other.console.print(table)
    assert "✓ reading" in other.lines[0] and "1,000 links" in other.lines[0]
    assert "compiling" in other.lines[1] and "read_parents" in other.lines[1]
    assert "numbering pages" in other.lines[2] and "300 pages" in other.lines[2]
    assert all(len(line) <= 80 for line in other.lines)
    assert FIRST_RUN_NOTE[:40] in terminal.file.getvalue()


def test_compiling_is_announced_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "watch", watch)
    begun: list[int] = []
    with display(compiling=lambda: begun.append(1)):
        for kind in (1, 1.5):
            numba.njit(lambda x: x + 1)(kind)
    assert capsys.readouterr().err == FIRST_RUN_NOTE + "\n"
    assert begun == [1]
    numba.njit(lambda x: x + 2)(1)
    assert (capsys.readouterr().err, begun) == ("", [1]), "the display has ended"


def test_compiling_in_several_threads_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    @numba.njit
    def work() -> None: ...

    monkeypatch.setattr(jit, "watch", watch)
    begun: list[int] = []

    def slow() -> None:
        time.sleep(0.02)
        begun.append(1)

    def compile_something() -> None:
        event.start_event("numba:compile", {"dispatcher": work})
        event.end_event("numba:compile", {"dispatcher": work})

    with display(quiet=True, compiling=slow):
        threads = [threading.Thread(target=compile_something) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert begun == [1]


def test_addresses_are_cut_in_the_middle() -> None:
    assert short_address("https://www.bmw.com/") == "www.bmw.com"
    assert short_address("http://a.example/b/") == "a.example/b/"
    assert short_address("some name") == "some name"
    assert cut_middle("abcdefghij", 10) == "abcdefghij"
    assert cut_middle("abcdefghij", 7) == "abc…hij"
    terminal = Terminal(40)
    terminal.page("A long title of a page, which is cut", "https://host.example/a/b/c/d.html", Cell("1", 3))
    assert len(terminal.lines[0]) <= 40 and terminal.lines[0].endswith("d.html")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]), max_size=40), st.integers(5, 30))
def test_a_cut_text_fits(text: str, room: int) -> None:
    assert cell_len(cut_middle(text, room)) <= max(room, 5)


def test_texts_wrap_beside_their_label() -> None:
    terminal = Terminal(30)
    terminal.entry(Cell("name", 10), "one two three four five six", Cell("(seven)"), indent=2)
    lines = [line.rstrip() for line in terminal.lines]
    assert lines[0].startswith("  name        one two") and all(len(line) <= 30 for line in lines)
    assert " ".join(" ".join(lines).split()) == "name one two three four five six (seven)"


def test_comparisons_name_methods_and_fit() -> None:
    pages = [
        Page(f"https://list{n}.example/", links=[Link(f"https://{c}.example/", block=0) for c in "abcd"])
        for n in (1, 2)
    ]
    web = Web(Graph.from_records(pages))
    terminal, asked = Terminal(80), Compare(urls=("a.example",))
    show_comparison(terminal, asked, asked.run(web))
    names = [method for method, _ in asked.run(web).by_method.items()]
    heads, first = terminal.lines[: len(names)], terminal.lines[len(names)]
    assert [head.split()[-1] for head in heads] == names and all(len(line) <= 80 for line in terminal.lines)
    ends = [at for at, letter in enumerate(first) if letter != " "][: len(names)]
    assert [head.index(name) for head, name in zip(heads, names, strict=True)] == ends, "each name is above its column"


def test_reasons_are_not_cut_on_a_terminal() -> None:
    title = "A list with quite a long title that says what it is about, and for whom"
    pages = [Page("https://list.example/", title, links=[Link(f"https://{c}.example/", block=0) for c in "abc"])]
    web = Web(Graph.from_records(pages))
    answers, terminal = Related(urls=("a.example",)).run(web), Terminal(80)
    show_answers(terminal, answers, False)
    reasons = [line for line in terminal.lines if line.startswith("     ")]
    assert "…" not in "".join(reasons) and title in " ".join(" ".join(reasons).split())


def test_what_a_site_adds_to_titles_is_dropped() -> None:
    names = ("json", "csv", "os", "re", "Introduction")
    pages = [Page(f"https://docs.example/{name}", f"{name} — Module — Example docs") for name in names]
    other = Page("https://other.example/", "Other - Example docs")
    titles = titles_of(graph := Graph.from_records([*pages, other]))
    assert [titles.short(graph.find(page.url)) for page in pages] == [f"{name} — Module" for name in names]
    assert titles.short(graph.find(other.url)) == "Other - Example docs", "a single page has nothing to compare with"
    assert titles.title(graph.find(pages[0].url)) == "json — Module — Example docs"


def test_what_a_site_writes_before_titles_is_dropped() -> None:
    names = ("Domains", "Numbers – all", "Protocols", "Root", "About")
    pages = [Page(f"https://i.example/{name[:4]}", f"IANA — {name}") for name in names]
    odd = Page("https://i.example/odd", "Root servers — a list")
    titles = titles_of(graph := Graph.from_records([*pages, odd]))
    assert [titles.short(graph.find(page.url)) for page in pages] == list(names)
    assert titles.short(graph.find(odd.url)) == "Root servers — a list"


def test_wrapped_rows_keep_their_columns() -> None:
    terminal = Terminal(24)
    terminal.wrapped_row(Cell("links", 6), Cell("5", 3, right=True), Cell("of 7; dropped 2 of them"), indent=2)
    assert [line.rstrip() for line in terminal.lines] == [
        "  links     5  of 7;",
        "               dropped 2",
        "               of them",
    ]


def test_addresses_of_a_column_of_titles_are_aligned() -> None:
    terminal, titles = Terminal(60), ["Short", "A longer title"]
    column = terminal.title_width(titles, 5)
    for title in titles:
        terminal.page(title, "https://example.org/", Cell("1", 3), column=column)
    assert [line.index("example.org") for line in terminal.lines] == [21, 21]
    narrow = Terminal(30)
    narrow.page("A longer title than fits", "https://example.org/a/b", Cell("1", 3), column=20)
    assert "…" not in narrow.lines[0][:24] and "exam" not in narrow.lines[0], "a stump of an address is left out"
