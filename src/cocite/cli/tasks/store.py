"""cocite info and cocite check: what a store has, and whether it is damaged."""

from __future__ import annotations

import json as encoding
import shlex
import time
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cocite.cli import options as shared
from cocite.cli.failures import WRONG, complain
from cocite.cli.tasks.summary import MIN_LINKS_FOR_RATES, show_reasons
from cocite.cli.terminal import Cell, Screen, seconds, size
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.graph.check import Fault

MAX_FAULTS_SHOWN = 20


def info(store: shared.Store = None, index: shared.Index = Path("web.cocite"), json: shared.Json = False) -> None:
    """Show what a store has: pages, links, sources, and the size of its parts.

    \b
    Examples:
      cocite info web.cocite
      cocite info --json | jq .pages
    """
    from cocite.operations.store.info import describe

    found, screen = describe(store or index), Screen()
    screen.json(found) if json else show(screen, found)


def show(screen: Screen, found: dict[str, Any]) -> None:
    """Print what a store has."""
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
    many = found["links"] >= MIN_LINKS_FOR_RATES
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
    """The sources, and what was skipped."""
    screen.line(("sources", "dim"), indent=2)
    for source in found["sources"]:
        counts = f"{count(source['records'], 'record')}, {count(source['links'], 'link')}"
        held = [f"{number:,} {kind}" for kind, number in sorted(source.get("files", {}).items())]
        counts += f" (files: {', '.join(held)})" if held else ""
        screen.row(Cell(source["source"]), Cell(source["kind"], style="cyan"), Cell(counts, style="dim"), indent=4)
    if found["skipped"]:
        screen.line(("skipped in the last change", "dim"), indent=2)
        show_reasons(screen, found["skipped"], {})


def check(
    store: shared.Store = None,
    index: shared.Index = Path("web.cocite"),
    quiet: shared.Quiet = False,
    json: shared.Json = False,
) -> None:
    """Verify a whole store: every checksum, every list, every name.

    Exits with 0 if it is OK, with 2 if it is damaged; then the faults are listed, with the command that repairs it.

    \b
    Examples:
      cocite check web.cocite
    """
    from cocite.cli.progress import display
    from cocite.errors import BadStore

    index = store or index
    began = time.monotonic()
    try:
        with display(quiet) as stages:
            faults = find_faults(index, stages)
    except BadStore as error:
        if not index.is_dir() or "upgrade" in str(error):
            raise  # no store, or one of a newer format
        faults = [str(error)]
    screen = Screen()
    if json:
        screen.json(
            {
                "store": str(index),
                "whole": not faults,
                "faults": faults,
                "repair": repair(index, faults) if faults else "",
            }
        )
    elif not faults:
        manifest = read_manifest(index)
        pages, links = count(manifest["pages"], "page"), count(manifest["links"], "link")
        screen.line((str(index), "bold"), ": ", ("OK", "green"))
        screen.line(f"Checked {pages} and {links} in {seconds(time.monotonic() - began)}", indent=2)
    else:
        show_faults(screen, index, faults)
    if faults:
        complain(f"{index} is damaged ({count(len(faults), 'fault')}); repair it with: {repair(index, faults)}")
        raise typer.Exit(WRONG)


def find_faults(index: Path, progress: Any) -> list[str]:
    """Every fault, in words."""
    from cocite.graph.check import check as check_store

    faults: list[Fault] = check_store(index, progress)
    return [str(fault) for fault in faults]


def show_faults(screen: Screen, index: Path, faults: list[str]) -> None:
    """The faults, and a warning about pages that a repair would bring back."""
    screen.line((str(index), "bold"), ": ", ("damaged", "red"))
    for fault in faults[:MAX_FAULTS_SHOWN]:
        screen.line(fault, indent=2)
    if len(faults) > MAX_FAULTS_SHOWN:
        screen.line(f"and {len(faults) - MAX_FAULTS_SHOWN:,} more", indent=2)
    removed = removed_pages(read_manifest(index))
    if removed and not all(fault.startswith("side/") for fault in faults):
        screen.line(
            f"Note: {count(removed, 'removed page')} will be back after the repair; remove them again", indent=2
        )


def repair(index: Path, faults: list[str]) -> str:
    """The command that builds the store again from its sources, as far as they are known.

    If only ranks, search indexes and the like are damaged, it deletes them: they are computed again when needed.
    """
    manifest, store = read_manifest(index), shlex.quote(str(index))
    sides = {fault.partition(": ")[0] for fault in faults}
    if all(side.startswith("side/") for side in sides):
        files = [shlex.quote(f"{index}/{side}") + ending for side in sorted(sides) for ending in (".json", "-*")]
        return f"rm -r {' '.join(files)}"
    # A source that was added twice counts the last time: later records replace earlier ones.
    sources = list(dict.fromkeys(reversed(sources_of(manifest))))[::-1]
    made = manifest.get("options")
    chosen = [f" --no-{name}" for name in ("anchors", "text") if isinstance(made, dict) and made.get(name) is False]
    # Sources with other options need a command of their own.
    steps = [(" ".join(source for source, _ in group), said) for said, group in groupby(sources, itemgetter(1))]
    specs, said = steps[0] if steps else ("SOURCE...", "")
    build = f"cocite build {specs}{said} -o {store}{''.join(chosen)}"
    return " && ".join([build, *(f"cocite add {specs}{said} -i {store}" for specs, said in steps[1:])])


def sources_of(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """The sources of a store with their options, quoted for a shell. A damaged manifest may have anything."""
    entries = manifest.get("sources")
    found = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("source"), str):
            said = entry["said"] if isinstance(entry.get("said"), dict) else {}
            options = [f" --{name}" + (f" {shlex.quote(str(value))}" if value else "") for name, value in said.items()]
            found.append((shlex.quote(entry["source"]), "".join(options)))
    return found


def removed_pages(manifest: dict[str, Any]) -> int:
    """The number of removed pages."""
    try:
        return int(manifest["arrays"]["removed"]["length"])
    except (KeyError, TypeError, ValueError):
        return 0


def read_manifest(index: Path) -> dict[str, Any]:
    """The newest manifest that can be read at all, damaged or not; empty if there is none."""
    for folder in sorted(index.glob("g*"), reverse=True):
        try:
            manifest = encoding.loads((folder / "manifest.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(manifest, dict):
            return manifest
    return {}
