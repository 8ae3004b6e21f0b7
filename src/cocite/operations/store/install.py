"""Copy a store to a place where a server may be serving it."""

import os
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from cocite.errors import BadParameter, BadStore
from cocite.operations import shared
from cocite.operations.declare import Progress, operation
from cocite.operations.task import Task
from cocite.parameters import parameter
from cocite.results.answer import Result


@dataclass(frozen=True)
class Installed(Result):
    """What was copied."""

    store: str
    generation: int
    pages: int
    links: int
    bytes: int
    side: list[str]  # names of the side data
    seconds: float


@operation(store=False)
class Install(Task):
    """Copy a store to another place, also over a store that is being served.

    The copy is verified completely, as cocite check does, before it replaces anything. If it is damaged, DEST stays as
    it is. A server of DEST switches to the copy without interruption; programs that have DEST open keep reading what
    they opened. Search index, vectors, keywords and ranks are copied too. Clicks of DEST are kept if STORE has none.

    Examples:
        cocite install web.cocite /srv/web.cocite
    """

    store: str = parameter("", "The store to copy", metavar="STORE", positional=True, required=True)
    dest: str = parameter("", "Where to install it: a store, or a new folder", metavar="DEST", positional=True,
        required=True)  # fmt: skip
    quiet: bool = shared.quiet()
    interrupted = "Interrupted: DEST is the old store or the new one; run the command again"

    def do(self, progress: Progress) -> Installed:
        from cocite.graph.clicks import SIDE_NAME, renew_clicks
        from cocite.graph.generation import copy_synced, new_generation, publish, read_pointer
        from cocite.graph.side import FOLDER, copy_sides, drop_others, move_sides
        from cocite.graph.store import Graph
        from cocite.operations.store.check import Check

        began, source, dest, sizes = time.monotonic(), Path(self.store), Path(self.dest), list[int]()
        ends = source.resolve(), dest.resolve()
        if ends[0] == ends[1]:
            raise BadParameter(f"{dest} is the store itself: give another place")
        if ends[0] in ends[1].parents or ends[1] in ends[0].parents:
            raise BadParameter(f"one of {source} and {dest} is inside the other: give another place")

        def copy_file(file: Path, target: Path) -> None:
            try:
                copy_synced(file, target)
            except BadStore as error:
                raise changed if is_changed() else error from error
            sizes.append(target.stat().st_size)
            progress("copying", sizes[-1], None)

        def is_changed() -> bool:
            return read_pointer(source)[::2] != (folder, layers)

        changed = BadStore(f"{source} was changed meanwhile by another command: run this one again")
        folder, manifest, layers = read_pointer(source)
        pointer, original = (source / "CURRENT").read_bytes(), Graph(source)
        if is_changed():
            raise changed
        with new_generation(dest) as (work, _):
            copy = work / "copy"
            new = copy / folder.name
            new.mkdir(parents=True)
            (copy / "CURRENT").write_bytes(pointer)
            for name in ("manifest.json", *(f"{array}.bin" for array in manifest["arrays"])):
                copy_file(folder / name, new / name)
            for layer in layers:
                copy_file(source / layer.file, copy / layer.file)
            sides = copy_sides(original, copy, SIDE_NAME, copy_file)
            if faults := Check(store=str(copy)).do(progress).faults:
                why = faults[0].replace(str(copy), str(source))
                advice = f"look at all faults with: cocite check {shlex.quote(str(source))}"
                raise BadStore(f"the copy of {source} is damaged ({why}): {advice}; {dest} was not changed")
            if (side := dest / FOLDER).exists() and not os.access(side, os.W_OK):
                raise BadStore(f"cannot write to {side}: check its permissions; {dest} was not changed")
            verified = Graph(copy)
            publish(dest, new, manifest, [(copy / layer.file, layer.digest) for layer in layers])
            installed = Graph(dest)
            move_sides(verified, installed, sides)
            drop_others(installed, {*sides, SIDE_NAME})
        renew_clicks(dest)
        numbers = {"generation": manifest["generation"], "pages": len(original), "links": len(original.links)}
        return Installed(str(dest), **numbers, bytes=sum(sizes), side=sides, seconds=round(time.monotonic() - began, 3))
