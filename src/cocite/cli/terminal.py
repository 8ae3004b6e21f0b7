"""Output on a terminal, and as plain text elsewhere.

Titles and addresses are untrusted: only their printable characters reach a terminal (`clean`), and no text is ever
read as markup.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from cocite.text import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

TITLE_PART = 0.55
"""The part of a row that a long title may have beside an address."""
MIN_ADDRESS = 14
"""Columns that a row needs to show an address beside a title; a shorter part of it is useless."""
FORCED = {"FORCE_COLOR", "TTY_COMPATIBLE"}
"""With these variables, Rich treats any output as a terminal."""


class Cell(NamedTuple):
    """A part of a row: on a terminal cut or filled to its width (0: as it is), to the left or to the right."""

    text: str
    width: int = 0
    style: str = ""
    right: bool = False


class Screen:
    """Standard output, or standard error."""

    def __init__(self, stderr: bool = False, short_title: Callable[[int], str] | None = None) -> None:
        self._stderr = stderr
        self._short_title = short_title

    @cached_property
    def console(self) -> "Console":
        """Rich's console, without any of its guesses about texts."""
        from rich.console import Console

        return Console(stderr=self._stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)

    @property
    def live(self) -> bool:
        """Whether this is a terminal that can do more than print lines."""
        stream = sys.stderr if self._stderr else sys.stdout
        if not ("console" in vars(self) or stream.isatty() or FORCED & os.environ.keys()):
            return False  # without importing Rich
        return self.console.is_terminal and not self.console.is_dumb_terminal

    @property
    def width(self) -> int:
        """Columns of the terminal; beyond 140 long lines are harder to read, not easier."""
        return min(140, self.console.width) if self.live else 0

    def line(self, *parts: str | tuple[str, str], indent: int = 0) -> None:
        """A line of texts, or of (text, style); a terminal wraps it."""
        styled = [(_safe(part), "") if isinstance(part, str) else (_safe(part[0]), part[1]) for part in parts]
        if not self.live:
            self._write(" " * indent + "".join(words for words, _ in styled))
            return
        from rich.padding import Padding
        from rich.text import Text

        text = Padding(Text.assemble(*styled), (0, 0, 0, indent), expand=False)
        self.console.print(text, soft_wrap=False, width=self.width)

    def row(self, *cells: Cell, indent: int = 0) -> None:
        """Cells beside each other, cut to the terminal's width; elsewhere complete and separated by tabs."""
        if not self.live:
            self._write(" " * indent + "\t".join(clean(cell.text) for cell in cells).rstrip("\t"))
            return
        from rich.text import Text

        text = Text(" " * indent)
        for cell in cells:
            text.append_text(_fitted(cell)).append("  ")
        text.rstrip()
        text.truncate(self.width, overflow="ellipsis")
        self.console.print(text)

    def wrapped_row(self, *cells: Cell, indent: int = 0) -> None:
        """As `row`, but a terminal wraps the last cell in its column, instead of cutting it."""
        if not self.live:
            self.row(*cells, indent=indent)
            return
        self._grid([(_fitted(cell), cell.width) for cell in cells], indent)

    def title_width(self, titles: Iterable[str], before: int) -> int:
        """The width of a column of titles after `before` columns, which leaves room for addresses."""
        from rich.cells import cell_len

        return min(max(map(cell_len, titles), default=0), int((self.width - before) * TITLE_PART))

    def page(self, title: str, url: str, *before: Cell, style: str = "", indent: int = 0, column: int = 0) -> None:
        """A row with the title and address of a page, or the address alone, after other cells.

        Titles fill a column of that width; without one, the address follows the title.
        """
        if not self.live:
            self.row(*before, Cell(title or url), Cell(url if title else ""), indent=indent)
            return
        from rich.cells import cell_len

        room = self.width - indent - sum((cell.width or cell_len(cell.text)) + 2 for cell in before)
        title, address = clean(title), short_address(url)
        if not title:
            self.row(*before, Cell(cut_middle(address, room), 0, style), indent=indent)
            return
        wide = column or min(cell_len(title), max(room - cell_len(address) - 2, int(room * TITLE_PART)))
        left = room - wide - 2
        cells = [Cell(title, wide, style), Cell(cut_middle(address, left), style="cyan")]
        self.row(*before, *(cells if left >= min(MIN_ADDRESS, cell_len(address)) else cells[:1]), indent=indent)

    def title(self, title: str, page: int) -> str:
        """The title of a page, on a terminal without what its site adds to every title."""
        return self._short_title(page) if self.live and self._short_title and page >= 0 else title

    def entry(self, label: Cell, text: str, *more: Cell, style: str = "", indent: int = 0) -> None:
        """A label, and a text beside it, which a terminal wraps in its column; `more` follows the text."""
        if not self.live:
            self.row(label, Cell(text), *more, indent=indent)
            return
        from rich.text import Text

        body = Text(clean(text), style)
        for cell in more:
            body.append(f"  {clean(cell.text)}", cell.style)
        self._grid([(_fitted(label), label.width), (body, 0)], indent)

    def _grid(self, cells: Sequence[tuple["Text", int]], indent: int) -> None:
        """Texts beside each other, each wrapped in a column of its width (0: what is left)."""
        from rich.padding import Padding
        from rich.table import Table

        grid = Table.grid(padding=(0, 2, 0, 0))
        for _, width in cells:
            grid.add_column(width=width or None)
        grid.add_row(*(text for text, _ in cells))
        self.console.print(Padding(grid, (0, 0, 0, indent), expand=False), soft_wrap=False, width=self.width)

    def blank(self) -> None:
        """An empty line."""
        self._write("")

    def json(self, value: Any) -> None:
        """One JSON object, which is all of the output."""
        self._write(json.dumps(value, ensure_ascii=False, indent=None if not self.live else 1))

    def _write(self, text: str) -> None:
        stream = sys.stderr if self._stderr else sys.stdout
        stream.write(text + "\n")


