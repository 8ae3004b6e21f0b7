"""Lists of pages that a method takes may be files on the command line, and only there: strangers can't name files."""

import os
from collections.abc import Iterator
from pathlib import Path

from cocite.errors import BadParameter
from cocite.parameters import parse, spell

PAGE_LISTS = ("stop", "dead", "blocks", "trust")
"""Parameters of methods that are lists of pages: on the command line, an entry may be a file of them."""


def with_page_lists(call: str) -> str:
    """A method as it is written on the command line, with the files of lists of pages replaced by their lines."""
    if not any(f"{name}=" in call.replace(" ", "") for name in PAGE_LISTS):
        return call
    name, values = parse(call)
    for key in PAGE_LISTS:
        if entries := values.get(key):
            some = (entries,) if isinstance(entries, str) else entries
            values[key] = tuple(address for entry in some for address in listed_pages(key, entry))
    return spell(name, values)


def listed_pages(key: str, text: str) -> Iterator[str]:
    """The addresses of a file, or the address itself; raises BadParameter for a path without a file."""
    if os.path.isfile(text):  # noqa: PTH113 - Path.is_file raises if a name is too long for one
        try:
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise BadParameter(f"cannot read the {key} pages of {text}: {error}") from error
        yield from (line.strip() for line in lines if line.strip() and not line.startswith("#"))
        return
    if key == "blocks" and "\t" not in text:
        raise BadParameter(f"Unknown file {text!r:.200} of blocks: check the path, or give page<TAB>block")
    host, slash, _ = text.replace("\\", "/").partition("/")
    without_host = bool(slash) and not any(mark in host for mark in ".:") and host != "localhost"
    is_path = text.startswith((".", "~", "/")) or text.lower().endswith((".txt", ".tsv", ".csv"))
    if "://" not in text and (without_host or is_path):
        raise BadParameter(f"Unknown file {text!r:.200} of {key} pages: check the path, or give addresses")
    yield text
