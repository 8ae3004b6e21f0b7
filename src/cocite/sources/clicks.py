"""Click logs → trails: how people went from page to page. Plain text, or compressed; read line by line.

Two layouts, told apart by the first lines:

- **transitions**, `from<TAB>to<TAB>count`: so many went directly from one page to the other. A header is skipped, and
  Wikipedia's clickstream, which has the kind of link as a third of four columns, is read as it is.
- **sessions**, one a line: the pages that somebody saw, in order, with tabs or, in a line without tabs, semicolons
  between them. `<` is a click on *back*, as in Wikispeedia's paths: in `a;b;<;c` somebody went from a to b, back, and
  from a to c. What was gone back from was seen all the same.

Lines that begin with `#` are comments. Whatever cannot be used is counted by reason, and the rest is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cocite.errors import BadSource
from cocite.sources.compressed import HEAD, head, open_lines
from cocite.sources.records import ReadReport

KINDS = ("transitions", "sessions")
BACK = "<"
MOST_CLICKS = 1e15
"""Beyond this a count is no count: sums would lose single clicks."""
LONGEST_LINE = 1 << 20
"""Bytes: a session of ten thousand pages."""
LINK_KINDS = ("link", "external", "other")
"""Wikipedia's third column."""
_COUNT = re.compile(r"n|counts?|number|clicks?|times|hits|visits|weight|frequency|transitions", re.IGNORECASE)


class Trail(NamedTuple):
    """Pages that were seen one after the other, and which clicks led from one to another."""

    pages: list[str]  # addresses as they are written, in the order in which they were first seen
    steps: list[tuple[int, int]]  # clicks: places in `pages`
    times: float = 1.0  # so many went this way


def read_clicks(path: Path, report: ReadReport, kind: str | None = None) -> Iterator[Trail]:
    """The trails of a file; `kind` is one of KINDS, or told from the first lines."""
    if kind is not None and kind not in KINDS:
        raise BadSource(f"a click log holds {' or '.join(KINDS)}, not {kind!r:.100}")
    read = _transition if (kind or recognised(head(path))) == "transitions" else _session
    first = True
    for line in open_lines(path, report, LONGEST_LINE):
        fields = _fields(line, report)
        if fields:
            if not (first and _is_header(fields)):
                report.read["rows"] += 1
                trail = read(fields, report)
                if trail is not None:
                    yield trail
            first = False


def recognised(start: bytes) -> str:
    """Which kind of clicks a file holds that begins so: transitions if most lines are like them."""
    lines = start.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(start) >= HEAD and len(lines) > 1:
        lines.pop()  # cut in the middle
    rows = [fields for line in lines[:1000] if (fields := _fields(line, ReadReport()))]
    alike = sum(_counted(fields) is not None or _is_header(fields) for fields in rows)
    return "transitions" if 2 * alike > len(rows) else "sessions"


def _fields(line: bytes, report: ReadReport) -> list[str]:
    """The fields of a line; none if it is empty, a comment, or no text."""
    line = line.removeprefix(b"\xef\xbb\xbf").strip(b" \r\n")
    if not line.strip() or line.startswith(b"#"):
        return []
    try:
        text = line.decode()
    except UnicodeDecodeError:
        report.skip("row that is not UTF-8 text", line[:100].decode("utf-8", "replace"))
        return []
    if "\0" in text:
        report.skip("row with NUL in it", text[:100])
        return []
    return [field.strip() for field in text.split("\t" if "\t" in text else ";")]


def _is_header(fields: list[str]) -> bool:
    return len(fields) in (3, 4) and bool(_COUNT.fullmatch(fields[-1]))


def _counted(fields: list[str]) -> float | None:
    """The count of a row of transitions, which may be a wrong one; None if the row has another shape."""
    if len(fields) != 3 and not (len(fields) == 4 and fields[2] in LINK_KINDS):
        return None
    try:
        return float(fields[-1])
    except ValueError:
        return None


def _transition(fields: list[str], report: ReadReport) -> Trail | None:
    count, example = _counted(fields), "\t".join(fields)[:300]
    if len(fields) < 3 or not fields[0] or not fields[1]:
        report.skip("row without from, to and count", example)
    elif count is None:
        report.skip("row whose count is no number, or with too many columns", example)
    elif math.isnan(count) or count <= 0:
        report.skip("row whose count is not positive", example)
    elif count > MOST_CLICKS:
        report.skip("row whose count is beyond all measure", example)
    else:
        return Trail(fields[:2], [(0, 1)], count)
    return None


def _session(fields: list[str], report: ReadReport) -> Trail | None:
    pages: list[str] = []
    steps: list[tuple[int, int]] = []
    way: list[int] = []  # from which pages one can go back
    for field in fields:
        if field == BACK:
            if len(way) < 2:
                report.skip("click on back where there is no page before", ";".join(fields)[:300])
            else:
                way.pop()
            continue
        if not field:
            report.skip("session with an empty address", ";".join(fields)[:300])
            way = []  # where somebody came from then is not known
            continue
        if way:
            steps.append((way[-1], len(pages)))
        way.append(len(pages))
        pages.append(field)
    if len(pages) < 2:
        report.read["sessions of one page"] += 1
        return None
    return Trail(pages, steps)
