"""Side data: what is computed from a store and kept beside it, such as ranks, words and the search index.

web.cocite/side/NAME.json         its description, generation and parameters; replaced atomically
web.cocite/side/NAME-XXXXXXXX/    its files: arrays as in a generation, or whatever its maker writes

It belongs to one state of the store: after an `add` it is stale until it has followed, and reading it fails. Following
takes a new folder with links to the old files, and a few files more. While layers are added to one base, page numbers
stay the same: a reader that can do without the newest pages reads older data too (`lagging`). Clicks can't be computed
again: they are kept by name. No store needs side data to be opened.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.generation import Writer, digest, file_digest, is_locked, map_array, write_synced
from cocite.system import lock_file, sync_folder

if TYPE_CHECKING:
    from cocite.graph.store import Graph

FOLDER = "side"
LAGGING_NAMES = ("rank_", "relevance")  # how names of side data begin that are read with `lagging`
FileMark = tuple[int, int, int, int]
Files = dict[str, list[Any]]  # files other than arrays: the size and the checksum of each
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_OWN_NAME = re.compile(rf"({_NAME.pattern})(\.json|-[0-9a-f]{{8}})")  # in the folder
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)  # what reading a damaged description may raise


@dataclass(frozen=True)
class SideData:
    """Side data, opened."""

    folder: Path
    about: dict[str, Any]  # what its maker noted
    arrays: dict[str, dict[str, Any]]
    files: Files
    generation: str  # of which it was made

    def array(self, name: str) -> NDArray[Any]:
        """One of its arrays, mapped."""
        try:
            return map_array(self.folder / f"{name}.bin", self.arrays[name])
        except (KeyError, TypeError, ValueError) as error:
            raise BadStore(f"{self.folder} has no valid array {name}: it is damaged; make it again") from error

    def whole(self, max_bytes: int | None = None, known: Set[FileMark] = frozenset()) -> bool:
        """Whether its other files are as written: sizes always, contents unless they have more than `max_bytes`.

        Files that are `known` are skipped.
        """
        total = sum(size for size, _ in self.files.values())
        for name, (size, expected) in self.files.items():
            if (self.folder / name).stat().st_size != size:
                return False
            if mark_of(self.folder / name) in known:
                continue
            if (max_bytes is None or total <= max_bytes) and file_digest(self.folder / name) != expected:
                return False
        return True

    def faults(self, known: Set[FileMark] = frozenset()) -> Iterator[str]:
        """What is wrong with any of its bytes, but for files that are `known`."""
        for name, entry in self.arrays.items():
            file = self.folder / f"{name}.bin"
            try:
                self.array(name)
                if mark_of(file) not in known and file_digest(file) != entry["digest"]:
                    yield f"the bytes of {file} do not match their checksum"
            except BadStore as error:
                yield str(error)
            except (OSError, KeyError, TypeError) as error:
                yield f"{file} cannot be verified ({error})"
        try:
            if not self.whole(known=known):
                yield f"the bytes of {self.folder} do not match their checksums"
        except (OSError, TypeError, ValueError) as error:
            yield f"the files of {self.folder} cannot be verified ({error})"


def write_side(
    graph: Graph,
    name: str,
    make: Callable[[Path], tuple[dict[str, Any], dict[str, NDArray[Any]]]],
    old: SideData | None = None,
) -> None:
    """Make side data in a new folder, then replace the old side data of this name.

    `make` gets the folder, for files of its own, and returns notes and arrays. If it fails, nothing has changed. With
    `old`, the folder has the files of older data at first: those that `make` leaves there stay part of it. It may
    remove or replace them, but never write to them.
    """
    assert _NAME.fullmatch(name), name
    side = graph.path / FOLDER
    if not side.exists():
        side.mkdir(exist_ok=True)
        sync_folder(graph.path)
    folder = side / f"{name}-{secrets.token_hex(4)}"
    folder.mkdir()
    writer = Writer(folder)
    try:
        linked = {} if old is None else link_files(old, folder)
        about, arrays = make(folder)
        kept = {} if old is None else {array: entry for array, entry in old.arrays.items() if array not in arrays}
        for array in arrays if old else ():
            (folder / f"{array}.bin").unlink(missing_ok=True)  # a link: writing to it would change the old file
        writer.append_all(arrays.items())
        writer.close()
        own = {f"{array}.bin" for array in (*writer.arrays, *kept)}
        made = [file for file in sorted(folder.iterdir()) if file.name not in own and file.suffix != ".lock"]
        known = {file: old.files[file.name] for file in made if old and linked.get(file.name) == file.stat().st_ino}
        files = {file.name: known.get(file) or [file.stat().st_size, file_digest(file)] for file in made}
        for each in (*(file for file in made if file not in known), folder, side):  # there before anything names it
            sync_folder(each)
    except BaseException:
        writer.abandon()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    _replace(side, name, SideData(folder, about, kept | writer.arrays, files, graph.manifest["id"]))


def link_files(old: SideData, folder: Path) -> dict[str, int]:
    """Put the files of older side data into a new folder; returns which file each is. A link costs no reading."""
    for file in (*(f"{name}.bin" for name in old.arrays), *old.files):
        if Path(file).name != file:
            raise BadStore(f"{old.folder} is damaged: it names the file {file!r:.100}; remove it")
        link_or_copy(old.folder / file, folder / file)
    return {file: (folder / file).stat().st_ino for file in old.files}


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file that never changes another name. On a disk without links, copy it."""
    try:
        os.link(source, target)
    except OSError:  # or the file is not there: copying says so
        shutil.copyfile(source, target)
        sync_folder(target)


