"""What somebody has read: addresses with weights, dates and dwell times; how files have them, and what each counts.

A visit counts

    weight · 2t / (t + 30) · 2^(−age / half_life) · decay^place

for t seconds on the page (1 where they are unknown: so 30 seconds count 1, and hours count 2), its age in days beside
the latest visit (0 where it has no date), and its place from the end of the history, the last visit having place 0.
Where all visits have dates, the history is in their order.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from cocite.errors import BadParameter, BadSource

MAX_WEIGHT = 1e9
SATISFIED_SECONDS = 30.0
"""A visit of this length counts 1: searchers who stay for 30 seconds are mostly satisfied (Fox et al. 2005)."""
DAY_SECONDS = 86_400
VISIT_FIELDS = {
    "url": ("url", "address", "page", "link"),
    "weight": ("weight", "visits", "count"),
    "date": ("date", "time", "visited", "captured", "added", "saved", "created", "last_visit", "visit_time"),
    "dwell": ("dwell", "seconds", "duration"),
}
"""Names of columns, and of fields of records, for each part of a visit."""
MAX_FILE_BYTES = 64 << 20
_UNITS = {13: 1e3, 16: 1e6}
"""Times since 1970 with this many digits are in milliseconds, in microseconds; with fewer in seconds."""


class Visit(NamedTuple):
    """A page that somebody has read."""

    url: str
    weight: float = 1.0
    date: float | None = None  # seconds since 1970
    dwell: float | None = None  # seconds on the page


def weights_of(visits: Sequence[Visit], half_life: float = 0.0, decay: float = 1.0) -> list[tuple[str, float]]:
    """What each visit counts, the oldest first; perhaps nothing. A half-life of 0 days means that dates don't count."""
    visits = sorted(visits, key=lambda each: each.date or 0.0) if all(each.date for each in visits) else visits
    latest = max((each.date for each in visits if each.date is not None), default=0.0)
    weighed = []
    for place, each in enumerate(reversed(visits)):
        weight = each.weight * decay**place
        if each.dwell is not None:
            weight *= 2 * each.dwell / (each.dwell + SATISFIED_SECONDS)
        if each.date is not None and half_life:
            weight *= 0.5 ** ((latest - each.date) / DAY_SECONDS / half_life)
        weighed.append((each.url, weight))
    return weighed[::-1]


def visit_of(given: Mapping[str, Any], where: str) -> Visit:
    """A visit from fields by name; raises BadParameter."""
    lower = {str(name).strip().lower(): value for name, value in given.items()}
    found = {part: next((lower[name] for name in names if lower.get(name) not in (None, "")), None)
             for part, names in VISIT_FIELDS.items()}  # fmt: skip
    if not isinstance(found["url"], str) or not found["url"].strip():
        raise BadParameter(f"{where} has no url: give the address of a page that was read")
    weight = 1.0 if found["weight"] is None else check_weight(found["weight"], where)
    date = None if found["date"] is None else time_of(found["date"], where)
    return Visit(found["url"].strip(), weight, date, check_dwell(found["dwell"], where))


def check_weight(given: object, where: str) -> float:
    """The weight as a number; raises BadParameter unless it is above 0 and at most 1e9."""
    weight = _number(given)
    if not 0 < weight <= MAX_WEIGHT:
        raise BadParameter(f"{where}: a weight must be a number above 0, not {str(given)[:100]!r}")
    return weight


def check_dwell(given: object, where: str) -> float | None:
    """Seconds on a page, None where they are unknown; raises BadParameter if they are below 0."""
    if given is None or given == "":
        return None
    seconds = _number(given)
    if not 0 <= seconds <= MAX_WEIGHT:
        raise BadParameter(f"{where}: a dwell time must be a number of seconds, not {str(given)[:100]!r}")
    return seconds


def time_of(given: object, where: str) -> float:
    """A date such as 2026-05-17 or 2026-05-17T10:30, or a number since 1970, in seconds; raises BadParameter."""
    text = str(given).strip()
    if re.fullmatch(r"\d{9,16}(\.\d+)?", text):
        return float(text) / _UNITS.get(len(text.partition(".")[0]), 1.0)
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        message = f"{where}: a date must be such as 2026-05-17 or 2026-05-17T10:30, not {text[:100]!r}"
        raise BadParameter(message) from None


def _number(given: object) -> float:
    """A number, or one that is never allowed."""
    try:
        found = float(given) if not isinstance(given, bool) else -1.0  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return -1.0
    return found if isfinite(found) else -1.0


