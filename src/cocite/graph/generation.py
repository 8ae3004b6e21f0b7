"""A store is a folder of generations; one pointer file says which is current. Nothing is ever changed in place.

web.cocite/CURRENT        "g000001 <digest of its manifest>\n", then such a line for each layer; replaced atomically
web.cocite/g000001/       manifest.json and one file per array, see FORMAT.md
web.cocite/g000001-000001.layer    what changed since, see layers.py
web.cocite/dates/         stores of dates in the past, made when somebody asks, see dates.py
web.cocite/work-*/        a build under way (or left behind by a killed one: the next build removes it)
web.cocite/compact-*/     a compaction under way: a copy of the store, of links to its files; its `lock` is locked
web.cocite/lock           locked while a build runs; by a compaction, when it begins and when it ends
"""

import errno
import hashlib
import io
import json
import mmap
import os
import re
import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore, LockedStore
from cocite.system import lock_file, make_folder, sync_folder

FORMAT_NUMBER = 2
LAYER_FORMAT = 4
PIECES_FORMAT = 5  # of a generation whose names are written in pieces
HISTORY_FORMAT = 6  # of one that keeps all captures
POINTER = re.compile(rb"(g\d{6,}) ([0-9a-f]{32})\n((?:g\d{6,}-\d{6,}\.layer [0-9a-f]{32}\n)*)")
LAYER_FILE = re.compile(r"g\d{6,}-(\d{6,})\.layer")
OWN_NAMES = re.compile(r"lock|CURRENT(\.new)?|g\d{6,}(-\d{6,}\.layer)?|(work|compact)-\d+|side|dates")
"""What a store's folder has."""
DATES = "dates"  # the folder of stores of dates in the past, see dates.py
DATE_NAME = re.compile(r"[0-9a-f]{16}-\d{4,}-\d\d-\d\d")
LAYER_MAGIC = b"cocite\nL"
LAYER_HEADER_BYTES = 16  # the magic bytes and the length of the manifest, which follows
CHUNK_BYTES = 1 << 24
_FIELD_TYPES: dict[str, type] = {
    "id": str,
    "built": str,
    "sources": list,
    "options": dict,
    "skipped": dict,
    "states": list,
}
_FIELD_TYPES |= dict.fromkeys(("format", "pages", "links", "sites", "hosts", "generation", "first", "new"), int)
_LAYER_FIELDS = "format", "first", "new", "pages", "links", "sources", "skipped"
"""What the manifest of a layer must have."""
_COUNTED = "records", "links"  # what the manifest counts of each source
_ARRAY_NAME = re.compile(r"[a-z][a-z0-9_.]*")
_TOO_MANY_FILES = "raise the limit of open files, for example with ulimit -n 4096"
_ADVICE = {
    errno.EMFILE: _TOO_MANY_FILES,
    errno.ENFILE: _TOO_MANY_FILES,
    errno.ENOMEM: "free memory, or raise the limit of address space (ulimit -v)",
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
}
Progress = Callable[[str, int, int | None], None]
"""Called with the stage, how much more of it is done, and the total if it is known."""


def format_of(arrays: Container[str], history: bool) -> int:
    """The lowest format that a generation with such arrays has: older versions read what they can."""
    if history:
        return HISTORY_FORMAT
    return PIECES_FORMAT if "name.piece" in arrays else FORMAT_NUMBER