def _replace(side: Path, name: str, data: SideData) -> None:
    """Write the description of side data whose folder is on disk; then remove the old ones of this name."""
    described = {"folder": data.folder.name, "generation": data.generation, "about": data.about}
    body = json.dumps({**described, "arrays": data.arrays, "files": data.files}, sort_keys=True, ensure_ascii=False)
    fresh = side / f".{name}.json.{os.getpid()}"
    write_synced(fresh, json.dumps({"digest": digest(body.encode()), "body": body}).encode())
    fresh.replace(side / f"{name}.json")
    sync_folder(side)
    remove_others(side, name, data.folder)


def copy_sides(graph: Graph, target: Path, lasting: str, copy: Callable[[Path, Path], None]) -> list[str]:
    """Copy the side data of a graph's state, and the `lasting` ones of any, to another store; returns the names.

    Ranks and relevance may be of the same base with fewer layers.

    Only files of the folder itself are copied: a description may name any path.
    """
    side, copied = graph.path / FOLDER, []
    for name in side_names(graph.path):
        data = read_side(graph, name, "the command that made it", stale=True)
        if data is None or (data.generation not in usable_states(graph, name) and name != lasting):
            continue
        if data.folder not in _folders(side, name):
            raise BadStore(f"{side / name}.json is damaged: it names the folder {data.folder.name!r:.100}; remove it")
        (target / FOLDER / data.folder.name).mkdir(parents=True)
        for file in (*data.folder.iterdir(), side / f"{name}.json"):
            if file.suffix != ".lock":
                copy(file, target / file.relative_to(graph.path))
        copied.append(name)
    return copied


def move_sides(source: Graph, graph: Graph, names: list[str]) -> None:
    """Move side data to a store on the same disk."""
    side = graph.path / FOLDER
    for name in names:
        with only_one(graph, name, f"the {name}"):
            data = read_side(source, name, "the command that made it", stale=True)
            if data is None:  # something that a killed command has left
                continue
            sync_folder(data.folder)
            moved = data.folder.rename(side / f"{name}-{secrets.token_hex(4)}")
            for folder in (graph.path, side):
                sync_folder(folder)
            _replace(side, name, replace(data, folder=moved))


def drop_others(graph: Graph, kept: Set[str]) -> None:
    """Remove side data of other generations, but for those of some names."""
    for name in {*side_names(graph.path)} - kept:
        if is_left_over(graph, name):
            drop_side(graph, name, f"the {name}")


def usable_states(graph: Graph, name: str) -> Set[str]:
    """The states of a store whose side data of a name can be read."""
    return graph.arrays.ids if name.startswith(LAGGING_NAMES) else {graph.manifest["id"]}


def side_names(store: Path) -> list[str]:
    """The names of side data, and of what killed commands have left of them."""
    files = (store / FOLDER).iterdir() if (store / FOLDER).is_dir() else ()
    return sorted({found[1] for file in files if (found := _OWN_NAME.fullmatch(file.name))})


def remove_others(side: Path, name: str, keep: Path | None = None) -> None:
    """Remove side data of a name, of any generation, and what a killed command left, but for one folder."""
    for left in side.glob(f".{name}.json.*"):
        left.unlink(missing_ok=True)
    for old in _folders(side, name):
        if old != keep:
            shutil.rmtree(old, ignore_errors=True)  # readers keep their mappings


def remove_replaced(graph: Graph) -> None:
    """Remove side data that newer ones have replaced: a killed command may have left those of removed pages."""
    side = graph.path / FOLDER
    for name in side_names(graph.path):
        with suppress(BadStore):
            found = read_side(graph, name, "", stale=True)
            if found and _folders(side, name) != [found.folder]:
                with only_one(graph, name, f"the {name}"):
                    kept = read_side(graph, name, "", stale=True)
                    remove_others(side, name, kept.folder if kept else None)


def _folders(side: Path, name: str) -> list[Path]:
    return list(side.glob(f"{name}-" + "[0-9a-f]" * 8))


