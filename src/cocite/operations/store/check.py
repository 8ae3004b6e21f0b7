"""Verify a whole store."""

import json
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from cocite.errors import BadStore
from cocite.graph.generation import LAYER_HEADER_BYTES, LAYER_MAGIC, POINTER
from cocite.operations import shared
from cocite.operations.declare import Progress, operation
from cocite.operations.store.build import twins_note
from cocite.operations.task import Task
from cocite.results.answer import HIDDEN, Result
from cocite.text import count


@dataclass(frozen=True)
class CheckResult(Result):
    """The faults of a store, in words, and the command that repairs it."""

    store: str
    whole: bool
    faults: list[str]
    notes: list[str]  # what the owner should know, beside faults
    repair: str
    manifest: dict[str, Any] = field(metadata=HIDDEN)  # perhaps damaged
    seconds: float = field(metadata=HIDDEN)


@operation()
class Check(Task):
    """Verify a whole store: every checksum, every list, every name.

    Exits with 0 if it is OK, with 2 if it is damaged; then the faults are listed, with the command that repairs it.

    Examples:
        cocite check web.cocite
    """

    store: str = shared.store()
    quiet: bool = shared.quiet()

    def do(self, progress: Progress) -> CheckResult:
        from cocite.graph.check import check

        began, store = time.monotonic(), Path(self.store or self.index)
        try:
            faults = [str(fault) for fault in check(store, progress)]
        except BadStore as error:
            if not store.is_dir() or "upgrade" in str(error):
                raise  # no store, or one of a newer format
            faults = [str(error)]
        manifest = read_manifest(store)
        repair = repair_command(store, manifest, faults) if faults else ""
        notes = [] if faults else list(notes_on(store))
        return CheckResult(str(store), not faults, faults, notes, repair, manifest, time.monotonic() - began)

    def warnings(self, web: Any, result: CheckResult) -> Iterator[str]:
        """What the owner should know, beside faults."""
        yield from result.notes

    def failure(self, result: CheckResult) -> str:
        faults = count(len(result.faults), "fault")
        return f"{result.store} is damaged ({faults}); repair it with: {result.repair}" if result.faults else ""


def notes_on(store: Path) -> Iterator[str]:
    """What somebody has made to look like other pages, and what an older version kept in a weaker way."""
    from cocite.graph.check import count_twins
    from cocite.graph.store import Graph

    graph = Graph(store)
    yield from filter(None, [twins_note(count_twins(graph))])
    if weak := graph.removed.weak:
        again = (
            f"to keep only these out, remove them again by address: cocite remove URL... -i {shlex.quote(str(store))}"
        )
        yield f"{count(weak, 'page')} removed by an older version, and every address with their fingerprints; {again}"


def repair_command(store: Path, manifest: dict[str, Any], faults: list[str]) -> str:
    """The command that builds the store again from its sources, as far as they are known.

    If only ranks, search indexes and the like are damaged, it deletes them: they are computed again when needed.
    """
    sides = {fault.partition(": ")[0] for fault in faults}
    if all(side.startswith("side/") for side in sides):
        files = [shlex.quote(f"{store}/{side}") + ending for side in sorted(sides) for ending in (".json", "-*")]
        return f"rm -r {' '.join(files)}"
    # A source that was added twice counts the last time: later records replace earlier ones.
    sources = list(dict.fromkeys(reversed(sources_of(manifest))))[::-1]
    made, name = manifest.get("options"), shlex.quote(str(store))
    chosen = [f" --no-{each}" for each in ("anchors", "text") if isinstance(made, dict) and made.get(each) is False]
    # Sources with other options need a command of their own.
    steps = [(" ".join(source for source, _ in group), said) for said, group in groupby(sources, itemgetter(1))]
    specs, said = steps[0] if steps else ("SOURCE...", "")
    build = f"cocite build {specs}{said} -o {name}{''.join(chosen)}"
    return " && ".join([build, *(f"cocite add {specs}{said} -i {name}" for specs, said in steps[1:])])


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


def read_manifest(store: Path) -> dict[str, Any]:
    """The newest manifest that can be read at all, damaged or not, with what its layers say; empty if there is none."""
    for folder in sorted(store.glob("g*"), reverse=True):
        try:
            manifest = json.loads((folder / "manifest.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(manifest, dict):
            return manifest | layered_facts(manifest, [read_layer(file) for file in layers_of(store, folder.name)])
    return {}


def layers_of(store: Path, generation: str) -> list[Path]:
    """The layers of a generation, oldest first; if a damaged `CURRENT` doesn't name them, all that are there."""
    try:
        pointer = POINTER.fullmatch((store / "CURRENT").read_bytes())
    except OSError:
        pointer = None
    if pointer is None or pointer[1].decode() != generation:
        return sorted(store.glob(f"{generation}-*.layer"))
    return [store / line.partition(" ")[0] for line in pointer[3].decode().splitlines()]


def read_layer(file: Path) -> dict[str, Any]:
    """The manifest of a layer, damaged or not; empty if it can't be read at all."""
    try:
        with file.open("rb") as content:
            head = content.read(LAYER_HEADER_BYTES)
            length = int.from_bytes(head[len(LAYER_MAGIC) :], "little")
            manifest = json.loads(content.read(min(length, file.stat().st_size)))
    except (OSError, ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def layered_facts(manifest: dict[str, Any], layers: list[dict[str, Any]]) -> dict[str, Any]:
    """What a store with layers says instead of its base: the sources of all, and the newest figures."""
    parts = [each.get("sources") for each in (manifest, *layers)]
    facts: dict[str, Any] = {"sources": [source for part in parts if isinstance(part, list) for source in part]}
    for layer in layers:
        facts |= {name: layer[name] for name in ("pages", "links", "removed") if isinstance(layer.get(name), int)}
    return facts