class LayerName(NamedTuple):
    """A layer, or a generation, as `CURRENT` names it."""

    file: str
    digest: str  # of its manifest

    @property
    def number(self) -> int:
        """The number of a layer."""
        found = LAYER_FILE.fullmatch(self.file)
        assert found is not None, self.file
        return int(found[1])


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Report nothing."""


def file_digest(file: Path) -> str:
    """The checksum of a file."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def digest(data: bytes | memoryview) -> str:
    """The checksum used throughout a store."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class Writer:
    """Writes the arrays of one new generation, appending chunk by chunk, and keeps their sizes and checksums."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.arrays: dict[str, dict[str, Any]] = {}
        self._files: dict[str, tuple[IO[bytes], Any]] = {}

    def _create(self, name: str) -> IO[bytes]:
        return (self.folder / f"{name}.bin").open("wb")

    def append(self, name: str, values: NDArray[Any]) -> None:
        """Add values to the end of an array; the first call settles its type."""
        values = np.ascontiguousarray(values)
        if name not in self._files:
            self._files[name] = (self._create(name), hashlib.blake2b(digest_size=16))
            self.arrays[name] = {"type": values.dtype.newbyteorder("<").str, "length": 0}
        entry = self.arrays[name]
        if np.dtype(entry["type"]) != values.dtype:
            raise TypeError(f"{name} is {entry['type']}, not {values.dtype.str}")
        data = values.view(np.uint8).data if values.size else b""
        file, checksum = self._files[name]
        file.write(data)
        checksum.update(data)
        entry["length"] += len(values)

    def append_all(self, parts: Iterable[tuple[str, NDArray[Any]]]) -> None:
        """Add values to the ends of several arrays."""
        for name, values in parts:
            self.append(name, values)

    def length(self, name: str) -> int:
        """The number of values that an array has so far."""
        return int(self.arrays[name]["length"]) if name in self.arrays else 0

    def finish(self, name: str) -> None:
        """Close an array: it is on disk, and can be mapped."""
        file, checksum = self._files.pop(name)
        file.flush()
        os.fsync(file.fileno())
        file.close()
        self.arrays[name]["digest"] = checksum.hexdigest()

    def map(self, name: str) -> NDArray[Any]:
        """A finished (or just flushed) array, mapped for reading."""
        if name in self._files:
            self._files[name][0].flush()
        return map_array(self.folder / f"{name}.bin", self.arrays[name])

    def discard(self, name: str) -> None:
        """Take an array back; what is mapped of it can still be read."""
        if name in self._files:
            self._files.pop(name)[0].close()
        del self.arrays[name]
        (self.folder / f"{name}.bin").unlink()

    def close(self) -> None:
        """Finish every array that is still open."""
        for name in list(self._files):
            self.finish(name)

    def abandon(self) -> None:
        """Close the files without finishing them."""
        while self._files:
            with suppress(OSError):
                self._files.popitem()[1][0].close()


class MemoryWriter(Writer):
    """Keeps the arrays in memory, read-only as mapped ones are: for others, kernels would be compiled again."""

    def __init__(self) -> None:
        super().__init__(Path())

    def _create(self, name: str) -> IO[bytes]:
        return io.BytesIO()

    def finish(self, name: str) -> None:
        self.arrays[name]["digest"] = self._files[name][1].hexdigest()

    def map(self, name: str) -> NDArray[Any]:
        file, dtype = self._files[name][0], np.dtype(self.arrays[name]["type"])
        assert isinstance(file, io.BytesIO)
        return np.frombuffer(file.getvalue(), dtype) if self.length(name) else empty_array(dtype)

    def discard(self, name: str) -> None:
        del self.arrays[name], self._files[name]

    def all(self) -> dict[str, NDArray[Any]]:
        """Every array that was written, by name."""
        return {name: self.map(name) for name in self.arrays}


def map_array(file: Path, entry: dict[str, Any]) -> NDArray[Any]:
    """One array of a store, read-only and mapped; refuses a file of the wrong size."""
    dtype = np.dtype(entry["type"])
    expected = int(entry["length"]) * dtype.itemsize
    try:
        with open(file, "rb", buffering=0) as opened:  # noqa: PTH123 - a store has a hundred files: paths take time
            size = os.fstat(opened.fileno()).st_size
            if size != expected:
                why = f"{file} has {size:,} bytes instead of {expected:,}"
                raise BadStore(f"{why}: the store is damaged; build it again")
            if not expected:
                return empty_array(dtype)
            return np.frombuffer(mmap.mmap(opened.fileno(), expected, access=mmap.ACCESS_READ), dtype)
    except OSError as error:
        raise cannot_read(file, error) from error


