"""Files that commands read and write, named by options."""

from __future__ import annotations

from pathlib import Path

from cocite.errors import BadParameter


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
