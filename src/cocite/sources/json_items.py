"""Read JSON of strangers: one value per line, or the items of an array in a document of any size.

Browsers, bookmark managers and reference managers export one document rather than JSON Lines. An item is decoded as
soon as it is complete. Of a damaged document the items before the damage are read, and the damage is counted. Lone
surrogates, which JSON allows and Arrow does not, are replaced.
"""

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from cocite.sources.compressed import BYTE_ORDER_MARK, open_bytes, open_lines
from cocite.sources.records import ReadReport

MAX_ITEM = 64 << 20  # characters of an item, or of a value beside the array
MAX_KEYS = 1000  # of an object on the way to the array
DAMAGED_JSON = "damaged JSON: read up to the damage"

_READ = 64 << 10
_BLANK = re.compile(r"[ \t\n\r]*+")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_DECODE = json.JSONDecoder(strict=False).raw_decode


def json_lines(path: Path | IO[bytes], report: ReadReport) -> Iterator[Any]:
    """Yield the values of a file or stream with one on each line. Invalid lines are counted."""
    for number, line in enumerate(open_lines(path, report), 1):
        if line.strip():
            yield from json_line(line, number, report)


def json_line(line: bytes, number: int, report: ReadReport) -> list[Any]:
    """Return the value on a line, or nothing, which is counted, if it isn't JSON."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        report.skip("line with bytes that are not UTF-8 (replaced)", f"line {number}")
        text = line.decode("utf-8", "replace")
    try:
        return [json_value(text)]
    except json.JSONDecodeError as error:
        why = f", character {error.pos + 1}: {error.msg}"
    except (ValueError, RecursionError):
        why = ": a number is too long, or lists are too deeply nested"
    report.skip("line that is not JSON", f"line {number}{why}")
    return []


def json_value(text: str) -> Any:
    """Return the value of a text. Raises ValueError, RecursionError."""
    return json.loads(_without_surrogates(text) if _SURROGATE.search(text) else text)


def _without_surrogates(source: str) -> str:
    """Replace halves of pairs, which are valid in JSON, not in texts."""
    return _LONE_SURROGATE.sub(lambda half: "\\ufffd" if half[1] else half[0], source)


def as_text(value: object) -> str:
    """Return a text without the white space around it; of other values ""."""
    return value.strip() if isinstance(value, str) else ""


def as_list(value: object) -> list[Any]:
    """Return a list; of other values an empty one."""
    return value if isinstance(value, list) else []


def as_object(value: object) -> dict[str, Any]:
    """Return an object; of other values an empty one."""
    return value if isinstance(value, dict) else {}


def json_items(path: Path, report: ReadReport, *keys: str) -> Iterator[Any]:
    """Yield the items of an array: that of the whole document, or that under keys of nested objects."""
    with open_bytes(path, report) as stream:
        if stream.peek(3).startswith(BYTE_ORDER_MARK):
            stream.read(3)
        document = _Document(stream)
        try:
            if all(document.enter(key) for key in keys):
                yield from document.items()
        except (ValueError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            report.skip(DAMAGED_JSON, f"{path.name}: {why}")


class _Document:
    """A place in a document, and the text from there on as far as it has been read."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.decoder = stream, codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.at, self.ended = "", 0, False

    def more(self, size: int = _READ) -> bool:
        """Read more. Return False at the end."""
        if self.ended:
            return False
        data = self.stream.read(size)
        self.ended = not data
        self.text = self.text[self.at :] + self.decoder.decode(data, self.ended)
        self.at = 0
        return True

    def next(self) -> str:
        """The next character that isn't white space, or ""."""
        while True:
            found = _BLANK.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def expect(self, wanted: str) -> str:
        """Step over one of some characters."""
        found = self.next()
        if not found or found not in wanted:
            raise ValueError(f"{found or 'the end'} instead of {' or '.join(wanted)}")
        self.at += 1
        return found

    def value(self) -> Any:
        """Decode a value. While it is incomplete, the text that is read doubles: time stays linear."""
        self.next()
        while True:
            size = len(self.text) - self.at
            try:
                found, end = _DECODE(self.text, self.at)
                if end < len(self.text) or size > MAX_ITEM or not self.more(max(_READ, size)):  # a number may go on
                    break
            except ValueError as error:
                if size > MAX_ITEM:
                    raise ValueError(f"a value that is damaged, or longer than {MAX_ITEM >> 20} MiB") from error
                if not self.more(max(_READ, size)):
                    raise
        source = self.text[self.at : end]
        self.at = end
        return json.loads(_without_surrogates(source), strict=False) if _SURROGATE.search(source) else found

    def enter(self, key: str) -> bool:
        """Go to the value of a key in the object that begins here. Return False if it has none."""
        self.expect("{")
        for _ in range(MAX_KEYS):
            if self.next() == "}":
                return False
            found = self.value()
            self.expect(":")
            if found == key:
                return True
            self.value()
            if self.expect(",}") == "}":
                return False
        raise ValueError(f"an object with over {MAX_KEYS:,} keys")

    def items(self) -> Iterator[Any]:
        """The items of the array that begins here."""
        self.expect("[")
        if self.next() == "]":
            return
        while True:
            yield self.value()
            if self.expect(",]") == "]":
                return