def cannot_read(file: Path, error: OSError) -> BadStore:
    """The error for a file that can't be opened: only if it is missing is the store damaged."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return BadStore(f"{file} is missing: the store is damaged; build it again")
    advice = _ADVICE.get(error.errno or 0, "check the disk, or copy the store to another one")
    return BadStore(f"{file} cannot be read ({error.strerror}): {advice}")


def changed_arrays(
    arrays: Mapping[str, NDArray[Any]],
    entries: dict[str, dict[str, Any]],
    progress: Progress = no_progress,
    pool: Executor | None = None,
) -> Iterator[str]:
    """Names of mapped arrays whose bytes are not those that were written."""

    def is_changed(name: str) -> bool:
        checksum = hashlib.blake2b(digest_size=16)
        raw = arrays[name].view(np.uint8)
        for start in range(0, len(raw), CHUNK_BYTES):
            part = raw[start : start + CHUNK_BYTES]
            checksum.update(part.data)
            progress("verifying checksums", len(part), None)
        return bool(checksum.hexdigest() != entries[name].get("digest"))

    found = pool.map(is_changed, arrays) if pool else map(is_changed, arrays)
    yield from (name for name, changed in zip(arrays, found, strict=True) if changed)


def empty_array(dtype: np.dtype[Any]) -> NDArray[Any]:
    """An empty array, read-only as mapped ones are: for others, kernels would be compiled again."""
    return np.frombuffer(b"", dtype)


def read_current(store: Path) -> tuple[Path, dict[str, Any]]:
    """The folder of the current generation, and the manifest of the store with its layers; checksums are verified."""
    while True:
        folder, manifest, layers = read_pointer(store)
        try:
            return folder, merged_manifest(manifest, [read_layer_manifest(store, layer) for layer in layers])
        except BadStore:
            if read_pointer(store)[2] == layers:  # else they were merged meanwhile
                raise


def read_layer_manifest(store: Path, layer: LayerName) -> dict[str, Any]:
    """The manifest of a layer, its checksum verified."""
    file = store / layer.file
    try:
        with file.open("rb") as content:
            magic, length = content.read(8), int.from_bytes(content.read(8), "little")
            raw = content.read(min(length, file.stat().st_size))
        if magic != LAYER_MAGIC or digest(raw) != layer.digest:
            raise damaged_layer(file)
        manifest = parse_manifest(raw)
        if missing := [name for name in _LAYER_FIELDS if name not in manifest]:
            raise KeyError(missing[0])
        newer = manifest["format"] > LAYER_FORMAT
    except FileNotFoundError as error:
        raise damaged_layer(file, "", "is missing") from error
    except OSError as error:
        raise cannot_read(file, error) from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise damaged_layer(file) from error
    if newer:
        why = f"{file} has format {manifest['format']}, this cocite reads up to {LAYER_FORMAT}"
        raise BadStore(f"{why}: upgrade with pip install -U cocite, or build the store again")
    return manifest


def damaged_layer(file: Path, where: str = "", what: str = "is damaged") -> BadStore:
    """The error for a layer that can't be read."""
    return BadStore(f"{file} {what}{where}: copy it from a backup, or build the store again from its sources")


def merged_manifest(base: dict[str, Any], layers: list[dict[str, Any]]) -> dict[str, Any]:
    """The manifest of a store with layers: figures are those of the newest, sources are those of all."""
    if not layers:
        return base
    own = ("arrays", "format", "sources", "generation", "first", "new", "states")
    merged = base | {name: value for name, value in layers[-1].items() if name not in own}
    every = base.get("sources", []) + [source for layer in layers for source in layer["sources"]]
    merged["sources"] = merged_sources(every)
    return merged | {"layers": len(layers)}


