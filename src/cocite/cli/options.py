"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from cocite.errors import BadParameter

KINDS = "records, edges, warc, wat, html, markdown, bookmarks, opml, webgraph, crawl"

Index = Annotated[Path, typer.Option("--index", "-i", metavar="STORE", envvar="COCITE_INDEX", help="The store to use.")]
Store = Annotated[
    Path | None, typer.Argument(metavar="STORE", help="The store to use, instead of -i.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Don't show progress.")]

Sources = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE", help="Files, folders, - for records from a pipe, or addresses to crawl from."),
]
Base = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Base URL for sources without addresses: HTML or Markdown files, bookmarks."),
]
Kind = Annotated[str | None, typer.Option(metavar="KIND", help=f"Kind of the sources, if not recognised: {KINDS}.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first record that can't be used.")]
Anchors = Annotated[
    bool | None,
    typer.Option(
        "--anchors/--no-anchors", help="Keep the texts of links (add: default as before).", show_default=False
    ),
]
Text = Annotated[
    bool | None,
    typer.Option(
        "--text/--no-text",
        help="Keep the texts of pages, and index all words for search (add: default as before).",
        show_default=False,
    ),
]
Platforms = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Your own table of platforms: hosts on which every author is a site."),
]
Memory = Annotated[str, typer.Option(metavar="SIZE", help="Approximate memory to use, such as 512M or 4G.")]
Threads = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=256, help="Number of threads (default: one per core, up to 8)."),
]
Depth = Annotated[int, typer.Option(min=0, metavar="N", help="Crawling: maximum number of links from the address.")]
MaxPages = Annotated[int, typer.Option(min=1, metavar="N", help="Crawling: maximum number of pages per address.")]
Delay = Annotated[
    float, typer.Option(min=0, metavar="SECONDS", help="Crawling: minimum time between two requests to one host.")
]
Scope = Annotated[
    str, typer.Option(metavar="site|host|any", help="Crawling: stay on the site, on the host, or go anywhere.")
]
AllowPrivate = Annotated[bool, typer.Option("--allow-private", help="Crawling: fetch private and local addresses too.")]

SOURCE_OPTIONS: dict[str, tuple[Any, Any]] = {
    "base": (Base, None),
    "kind": (Kind, None),
    "strict": (Strict, False),
    "anchors": (Anchors, None),
    "text": (Text, None),
    "platforms": (Platforms, None),
    "memory": (Memory, "4G"),
    "threads": (Threads, None),
    "quiet": (Quiet, False),
    "json": (Json, False),
    "depth": (Depth, 2),
    "max_pages": (MaxPages, 1000),
    "delay": (Delay, 0.5),
    "scope": (Scope, "site"),
    "allow_private": (AllowPrivate, False),
}
"""What `build` and `add` take beside sources and a store."""


def taking(options: Mapping[str, tuple[Any, Any]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command with `**given` take further options: name → (annotation, default)."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        known = signature(command, eval_str=True)
        own = [each for each in known.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        more = [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind, default=default)
            for name, (kind, default) in options.items()
        ]
        command.__signature__ = known.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return command

    return add


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
MIN_MEMORY_BYTES = 64 << 20


def parse_size(text: str, option: str = "--memory") -> int:
    """`512M` or `4 GiB` in bytes; the letters are powers of 1,024, as with Java and Spark."""
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise BadParameter(f"{option} must be a size such as 512M or 4G, not {text!r}")
    number = float(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " ")
    if not MIN_MEMORY_BYTES <= number < 1 << 60:
        raise BadParameter(f"{option} must be at least {MIN_MEMORY_BYTES >> 20}M, not {text!r}")
    return int(number)
