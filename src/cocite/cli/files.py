"""Files that commands read and write, named by options."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cocite.errors import BadParameter
from cocite.parameters import parse, spell

PAGE_LISTS = ("stop", "dead")
"""Parameters of methods that are lists of pages: on the command line, an entry may be a file of addresses."""


def read_addresses(path: Path) -> list[str]:
    """The addresses of a file, one per line; lines that begin with # are comments."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        raise BadParameter(f"{path} isn't a text in UTF-8: give a file of addresses, one per line") from error
    addresses = [line for line in lines if line and not line.startswith("#")]
    if not addresses:
        raise BadParameter(f"{path} has no address: give bookmarks, an OPML file, or addresses, one per line")
    return addresses


def with_page_lists(call: str) -> str:
    """A method as it is written on the command line, with the files of `stop` and `dead` replaced by their lines."""
    if not any(f"{name}=" in call.replace(" ", "") for name in PAGE_LISTS):
        return call
    name, values = parse(call)
    for key in PAGE_LISTS:
        if entries := values.get(key):
            some = (entries,) if isinstance(entries, str) else entries
            values[key] = tuple(address for entry in some for address in _entry(key, entry))
    return spell(name, values)


def _entry(key: str, text: str) -> Iterator[str]:
    """The addresses of a file, or the address itself; raises BadParameter for a path without a file."""
    if os.path.isfile(text):  # noqa: PTH113 - Path.is_file raises if a name is too long for one
        try:
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise BadParameter(f"cannot read the {key} pages of {text}: {error}") from error
        yield from (line.strip() for line in lines if line.strip() and not line.startswith("#"))
        return
    host, slash, _ = text.replace("\\", "/").partition("/")
    without_host = bool(slash) and not any(mark in host for mark in ".:") and host != "localhost"
    is_path = text.startswith((".", "~", "/")) or text.lower().endswith((".txt", ".tsv", ".csv"))
    if "://" not in text and (without_host or is_path):
        raise BadParameter(f"Unknown file {text!r:.200} of {key} pages: check the path, or give addresses")
    yield text


def check_writable(path: Path | None) -> None:
    """Refuse a place that can't be written to, before any work is done."""
    if path is None:
        return
    if path.is_dir():
        raise BadParameter(f"{path} is a folder: give the name of a file in it")
    if not path.absolute().parent.is_dir():
        raise BadParameter(f"Unknown folder {path.parent}: make it first, or write to another place")


def write_file(path: Path, text: str) -> None:
    """Write a text; an old file is replaced when the new one is complete."""
    from cocite.sources.page_records import replacing

    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
