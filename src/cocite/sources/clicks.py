"""Read click logs: how people went from page to page. Files may be compressed, and are read line by line.

The first lines show which of two layouts a file has:

- **transitions**, `from<TAB>to<TAB>count`: how many people went from one page to the other. A header is skipped.
  Wikipedia's clickstream has four columns, with the kind of link as the third, and is read as it is.
- **sessions**, one per line: the pages that a person visited, in order, separated by tabs, or by semicolons in a line
  without tabs. `<` is a click on *back*, as in Wikispeedia's paths: `a;b;<;c` is from a to b, back to a, and on to c.

Lines that begin with `#` are comments. Invalid lines are counted by reason and skipped.
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cocite.errors import BadSource
from cocite.sources.compressed import head, head_lines, open_lines
from cocite.sources.records import ReadReport

LAYOUTS = ("transitions", "sessions")
BACK_CLICK = "<"
MAX_CLICKS = 1e15  # in a row; sums of larger counts would lose single clicks
MAX_LINE = 1 << 20  # bytes: a session of ten thousand pages
LINK_KINDS = ("link", "external", "other")  # the third column of Wikipedia's clickstream
_COUNT = re.compile(r"n|counts?|number|clicks?|times|hits|visits|weight|frequency|transitions", re.IGNORECASE)


class Trail(NamedTuple):
    """Pages visited one after the other, and the clicks between them."""

    pages: list[str]  # addresses as they are written, in the order of the first visits
    steps: list[tuple[int, int]]  # clicks, as positions in `pages`
    times: float = 1.0  # how many people went this way


def read_clicks(path: Path, report: ReadReport, kind: str | None = None) -> Iterator[Trail]:
    """Yield the trails of a file. `kind` is one of LAYOUTS; by default the first lines decide."""
    if kind is not None and kind not in LAYOUTS:
        raise BadSource(f"Unknown kind of click log {kind!r:.100}: use {' or '.join(LAYOUTS)}")
    read = _transition if (kind or detect_clicks(head(path))) == "transitions" else _session
    rows = filter(None, (_fields(line, report) for line in open_lines(path, report, MAX_LINE)))
    for number, fields in enumerate(rows):
        if number or not _is_header(fields):
            report.read["rows"] += 1
            trail = read(fields, report)
            if trail is not None:
                yield trail


def detect_clicks(start: bytes) -> str:
    """Return the kind of clicks in a file that begins with `start`: transitions if most lines look like them."""
    rows = [fields for line in head_lines(start) if (fields := _fields(line, ReadReport()))]
    matching = sum(_counted(fields) is not None or _is_header(fields) for fields in rows)
    return "transitions" if 2 * matching > len(rows) else "sessions"


def _fields(line: bytes, report: ReadReport) -> list[str]:
    """Return the fields of a line, or none if it is empty, a comment, or not text."""
    line = line.strip(b" \r\n")
    if not line.strip() or line.startswith(b"#"):
        return []
    try:
        text = line.decode()
    except UnicodeDecodeError:
        report.skip("row that is not UTF-8 text", line[:100].decode("utf-8", "replace"))
        return []
    if "\0" in text:
        report.skip("row with a NUL character", text[:100])
        return []
    return [field.strip() for field in text.split("\t" if "\t" in text else ";")]


def _is_header(fields: list[str]) -> bool:
    return len(fields) in (3, 4) and bool(_COUNT.fullmatch(fields[-1]))


def _counted(fields: list[str]) -> float | None:
    """Return the count of a row of transitions, valid or not, or None if the row has another shape."""
    if len(fields) != 3 and not (len(fields) == 4 and fields[2] in LINK_KINDS):
        return None
    try:
        return float(fields[-1])
    except ValueError:
        return None


def _transition(fields: list[str], report: ReadReport) -> Trail | None:
    count = _counted(fields)
    if len(fields) < 3 or not fields[0] or not fields[1]:
        reason = "row without from, to and count"
    elif count is None:
        reason = "row with an invalid count or too many columns"
    elif math.isnan(count) or count <= 0:
        reason = "row with a count that is not positive"
    elif count > MAX_CLICKS:
        reason = f"row with a count over {MAX_CLICKS:.0e}"
    else:
        return Trail(fields[:2], [(0, 1)], count)
    report.skip(reason, "\t".join(fields)[:300])
    return None


def _session(fields: list[str], report: ReadReport) -> Trail | None:
    pages: list[str] = []
    steps: list[tuple[int, int]] = []
    history: list[int] = []  # pages that *back* goes through
    example = ";".join(fields)[:300] if "" in fields or BACK_CLICK in fields else ""  # once: a row may have many faults
    for field in fields:
        if field == BACK_CLICK:
            if len(history) < 2:
                report.skip("click on back at the first page", example)
            else:
                history.pop()
            continue
        if not field:
            report.skip("session with an empty address", example)
            history = []  # the page before is unknown
            continue
        if history:
            steps.append((history[-1], len(pages)))
        history.append(len(pages))
        pages.append(field)
    if len(pages) < 2:
        report.read["sessions of one page"] += 1
        return None
    return Trail(pages, steps)
