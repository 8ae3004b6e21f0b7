"""Stop lists that come with cocite: addresses that pages of any topic link to (Dean & Henzinger 1999, §2.1.1).

`stop=@common` names the list of `stop_pages.txt`. An entry that doesn't begin with @ is the address of a page.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from cocite.errors import BadParameter

STOP_LIST_FILES = {"@common": "stop_pages.txt"}


def stop_addresses(entries: Sequence[str]) -> list[str]:
    """The addresses of a stop list, with named lists replaced by theirs; raises BadParameter for an unknown name."""
    return [each for entry in entries for each in (listed(entry) if entry.startswith("@") else (entry,))]


@cache
def listed(name: str) -> tuple[str, ...]:
    """The addresses of a named list."""
    if name not in STOP_LIST_FILES:
        raise BadParameter(f"Unknown stop list {name!r:.100}. Available: {', '.join(STOP_LIST_FILES)}")
    lines = Path(__file__).with_name(STOP_LIST_FILES[name]).read_text("utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))