def read_history(path: Path) -> list[Visit]:
    """Read a file of pages that were read; raises BadParameter if it isn't one.

    - lines of an address, perhaps with tab and weight, tab and date, tab and seconds; # begins a comment
    - a table with a header, by tabs or commas, and JSON records, one per line: see VISIT_FIELDS
    - bookmarks, and every other source of pages with addresses of their own, such as a browser's history
    """
    from cocite.sources.collections.browser_history import SQLITE

    try:
        with path.open("rb") as file:
            content = file.read(len(SQLITE))
            if content == SQLITE:  # however large: nobody can cut a part out of it
                return _from_source(path)
            content += file.read(MAX_FILE_BYTES + 1 - len(content))
    except OSError as error:
        raise BadParameter(f"cannot read the history {path} ({error}): give a file of address<TAB>weight") from error
    if len(content) > MAX_FILE_BYTES:
        raise BadParameter(f"the history {path} has more than {MAX_FILE_BYTES >> 20} MB: give the latest part")
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _from_source(path)
    if start.startswith(b"<"):
        return _from_source(path, only_lists=True)
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    lines = [(number, line) for number, line in lines if not line.lstrip().startswith("#")]
    if start.startswith((b"{", b"[")):
        found = list(_from_json(text, lines, path))
    else:
        found = list(_from_lines(lines, path))
    if not found:
        raise BadParameter(f"{path} contains no address: give one address<TAB>weight per line")
    return found


def _from_lines(lines: Sequence[tuple[int, str]], path: Path) -> Iterator[Visit]:
    """The visits of a table with a header, or of lines that begin with an address."""
    first = lines[0][1] if lines else ""
    separator = "\t" if "\t" in first else ","
    head = [name.strip().strip('"').lower() for name in first.split(separator)]
    if any(name in VISIT_FIELDS["url"] for name in head):
        rows, separated = lines[1:], separator
    else:
        rows, separated, head = lines, "\t", ["url", "weight", "date", "dwell"]
    for number, line in rows:
        try:
            [parts] = csv.reader([line], delimiter=separated, quoting=csv.QUOTE_NONE if separated == "\t" else 0)
        except csv.Error as error:
            raise BadParameter(f"line {number} of {path} is not a row of a table ({error})") from error
        yield visit_of(dict(zip(head, parts, strict=False)), f"line {number} of {path}")


def _from_json(text: str, lines: Iterable[tuple[int, str]], path: Path) -> Iterator[Visit]:
    """The visits of JSON: records one per line, or one list of them."""
    try:
        if text.lstrip().startswith("["):
            records = list(enumerate(json.loads(text), 1))
        else:
            records = [(number, json.loads(line)) for number, line in lines]
    except (ValueError, RecursionError) as error:
        raise BadParameter(f"{path} is not valid JSON ({error}): give records with a url, one per line") from error
    for number, record in records:
        given = {"url": record} if isinstance(record, str) else record
        if not isinstance(given, dict):
            raise BadParameter(f"record {number} of {path} is not an object: give records with a url")
        yield visit_of(given, f"record {number} of {path}")


def _from_source(path: Path, only_lists: bool = False) -> list[Visit]:
    """The pages of a source: those that lists such as bookmarks link to, and of others those that were captured."""
    from cocite.sources.collections import bookmarks, opml
    from cocite.sources.compressed import head
    from cocite.sources.open_source import open_source
    from cocite.sources.records import ReadReport

    try:
        is_list = any(kind.recognises(path, head(path)) for kind in (bookmarks.SOURCE, opml.SOURCE))
        if only_lists and not is_list:
            raise BadSource("it is neither bookmarks nor OPML")
        pages = [
            page
            for batch in open_source(str(path), ReadReport(), text=False).records()
            for page in batch.select(["url", "captured", "links"]).to_pylist()
        ]
    except BadSource as error:
        raise BadParameter(f"cannot read the history {path} ({error}): give a file of address<TAB>weight") from error
    if is_list:
        found = [Visit(link["url"]) for page in pages for link in page["links"]]
    else:
        dated = ((page["url"], page["captured"]) for page in pages)
        found = [Visit(url, date=time_of(date, str(path)) if date else None) for url, date in dated]
    if not found:
        raise BadParameter(f"{path} contains no address: give a file of address<TAB>weight")
    return found
