"""Files that commands write beside what they show: whole or not at all, and refused before any work is done."""

from __future__ import annotations

from pathlib import Path

from cocite.errors import BadParameter


def check_place(path: Path | None) -> None:
    """Refuse a place that cannot be written to."""
    if path is None:
        return
    if path.is_dir():
        raise BadParameter(f"{path} is a folder: give the name of a file in it")
    if not path.absolute().parent.is_dir():
        raise BadParameter(f"there is no folder {path.parent}: make it first, or write to another place")


def write_whole(path: Path, text: str) -> None:
    """Write a text; a file that was there is replaced when the new one is whole."""
    from cocite.graph.export.text import replacing

    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