def _safe(text: str) -> str:
    """As `clean`, with the spaces at both ends kept, since lines are put together from parts."""
    inner = text.strip(" ")
    before = len(text) - len(text.lstrip(" "))
    return " " * before + clean(inner) + " " * (len(text) - before - len(inner))


def short_address(url: str) -> str:
    """An address for people: without its scheme, and without the slash after a host."""
    text = clean(url.partition("://")[2] or url)
    return text.removesuffix("/") if text.count("/") == 1 else text


def cut_middle(text: str, room: int) -> str:
    """A text of at most `room` columns: its beginning and its end, which tell addresses apart."""
    from rich.cells import cell_len

    if cell_len(text) <= room or room < 5:
        return text
    first, last = text[: room // 2], text[-(room - 1 - room // 2) :]
    while cell_len(first) + cell_len(last) + 1 > room:  # wide characters
        first, last = (first[:-1], last) if cell_len(first) >= cell_len(last) else (first, last[1:])
    return f"{first}…{last}"


def _fitted(cell: Cell) -> "Text":
    from rich.text import Text

    text = Text(clean(cell.text), cell.style, overflow="ellipsis")
    if cell.width:
        text.align("right" if cell.right else "left", cell.width)
    return text


def size(number: float) -> str:
    """Bytes for people: `384 kB`, `3.6 GB`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if abs(number) < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{number:,.0f} {unit}" if unit == "bytes" or number >= 100 else f"{number:,.1f} {unit}"


def seconds(number: float) -> str:
    """A time for people: `0.8 s`, `34 s`, `12 min 5 s`."""
    if number < 10:
        return f"{number:.1f} s"
    if number < 120:
        return f"{number:.0f} s"
    return f"{number // 60:,.0f} min {number % 60:.0f} s"


def rate(number: float) -> str:
    """A number per second in three digits: `840`, `5,010`, `1.2 M`."""
    if number >= 1e6:
        return f"{number / 1e6:.1f} M"
    return f"{number:,.0f}"


def show_table(
    screen: Screen, title: str, table: tuple[Sequence[str], Sequence[Sequence[object]]], names: int = 1
) -> None:
    """A table under a title, unless it has no rows; the first `names` columns are names.

    Columns that don't fit go on below, with the names repeated.
    """
    head, rows = table
    if not rows:
        return
    texts = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in texts) if screen.live else 0 for i in range(len(head))]
    screen.blank()
    screen.line((title, "bold"))
    for part in parts_of(widths, names, screen.width):
        for at, row in enumerate(texts):
            style = "dim" if at == 0 else ""
            screen.row(*(Cell(row[i], widths[i], style, i >= names) for i in part))


def parts_of(widths: Sequence[int], names: int, room: int) -> list[list[int]]:
    """The columns of a table, in parts that each begin with the names and fit into `room` characters (0: no limit)."""
    first = list(range(names))
    parts = [first[:]]
    for column in range(names, len(widths)):
        wide = sum(widths[i] + 2 for i in parts[-1]) + widths[column]
        if room and wide > room and len(parts[-1]) > names:
            parts.append(first[:])
        parts[-1].append(column)
    return parts
