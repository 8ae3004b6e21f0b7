"""cocite check: is a store whole, and if not, what repairs it?"""

from __future__ import annotations

import json as encoding
import shlex
import time
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cocite.cli import options as given
from cocite.cli.failures import WRONG, complain
from cocite.cli.terminal import Screen, count, seconds

if TYPE_CHECKING:
    from cocite.graph.check import Fault

MOST = 20
"""Faults that are listed; after those, one more tells nothing new."""


def check(
    store: given.Store = None,
    index: given.Index = Path("web.cocite"),
    quiet: given.Quiet = False,
    json: given.Json = False,
) -> None:
    """Verify a store fully: every checksum, every list, every name.

    Exits with 0 if it is whole, with 2 if it is damaged; then the faults are listed, with the command that repairs it.

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
            raise  # there is nothing here, or nothing wrong with it
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
        screen.line((str(index), "bold"), ("  is whole", "green"))
        screen.line(f"{pages} and {links}, all checked in {seconds(time.monotonic() - began)}", indent=2)
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
    """The faults, and a warning of what a repair cannot bring back."""
    screen.line((str(index), "bold"), ("  is damaged", "red"))
    for fault in faults[:MOST]:
        screen.line(fault, indent=2)
    if len(faults) > MOST:
        screen.line(f"and {len(faults) - MOST:,} more", indent=2)
    removed = removed_pages(read_manifest(index))
    if removed and not all(fault.startswith("side/") for fault in faults):
        screen.line(
            f"note: {count(removed, 'removed page')} will be back after the repair, and must be removed again", indent=2
        )


def repair(index: Path, faults: list[str]) -> str:
    """The command that makes the store anew from what it was made of, as far as that is known.

    If only ranks, searches and the like are damaged, they are to be removed: they are made again when they are needed.
    """
    manifest, store = read_manifest(index), shlex.quote(str(index))
    sides = {fault.partition(": ")[0] for fault in faults}
    if all(side.startswith("side/") for side in sides):
        files = [shlex.quote(f"{index}/{side}") + ending for side in sorted(sides) for ending in (".json", "-*")]
        return f"rm -r {' '.join(files)}"
    # Of a source that was added again the last time counts: later records replace earlier ones.
    sources = list(dict.fromkeys(reversed(sources_of(manifest))))[::-1]
    made = manifest.get("options")
    chosen = [f" --no-{name}" for name in ("anchors", "text") if isinstance(made, dict) and made.get(name) is False]
    # Sources with other options need a command of their own.
    steps = [(" ".join(source for source, _ in group), said) for said, group in groupby(sources, itemgetter(1))]
    specs, said = steps[0] if steps else ("SOURCE...", "")
    build = f"cocite build {specs}{said} -o {store}{''.join(chosen)}"
    return " && ".join([build, *(f"cocite add {specs}{said} -i {store}" for specs, said in steps[1:])])


def sources_of(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """What a store was made of, and the options of each source, as a shell reads them; a manifest may hold anything."""
    entries = manifest.get("sources")
    found = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("source"), str):
            said = entry["said"] if isinstance(entry.get("said"), dict) else {}
            options = [f" --{name}" + (f" {shlex.quote(str(value))}" if value else "") for name, value in said.items()]
            found.append((shlex.quote(entry["source"]), "".join(options)))
    return found


def removed_pages(manifest: dict[str, Any]) -> int:
    """How many pages were removed for good."""
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
