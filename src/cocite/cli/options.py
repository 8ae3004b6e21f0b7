"""Options that several commands share, and what they mean."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli.opening import Crawling
from cocite.errors import BadParameter

if TYPE_CHECKING:
    from cocite.graph.build.passes import BuildOptions

KINDS = "records, edges, warc, wat, html, markdown, bookmarks, opml, webgraph, crawl"

Index = Annotated[
    Path,
    typer.Option("--index", "-i", metavar="STORE", envvar="COCITE_INDEX", help="The store to use."),
]
Store = Annotated[
    Path | None, typer.Argument(metavar="STORE", help="The store to use, instead of -i.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")]

Sources = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE", help="Files, folders, - for records from a pipe, or addresses to crawl from."),
]
Base = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Address of what has none of its own: a folder of HTML or Markdown files, bookmarks."
    ),
]
Kind = Annotated[str | None, typer.Option(metavar="KIND", help=f"What the sources are, if not recognised: {KINDS}.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first record that cannot be used.")]

Anchors = Annotated[
    bool | None,
    typer.Option(
        "--anchors/--no-anchors", help="Keep the texts of links; add does as was done before.", show_default=False
    ),
]
Text = Annotated[
    bool | None,
    typer.Option(
        "--text/--no-text",
        help="Keep the texts of pages, and index all words for search; add does as was done before.",
        show_default=False,
    ),
]
Platforms = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Your own table of platforms: hosts on which every author is a site.",
    ),
]

Memory = Annotated[str, typer.Option(metavar="SIZE", help="Memory to use, roughly, such as 512M or 4G.")]
Threads = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=256, help="Threads to use, if not all cores up to 8."),
]

Depth = Annotated[int, typer.Option(min=0, metavar="N", help="Crawling: links to follow away from the address.")]
MaxPages = Annotated[
    int, typer.Option(min=1, metavar="N", help="Crawling: pages to fetch, at most, from each address on.")
]
Delay = Annotated[
    float, typer.Option(min=0, metavar="SECONDS", help="Crawling: time between two requests to one host, at least.")
]
Scope = Annotated[
    str, typer.Option(metavar="site|host|any", help="Crawling: stay on the site, on the host, or go anywhere.")
]
AllowPrivate = Annotated[bool, typer.Option("--allow-private", help="Crawling: fetch private and local addresses too.")]

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
LEAST = 64 << 20


def parse_size(text: str) -> int:
    """`512M` or `4 GiB` in bytes; the letters stand for powers of 1,024, as with Java and Spark."""
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise BadParameter(f"--memory {text!r} is no size: give one such as 512M or 4G")
    power = " kmgt".index(found[2].lower() or " ")
    number = float(found[1]) * 1024**power
    if not LEAST <= number < 1 << 60:
        raise BadParameter(f"--memory {text!r} is out of range: give at least {LEAST >> 20}M")
    return int(number)


def said_of_sources(base: str | None, kind: str | None, platforms: Path | None, crawling: Crawling) -> dict[str, str]:
    """The options without which sources would be read otherwise, as they are written on the command line."""
    own: dict[str, Any] = {"base": base, "kind": kind, "platforms": None if platforms is None else platforms.absolute()}
    usual = asdict(Crawling())
    own |= {name: value for name, value in asdict(crawling).items() if value != usual[name]}
    return {
        name.replace("_", "-"): "" if value is True else str(value) for name, value in own.items() if value is not None
    }


def build_options(
    memory: str,
    threads: int | None,
    platforms: Path | None,
    anchors: bool | None = None,
    text: bool | None = None,
    said: dict[str, str] | None = None,
) -> BuildOptions:
    """How to build, from what the command line says; what it does not say is kept."""
    from cocite.graph.build.passes import BuildOptions

    given: dict[str, Any] = {"memory": parse_size(memory), "platforms": platforms, "said": said or {}}
    if threads is not None:
        given["threads"] = threads
    given |= {name: value for name, value in (("anchors", anchors), ("text", text)) if value is not None}
    if platforms is not None and not platforms.is_file():
        raise BadParameter(f"--platforms {platforms} is not a file: check the path")
    return BuildOptions(**given)


def as_before(store: Path, anchors: bool | None, text: bool | None, platforms: Path | None) -> tuple[bool, bool]:
    """What a store keeps, unless the command line says otherwise; refuses to lose its table of platforms."""
    from cocite.graph.generation import read_current

    _, manifest = read_current(store)
    if manifest.get("platforms") and platforms is None:
        raise BadParameter(f"{store} was built with a table of platforms of its own: give it again by --platforms FILE")
    kept = manifest.get("options", {})
    return (
        bool(kept.get("anchors", True)) if anchors is None else anchors,
        bool(kept.get("text", True)) if text is None else text,
    )
