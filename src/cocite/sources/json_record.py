"""Convert page records from and to JSON, as described in `docs/page-records.md`.

Unknown fields are ignored. A field of the wrong type is counted and dropped. A record without an address is skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, cast

from cocite.sources.arrow_batches import MAX_INT32
from cocite.sources.records import SCHEMA, Link, Page, ReadReport


def page_from_json(line: bytes, number: int, report: ReadReport) -> Page | None:
    """Return the page in a line of JSON. Count a line without one, and return None."""
    try:
        record = json.loads(_decoded(line, number, report))
    except json.JSONDecodeError as error:
        report.skip("line that is not JSON", f"line {number}, character {error.pos + 1}: {error.msg}")
        return None
    except (ValueError, RecursionError):
        report.skip("line that is not JSON", f"line {number}: a number is too long, or lists are too deeply nested")
        return None
    if not isinstance(record, dict):
        report.skip("record that is not an object", f"line {number}: {line[:80].decode('utf-8', 'replace')}")
        return None
    url = record.get("url")
    if not isinstance(url, str) or not url.strip():
        report.skip("record without url", f"line {number}: {line[:80].decode('utf-8', 'replace')}")
        return None
    page = Page(url.strip())
    for name in SCHEMA.names[1:]:
        value = record.get(name)
        if value is None:
            continue
        converted = _CONVERTERS.get(name, _text)(value, report)
        if converted is None:
            report.skip(f"field {name!r} of the wrong type", f"line {number}: {str(value)[:80]}")
        else:
            setattr(page, name, converted)
    return page


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def _decoded(line: bytes, number: int, report: ReadReport) -> str:
    """Decode a line. Replace lone surrogates, which JSON allows and Arrow does not."""
    if _SURROGATE.search(line):
        line = _LONE_SURROGATE.sub(lambda found: b"\\ufffd" if found[1] else found[0], line)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        report.skip("line with bytes that are not UTF-8 (replaced)", f"line {number}")
        return line.decode("utf-8", "replace")


def _text(value: object, report: ReadReport) -> str | None:
    return value if isinstance(value, str) else None


def _status(value: object, report: ReadReport) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_INT32 else None


def _flag(value: object, report: ReadReport) -> bool | None:
    return value if isinstance(value, bool) else None


def _headings(value: object, report: ReadReport) -> list[str] | None:
    if not isinstance(value, list):
        return None
    for heading in value:
        if not isinstance(heading, str | None):
            report.skip("heading of the wrong type", str(heading)[:80])
    return [heading if isinstance(heading, str) else "" for heading in value]


def _links(value: object, report: ReadReport) -> list[Link] | None:
    if not isinstance(value, list):
        return None
    links = []
    for item in value:
        if isinstance(item, str):
            link = Link(item.strip())
        elif isinstance(item, dict) and isinstance(item.get("url"), str):
            link = _link(item, report)
        else:
            link = Link("")
        if link.url:
            links.append(link)
        else:
            report.skip("link without url", str(item)[:80])
    return links


def _link(item: dict[str, Any], report: ReadReport) -> Link:
    """Convert a link object. Most time goes here: fields are checked one by one only if a common check fails."""
    get = item.get
    text, context, rel = get("text"), get("context"), get("rel")
    block, weight, boilerplate = get("block"), get("weight"), get("boilerplate")
    if not (
        (text is None or type(text) is str)
        and (context is None or type(context) is str)
        and (rel is None or type(rel) is str)
        and (block is None or (type(block) is int and 0 <= block <= MAX_INT32))
        and (weight is None or (type(weight) in (int, float) and 0 < weight <= 1))
        and (boilerplate is None or type(boilerplate) is bool)
    ):
        return _link({name: value for name, value in item.items() if _is_valid(name, value, report)}, report)
    weight = 1.0 if weight is None else float(weight)
    return Link(item["url"].strip(), text or "", block, context or "", rel or "", weight, boilerplate or False)


def _is_valid(name: str, value: object, report: ReadReport) -> bool:
    """Return whether a field of a link is valid. Count it if not."""
    if name in ("text", "context", "rel"):
        valid = isinstance(value, str)
    elif name == "block":
        valid = type(value) is int and 0 <= value <= MAX_INT32
    elif name == "weight":
        valid = type(value) in (int, float) and 0 < cast(float, value) <= 1
    else:
        valid = name != "boilerplate" or isinstance(value, bool)
    if not valid and value is not None:
        report.skip(f"link field {name!r} of the wrong type or out of range", str(value)[:80])
    return valid


_CONVERTERS: dict[str, Callable[[object, ReadReport], object]] = {
    "links": _links,
    "headings": _headings,
    "status": _status,
    "noindex": _flag,
    "partial": _flag,
}


def page_to_json(page: Page) -> dict[str, Any]:
    """Return a page as a JSON object, without empty fields."""
    record = {
        name: value for name in SCHEMA.names if (value := getattr(page, name)) or (name == "status" and value == 0)
    }
    if page.links:
        record["links"] = [_link_record(link) for link in page.links]
    return record


def _link_record(link: Link) -> dict[str, Any]:
    record: dict[str, Any] = {"url": link.url}
    for name in ("text", "context", "rel", "boilerplate"):
        if value := getattr(link, name):
            record[name] = value
    if link.block is not None:
        record["block"] = link.block
    if link.weight != 1.0:
        record["weight"] = link.weight
    return record