def read_side(graph: Graph, name: str, again: str, stale: bool = False, lagging: bool = False) -> SideData | None:
    """Side data of this state; None if there is none. Raises BadStore if it is damaged, or stale, unless `stale`.

    With `lagging`, it may be of the same base with fewer layers: it has nothing of pages that were added since.
    `again` is the command that makes it anew.
    """
    assert _NAME.fullmatch(name), name
    side = graph.path / FOLDER
    for _ in range(5):  # another command may replace it between its description and its folder
        try:
            text = _read_description(side / f"{name}.json")
            folder, arrays, files = side / text["folder"], dict(text["arrays"]), dict(text["files"])
            found = SideData(folder, text["about"], arrays, files, text["generation"])
        except (FileNotFoundError, NotADirectoryError):
            return None
        except _UNREADABLE as error:
            raise BadStore(f"{side / name}.json is damaged: make it again with {again}") from error
        if folder.parent == side and folder.is_dir():
            break
    else:
        raise BadStore(f"{side / name}.json names a folder that is not there: make it again with {again}")
    fresh = found.generation in graph.arrays.ids if lagging else found.generation == graph.manifest["id"]
    if not fresh and not stale:
        raise BadStore(f"the {name} of {graph.path} was made before the store was changed: make it again with {again}")
    return found


def _read_description(file: Path) -> dict[str, Any]:
    outer = json.loads(file.read_bytes())
    if digest(outer["body"].encode()) != outer["digest"]:
        raise ValueError("checksum")
    text: dict[str, Any] = json.loads(outer["body"])
    return text


@contextmanager
def only_one(graph: Graph, name: str, what: str) -> Iterator[None]:
    """Wait until no other command makes side data of this name: each maker removes the others' folders."""
    side = graph.path / FOLDER
    try:
        side.mkdir(exist_ok=True)
        lock = (side / f".{name}.lock").open("a")
    except OSError as error:
        why = f"{what} of {graph.path} cannot be written ({error.strerror})"
        raise BadStore(f"{why}: check its permissions, or copy the store to another place") from error
    with lock:
        lock_file(lock)
        yield


def is_being_made(graph: Graph, name: str) -> bool:
    """Whether another command, or another thread of this one, makes side data of this name now."""
    return is_locked(graph.path / FOLDER / f".{name}.lock")


def drop_side(graph: Graph, name: str, what: str) -> None:
    """Remove side data of any generation: they may include removed pages."""
    side = graph.path / FOLDER
    if (side / f"{name}.json").exists() or _folders(side, name):  # without the first, a killed command left them
        with only_one(graph, name, what):
            (side / f"{name}.json").unlink(missing_ok=True)
            sync_folder(side)  # nothing names a folder that is being removed
            remove_others(side, name)


def is_left_over(graph: Graph, name: str, lagging: bool = False) -> bool:
    """Whether there are side data of another state, or of none: a command died before it had renewed them.

    With `lagging`, data that can still be read are none of these.
    """
    with suppress(BadStore):
        if side := read_side(graph, name, "", stale=True):
            return side.generation not in (usable_states(graph, name) if lagging else {graph.manifest["id"]})
    return bool(_folders(graph.path / FOLDER, name))


def mark_of(file: Path) -> FileMark:
    """What tells a file from any other, by whatever name it is linked."""
    about = file.stat()
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def files_of_sides(store: Path) -> frozenset[FileMark]:
    """The files of all side data."""
    found = set[FileMark]()
    for file in (store / FOLDER).glob("*/*"):
        with suppress(OSError):  # another command replaces it
            found.add(mark_of(file))
    return frozenset(found)


def faults_of_sides(
    graph: Graph, rest: Callable[[], object] = lambda: None, known: Set[FileMark] = frozenset()
) -> Iterator[tuple[str, str]]:
    """Damaged side data, and what is wrong; stale ones are not faults. `rest` is called before each.

    Files that are `known` are skipped.
    """
    for file in sorted((graph.path / FOLDER).glob("*.json")):
        rest()
        for fault in _faults_of_side(graph, file.stem, known) if _NAME.fullmatch(file.stem) else ():
            yield f"{FOLDER}/{file.stem}", fault


def _faults_of_side(graph: Graph, name: str, known: Set[FileMark]) -> list[str]:
    before: Path | None = None
    while True:  # another command may replace them meanwhile: then they are read again
        try:
            side = read_side(graph, name, "the command that made it", stale=True)
        except BadStore as error:
            return [str(error)]
        faults = [] if side is None else list(side.faults(known))
        if side is None or not faults or side.folder == before:
            return faults
        before = side.folder


def list_sides(store: Path, states: str | Set[str], prefix: str) -> list[tuple[dict[str, Any], bool]]:
    """The notes of undamaged side data whose names begin with a prefix, and whether each is of this state, or of these.

    It needs no open store, and nothing compiled.
    """
    found, known = [], {states} if isinstance(states, str) else states
    for file in sorted((store / FOLDER).glob(f"{prefix}*.json")):
        with suppress(*_UNREADABLE):
            text = _read_description(file)
            found.append((dict(text["about"]), text["generation"] in known))
    return found
