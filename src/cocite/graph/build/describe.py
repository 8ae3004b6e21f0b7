"""The manifest of a store: its size, its sources, and how it was built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite import __version__
from cocite.graph.generation import FORMAT, Writer, digest
from cocite.pages.site import Sites
from cocite.sources.folders import walk_files
from cocite.sources.kinds import kind_of
from cocite.sources.records import ReadReport

if TYPE_CHECKING:
    from cocite.graph.build.passes import BuildOptions


def describe_source(spec: str, kind: str, said: Mapping[str, str]) -> dict[str, Any]:
    """A source as the manifest lists it: enough to read it again from another folder, with the same options."""
    path = str(Path(spec).absolute()) if Path(spec).exists() else spec
    entry: dict[str, Any] = {"source": path, "kind": kind, "records": 0, "links": 0}
    if said:
        entry["said"] = dict(said)
    if kind == "folder":
        entry["files"] = dict(Counter(what for file in walk_files(Path(path)) if (what := kind_of(file))))
    return entry


def describe(
    writer: Writer,
    pages: int,
    links: int,
    names: int,
    sources: list[dict[str, Any]],
    report: ReadReport,
    options: BuildOptions,
    sites: Sites,
) -> dict[str, Any]:
    """The manifest. `names` of the pages are opaque names: they lie on no site and no host."""
    platforms = options.platforms.read_bytes() if options.platforms else b""
    return {
        "format": FORMAT,
        "id": digest("".join(f"{n}{a['digest']}" for n, a in sorted(writer.arrays.items())).encode())[:16],
        "built": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": f"cocite {__version__}",
        "pages": pages,
        "links": links,
        "aliases": writer.length("alias.page"),
        "names": names,
        "sites": writer.length("site.page") - names,
        "hosts": writer.length("host.page") - names,
        "sources": sources,
        "options": {k: v for k, v in asdict(options).items() if k in ("anchors", "text")},
        "public_suffix_list": sites.version(),
        "platforms": digest(platforms) if platforms else "",
        "skipped": dict(report.skipped),
        "arrays": writer.arrays,
    }
