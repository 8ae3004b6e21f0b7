"""Compaction beside commits: the new base is made of a copy of the store, while layers are added to the store itself.

The store is locked when the copy is begun, which is made of hard links, and when the new base takes its place: then the
layers that came meanwhile are carried over as one.
"""

import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from cocite.errors import BadStore, LockedStore, os_message
from cocite.graph import generation
from cocite.graph.build.carry import Numbers, carry
from cocite.graph.changes.layers import layer_bytes, layers_since
from cocite.graph.side import link_or_copy, move_sides, side_names
from cocite.graph.store import Graph
from cocite.system import lock_file

LOCKED_SECONDS, LOCKED_PAUSE_SECONDS = 10.0, 0.002
"""How long compaction waits for commits before it begins, and how often it looks: there is little time between them."""
SWITCH_SECONDS = 600.0
"""How long it waits when it is done: whoever writes for longer hangs, or builds the store anew."""


def is_compacting(path: Path) -> bool:
    """Whether a command compacts a store."""
    return any(generation.is_locked(other / "lock") for other in path.glob("compact-*"))


@contextmanager
def linked_copy(path: Path) -> Iterator[Path]:
    """A copy of a store, made of hard links, in a folder that commits leave alone."""
    folder = path / f"compact-{os.getpid()}"
    copy = folder / "web.cocite"
    with ExitStack() as stack:
        with _locked_soon(path, LOCKED_SECONDS):
            if is_compacting(path):
                raise LockedStore(f"another command is compacting {path}; wait for it")
            folder.mkdir()
            lock_file(stack.enter_context((folder / "lock").open("a")), wait=False)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            base, manifest, layers = generation.read_pointer(path)
            (copy / base.name).mkdir(parents=True)
            (copy / "CURRENT").write_bytes((path / "CURRENT").read_bytes())
            _link(path, copy, [layer.file for layer in layers])  # a commit may merge and remove them
        _link(
            path, copy, [f"{base.name}/{name}" for name in ("manifest.json", *map("{}.bin".format, manifest["arrays"]))]
        )
        yield copy


@contextmanager
def _locked_soon(path: Path, seconds: float) -> Iterator[None]:
    """Lock a store, though commits follow closely. Raises LockedStore if it can't be done in time."""
    until = time.monotonic() + seconds
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(generation.new_generation(path))
                break
            except LockedStore:
                if time.monotonic() > until:
                    raise
            time.sleep(LOCKED_PAUSE_SECONDS)
        yield


def _link(path: Path, copy: Path, names: Iterable[str]) -> None:
    """Link or copy files of a store."""
    try:
        for name in names:
            link_or_copy(path / name, copy / name)
    except FileNotFoundError as error:
        raise LockedStore(f"{path} was changed meanwhile by another command: run this one again") from error
    except OSError as error:
        raise BadStore(os_message(error)) from error


def replace_base(path: Path, old: Graph, copy: Path) -> bool:
    """Put the compacted copy of a store, which was made of `old`, in its place, with what was committed since.

    Returns whether it could be done: not if the copy has other pages, which happens where addresses share a tag.
    """
    new = Graph(copy)
    numbers = Numbers.of(old, new)
    folder, manifest, _ = generation.read_pointer(copy)
    with _locked_soon(path, SWITCH_SECONDS):
        now = Graph(path)
        since = layers_since(now.arrays, old.manifest["id"])
        if since is None:
            raise LockedStore(f"{path} was changed meanwhile by another command: run this one again")
        if since and numbers is None:
            return False
        layers = []
        if since and numbers is not None:
            parts, checksum = layer_bytes(*carry(old, now, since, new, numbers))
            layers = [(copy / "carried.layer", checksum)]
            generation.write_synced(layers[0][0], b"".join(parts))
        generation.publish(path, copy / folder.name, manifest, layers)
        with suppress(BadStore, OSError):  # the store is compacted: whoever renews its side data says what is wrong
            move_sides(new, Graph(path), side_names(copy))
    return True
