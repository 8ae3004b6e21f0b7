"""Tasks: operations that build or change a store, or write files, rather than ask a store something."""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from cocite.errors import BadParameter
from cocite.operations.declare import Operation, Progress
from cocite.text import count

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
MIN_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class Task(Operation):
    """Something to do; its fields are the parameters, beside the path of the store."""

    index: str = "web.cocite"
    shows_itself: ClassVar[bool] = False  # prints by itself what it does, so the command line shows no progress

    def do(self, progress: Progress) -> Any:
        """Do it; the result has `to_dict()`, or is None if everything is printed already."""
        raise NotImplementedError


class Facts(dict[str, Any]):
    """A result that is facts by name."""

    def to_dict(self) -> dict[str, Any]:
        return self


def read_addresses(path: str) -> list[str]:
    """The addresses of a file, one per line, if one is named; lines that begin with # are comments."""
    if not path:
        return []
    try:
        lines = [line.strip() for line in Path(path).read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        raise BadParameter(f"{path} isn't a text in UTF-8: give a file of addresses, one per line") from error
    addresses = [line for line in lines if line and not line.startswith("#")]
    if not addresses:
        raise BadParameter(f"{path} has no address: give bookmarks, an OPML file, or addresses, one per line")
    return addresses


def not_in_store(unknown: Sequence[str], of: str = "") -> str:
    """What to say about addresses that a store doesn't have; `of` is where they come from."""
    return f"Not in this store: {count(len(unknown), 'page')}{of and f' of {of}'}, such as {', '.join(unknown[:3])}"


def check_writable(path: str | Path | None) -> None:
    """Refuse a place that can't be written to, if one is named, before any work is done."""
    if not path:
        return
    path = Path(path)
    if path.is_dir():
        raise BadParameter(f"{path} is a folder: give the name of a file in it")
    if not path.absolute().parent.is_dir():
        raise BadParameter(f"Unknown folder {path.parent}: make it first, or write to another place")


def user_cache() -> Path:
    """The folder of the user for files that can be made again."""
    home = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or home) / "cocite"


def parse_size(text: str, name: str) -> int:
    """`512M` or `4 GiB` in bytes; the letters are powers of 1,024, as with Java and Spark."""
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise BadParameter(f"{name} must be a size such as 512M or 4G, not {text!r:.100}")
    number = float(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " ")
    if not MIN_MEMORY_BYTES <= number < 1 << 60:
        raise BadParameter(f"{name} must be at least {MIN_MEMORY_BYTES >> 20}M, not {text!r:.100}")
    return int(number)
