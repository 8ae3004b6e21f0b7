"""Folders that a job still writes, or was stopped in: what lies in them is not all, and nothing else would tell."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from cocite.errors import BadSource

TEMPORARY = "_temporary"
"""Where Spark and Hadoop keep what they write until all of it is there."""
WORK = "_work"
"""Where `cocite spark` keeps its steps until it is done."""
PLAN = f"{WORK}/plan.json"
"""What it was asked, while it is at work."""
PAGES_DONE = "_pages.json"
"""What `cocite spark pages` notes when it is done."""


def not_whole(place: str) -> BadSource:
    """What to say of such a folder."""
    return BadSource(f"{place} is not whole: what writes it is at work or was stopped; let it end, or run it again")


def is_begun(place: Path, folders: Collection[str], names: Collection[str]) -> bool:
    """Whether a folder that holds these folders and files is one."""
    return TEMPORARY in folders or (WORK in folders and PAGES_DONE not in names and (place / PLAN).is_file())