def merged_sources(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sources of a store, each once, at its last place: what is added again and again would fill the manifest."""
    found: dict[str, dict[str, Any]] = {}
    for entry in entries:
        key = _source_key(entry)
        before = found.pop(key, {})
        found[key] = entry | {name: entry[name] + before.get(name, 0) for name in _COUNTED if name in entry}
    return list(found.values())


def subtracted_sources(entries: Iterable[dict[str, Any]], known: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What sources have beyond those that are known, such that merging both gives them again."""
    before, found = {_source_key(entry): entry for entry in known}, []
    for entry in entries:
        own = before.get(_source_key(entry), {})
        more = {name: entry[name] - own.get(name, 0) for name in _COUNTED if name in entry}
        if not own or any(more.values()):
            found.append(entry | more)
    return found


def _source_key(entry: dict[str, Any]) -> str:
    return json.dumps([entry.get(name) for name in ("source", "kind", "said")])


def read_pointer(store: Path) -> tuple[Path, dict[str, Any], tuple[LayerName, ...]]:
    """The folder and manifest of the current generation, the manifest's checksum verified, and its layers."""
    make = f"make one with: cocite build SOURCE... -o {store}"
    if not store.exists():
        raise BadStore(f"no store at {store}; {make}")
    for _ in range(5):  # a generation may be replaced and removed between reading the pointer and the manifest
        try:
            pointer = POINTER.fullmatch((store / "CURRENT").read_bytes())
        except FileNotFoundError as error:
            if any(store.iterdir()) and not any(store.glob("work-*")):
                make = "give the path of a store with -i, or make one with: cocite build SOURCE... -o web.cocite"
                raise BadStore(f"{store} is a folder, but not a store; {make}") from error
            raise BadStore(f"{store} holds no finished store; {make}") from error
        except NotADirectoryError as error:
            raise BadStore(f"{store} is not a store ({error.strerror})") from error
        except OSError as error:
            raise cannot_read(store / "CURRENT", error) from error
        if not pointer:
            raise BadStore(f"{store}/CURRENT is damaged; build the store again")
        folder = store / pointer[1].decode()
        try:
            raw = (folder / "manifest.json").read_bytes()
            if digest(raw) != pointer[2].decode():
                raise BadStore(f"{folder}/manifest.json does not match its checksum: damaged; build the store again")
            manifest = parse_manifest(raw)
            number = int(manifest.get("format", 0))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise cannot_read(folder / "manifest.json", error) from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise BadStore(f"{folder}/manifest.json is unreadable: build the store again") from error
        if number > HISTORY_FORMAT:
            why = f"{store} has format {number}, this cocite reads up to {HISTORY_FORMAT}"
            raise BadStore(f"{why}: upgrade with pip install -U cocite, or build the store again")
        if "history" in manifest and number < HISTORY_FORMAT:
            why = f"{store} keeps captures in format {number}, this cocite reads them from {HISTORY_FORMAT} on"
            raise BadStore(f"{why}: build the store again with --history")
        lines = pointer[3].decode().splitlines()
        return folder, manifest, tuple(LayerName(*line.split(" ")) for line in lines)
    raise BadStore(f"{store}: the generation that CURRENT names is missing; build the store again")


def parse_manifest(raw: bytes) -> dict[str, Any]:
    """A manifest whose fields have the types that everything reads them by. Raises ValueError, TypeError, KeyError."""
    manifest: dict[str, Any] = dict(json.loads(raw))
    entries = manifest["arrays"] = {name: dict(entry) for name, entry in dict(manifest["arrays"]).items()}
    types = {name: type(manifest[name]) for name in _FIELD_TYPES if name in manifest}
    lengths = [entry["length"] for entry in entries.values()]
    numbers = [*lengths, *(manifest[name] for name, kind in types.items() if kind is int)]
    if "id" not in types or any(kind is not _FIELD_TYPES[name] for name, kind in types.items()):
        raise TypeError("a field of another type")
    if not all(type(number) is int and 0 <= number < 1 << 62 for number in numbers):
        raise ValueError("a number out of range")
    if not all(map(_ARRAY_NAME.fullmatch, entries)) or not all(
        type(entry["type"]) is str for entry in entries.values()
    ):
        raise ValueError("an array without a name or a type")
    sources, states = manifest.get("sources", ()), manifest.get("states", ())
    if any(type(entry) is not dict for entry in sources) or any(type(state) is not str for state in states):
        raise TypeError("a source or a state of another type")
    if any(type(entry.get(name, 0)) is not int for entry in sources for name in _COUNTED):
        raise TypeError("a source without numbers")
    return manifest


@contextmanager
def new_generation(store: Path, wait: bool = False) -> Iterator[tuple[Path, Writer]]:
    """Lock a store, and give (work folder, writer of a new generation); `publish` makes it current; cleans up.

    Another command may have locked it: `wait` for that, or raise LockedStore.
    """
    if store.exists() and not store.is_dir():
        raise BadStore(f"{store} is a file; give a folder name such as web.cocite")
    if store.is_dir() and not is_store(store):
        raise BadStore(f"{store} is a folder with other things in it; give the name of a new folder")
    existed = store.exists()
    try:
        make_folder(store)
        lock = (store / "lock").open("a")
    except OSError as error:
        raise BadStore(f"cannot write to {store}: {error.strerror}") from error
    with lock:
        try:
            lock_file(lock, wait)
        except OSError as error:
            raise LockedStore(f"another build is writing {store}; wait for it, or choose another place") from error
        for left in (*store.glob("work-*"), *store.glob("compact-*")):
            if OWN_NAMES.fullmatch(left.name) and not is_locked(left / "lock"):
                shutil.rmtree(left, ignore_errors=True)
        work = store / f"work-{os.getpid()}"
        writer = Writer(work / "new")
        try:
            writer.folder.mkdir(parents=True)
            yield work, writer
        except OSError as error:
            # NumPy does not say why it could not write.
            if error.errno in (errno.ENOSPC, errno.EDQUOT) or shutil.disk_usage(store).free < 1 << 20:
                why = f"the disk of {store} is full: free some space or choose another place; nothing was changed"
                raise BadStore(why) from error
            raise
        finally:
            writer.abandon()
            shutil.rmtree(work, ignore_errors=True)
            if not existed and not (store / "CURRENT").exists():
                with suppress(OSError):
                    (store / "lock").unlink()
                    store.rmdir()


def is_locked(file: Path) -> bool:
    """Whether another process has locked a file, which may be missing."""
    try:
        with file.open("r+") as lock:
            lock_file(lock, wait=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def is_store(path: Path) -> bool:
    """Whether a folder holds a store, or the beginnings of one: other programs have a file CURRENT or lock too."""
    names = [file.name for file in path.iterdir()]
    return all(map(OWN_NAMES.fullmatch, names)) or any(
        OWN_NAMES.fullmatch(name) and (path / name / "manifest.json").exists() for name in names
    )


def publish(store: Path, new: Path, manifest: dict[str, Any], layers: Iterable[tuple[Path, str]] = ()) -> Path:
    """Make a finished folder the current generation: write its manifest, rename it, swap the pointer.

    `layers` are files on the same disk, and the digest of each one's manifest: they become its layers.
    """
    numbers = [int(p.name[1:]) for p in store.glob("g*") if p.name[1:].isdigit()]
    manifest["generation"] = max(numbers, default=0) + 1
    raw = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False).encode()
    write_synced(new / "manifest.json", raw)
    sync_folder(new)
    folder = store / f"g{manifest['generation']:06d}"
    new.rename(folder)
    names = []
    for number, (file, checksum) in enumerate(layers, 1):
        names.append(LayerName(f"{folder.name}-{number:06d}.layer", checksum))
        file.rename(store / names[-1].file)
    sync_folder(store)
    swap_pointer(store, pointer_text(LayerName(folder.name, digest(raw)), *names))
    remove_unnamed(store)
    return folder


def pointer_text(*names: LayerName) -> str:
    """The text of `CURRENT`: a generation and its layers."""
    return "".join(f"{name.file} {name.digest}\n" for name in names)


def swap_pointer(store: Path, text: str) -> None:
    """Replace `CURRENT`."""
    pointer = store / "CURRENT.new"
    write_synced(pointer, text.encode())
    pointer.replace(store / "CURRENT")
    sync_folder(store)


def publish_layer(
    store: Path, parts: Iterable[bytes | memoryview], checksum: str, kept: Iterable[LayerName], work: Path
) -> LayerName:
    """Make a new layer the last one, after those of `kept`; others are removed. It is on disk before `CURRENT` is."""
    folder, _, _ = read_pointer(store)
    numbers = [int(found[1]) for file in store.iterdir() if (found := LAYER_FILE.fullmatch(file.name))]
    name = LayerName(f"{folder.name}-{max(numbers, default=0) + 1:06d}.layer", checksum)
    new = work / name.file
    with new.open("wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    new.rename(store / name.file)
    first = (store / "CURRENT").read_text().splitlines()[0]
    swap_pointer(store, f"{first}\n{pointer_text(*kept, name)}")
    remove_unnamed(store)
    return name


def remove_leftovers(store: Path) -> None:
    """Remove what a killed command has left: older generations and unfinished work."""
    with new_generation(store):
        remove_unnamed(store)


def remove_unnamed(store: Path) -> None:
    """In a locked store: remove generations and layers that `CURRENT` doesn't name; readers keep their mappings."""
    folder, _, layers = read_pointer(store)
    named = {folder.name, *(layer.file for layer in layers)}
    remove_dates(kept_dates(store / DATES))  # they may have removed pages
    for old in store.glob("g*"):
        if old.name not in named and OWN_NAMES.fullmatch(old.name):
            shutil.rmtree(old, ignore_errors=True) if old.is_dir() else old.unlink(missing_ok=True)


def kept_dates(folder: Path) -> list[Path]:
    """The stores of dates in a folder, and nothing else that somebody put there."""
    return [each for each in folder.iterdir() if DATE_NAME.fullmatch(each.name)] if folder.is_dir() else []


def remove_dates(stores: Iterable[Path]) -> None:
    """Remove stores of dates; readers keep their mappings."""
    for each in stores:
        shutil.rmtree(each, ignore_errors=True)


def write_synced(file: Path, data: bytes) -> None:
    """Write a small file and have it on disk before returning."""
    file.write_bytes(data)
    sync_folder(file)


def copy_synced(source: Path, target: Path) -> None:
    """Copy a file of a store and have it on disk before returning."""
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        if str(error.filename) == str(source) and not error.filename2:  # else it can't be written
            raise cannot_read(source, error) from error
        raise
    sync_folder(target)
