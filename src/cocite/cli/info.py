"""cocite info: what a store holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from cocite.cli import options as given
from cocite.cli.build import MANY, rows
from cocite.cli.terminal import Cell, Screen, count, size

PARTS = {
    "links out": r"out\.(words|base|offset|degree|code|first)",
    "links in": r"in\.(words|base|offset|degree|code)",
    "weights": r"out\.weight",
    "kept ready": r"(out|in)\.(long|skip)\..*|(best|sample|near)\..*",
    "names": r"name\..*",
    "look-up": r"look_up\..*|fingerprint",
    "sites, hosts": r"(host|site)\..*|page\.(host|site)",
    "page facts": r"page\..*|alias\..*|removed",
    "spellings": r"shown\..*",
    "titles": r"title\..*",
    "headings": r"headings\..*",
    "link texts": r"anchors\..*",
    "link contexts": r"contexts\..*",
    "page texts": r"text\..*",
    "other": r".*",
}
"""Parts of a store and the arrays that they are, by FORMAT.md; the first that fits."""


def info(store: given.Store = None, index: given.Index = Path("web.cocite"), json: given.Json = False) -> None:
    """Show what a store holds, of what, and what takes how much space.

    \b
    Examples:
      cocite info web.cocite
      cocite info --json | jq .pages
    """
    from cocite.graph.generation import read_current
    from cocite.graph.side import list_sides

    index = store or index
    _, manifest = read_current(index)
    ranks = list_sides(index, manifest["id"], "rank_")
    found = describe(index, manifest) | {"ranks": {str(about.get("rank")): fresh for about, fresh in ranks}}
    clicked = list_sides(index, manifest["id"], "clicks")
    found |= {"clicks": clicked[0][0].get("clicks", 0) if clicked else 0}
    screen = Screen()
    if json:
        screen.json(found)
        return
    show(screen, found)


def describe(path: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says, with sizes by part."""
    pages, links = int(manifest["pages"]), int(manifest["links"])
    parts = sizes(manifest["arrays"])
    names = ("id", "generation", "format", "built", "by", "pages", "links", "sites", "hosts", "aliases")
    return {
        "store": str(path),
        **{name: manifest[name] for name in names},
        "names": manifest.get("names", 0),
        "removed": manifest["arrays"].get("removed", {}).get("length", 0),
        "bytes": sum(parts.values()),
        "parts": [
            {
                "part": name,
                "bytes": number,
                "bits_per_link": round(number * 8 / max(1, links), 3),
                "bytes_per_page": round(number / max(1, pages), 3),
            }
            for name, number in parts.items()
        ],
        "sources": manifest["sources"],
        "options": manifest["options"],
        "skipped": manifest["skipped"],
        "public_suffix_list": manifest.get("public_suffix_list", ""),
    }


def sizes(arrays: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Bytes of each part."""
    found: dict[str, int] = {}
    for name, entry in arrays.items():
        part = next(part for part, pattern in PARTS.items() if re.fullmatch(pattern, name))
        width = int(re.sub(r"\D", "", str(entry["type"])) or 1)
        found[part] = found.get(part, 0) + int(entry["length"]) * width
    return {part: found[part] for part in PARTS if found.get(part)}


def show(screen: Screen, found: dict[str, Any]) -> None:
    """For people."""
    when = str(found["built"]).replace("T", " ").removesuffix("+00:00")
    screen.line((found["store"], "bold"))
    screen.line(
        f"generation {found['generation']}, built {when} UTC by {found['by']}, format {found['format']}", indent=2
    )
    screen.blank()
    facts = [(name, int(found[name])) for name in ("pages", "links", "names", "sites", "hosts", "aliases", "removed")]
    wide = max(len(f"{number:,}") for _, number in facts)
    for name, number in facts:
        if number or name in ("pages", "links"):
            screen.row(Cell(name, 8, "dim"), Cell(f"{number:,}", wide, right=True), indent=2)
    for what, fresh in (("ranks kept", True), ("stale ranks", False)):
        names = [name for name, good in found["ranks"].items() if good == fresh]
        if names:
            screen.row(Cell(what, style="dim"), Cell(", ".join(names)), indent=2)
    if found["clicks"]:
        screen.row(Cell("clicks", 8, "dim"), Cell(f"{found['clicks']:,.6g}", wide, right=True), indent=2)
    screen.blank()
    many = found["links"] >= MANY
    columns = (13, 10, 14, 15) if many else (13, 10)
    head = ("size by part", "", "bits per link", "bytes per page")[: len(columns)]
    screen.row(*(Cell(t, w, "dim", i > 0) for i, (t, w) in enumerate(zip(head, columns, strict=True))), indent=2)
    total = {
        "part": "all",
        "bytes": found["bytes"],
        "bits_per_link": sum(part["bits_per_link"] for part in found["parts"]),
        "bytes_per_page": sum(part["bytes_per_page"] for part in found["parts"]),
    }
    for part in [*found["parts"], total]:
        texts = (part["part"], size(part["bytes"]), f"{part['bits_per_link']:,.1f}", f"{part['bytes_per_page']:,.1f}")
        style = "bold" if part is total else ""
        cells = zip(texts, columns, strict=False)
        screen.row(*(Cell(t, w, style, i > 0) for i, (t, w) in enumerate(cells)), indent=2)
    screen.blank()
    show_sources(screen, found)


def show_sources(screen: Screen, found: dict[str, Any]) -> None:
    """Where the pages came from, and what was left out on the way."""
    screen.line(("sources", "dim"), indent=2)
    for source in found["sources"]:
        counts = f"{count(source['records'], 'record')}, {count(source['links'], 'link')}"
        held = [f"{number:,} {kind}" for kind, number in sorted(source.get("files", {}).items())]
        counts += f" (files: {', '.join(held)})" if held else ""
        screen.row(Cell(source["source"]), Cell(source["kind"], style="cyan"), Cell(counts, style="dim"), indent=4)
    if found["skipped"]:
        screen.line(("skipped when it was last changed", "dim"), indent=2)
        rows(screen, found["skipped"], {})
