"""Files that are mapped into memory, and changed by somebody: noticed, and survived.

A store is never changed in place, but whoever copies another one over it does that. Reading a mapped page that its file
no longer has raises SIGBUS, which would end the process without a word. Instead, the whole mapping becomes zeros, as
systemd's journal does with its files; the log says which file it was. Whatever was read of it is wrong, so the snapshot
is given up: `lost` and `changed` of `MappedFiles` say when. On other systems than Linux, SIGBUS ends the process.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cocite.log import Log

PROT_READ, MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS, MAP_NORESERVE = 1, 0x02, 0x10, 0x20, 0x4000
SA_SIGINFO = 4
ADDRESS_OFFSET = 16
"""Of the address in a siginfo_t, on 64-bit Linux."""
LOST_FILE_ADVICE = "the file was changed while it was served: never copy over a store, use cocite install STORE DEST"
_lost: list[str] = []
_handler: Any = None  # referred to, as the system calls it


class Mapping(NamedTuple):
    """One file in the address space of this process."""

    start: int
    end: int
    mode: str
    file: str


class _Action(ctypes.Structure):
    """struct sigaction of Linux's C libraries."""

    _fields_ = (("handler", ctypes.c_void_p), ("mask", ctypes.c_ubyte * 128), ("flags", ctypes.c_int),
                ("restorer", ctypes.c_void_p))  # fmt: skip


def mappings(folder: str = "/") -> Iterator[Mapping]:
    """The mapped files of this process that are in a folder; none where the system doesn't tell."""
    within = " " + folder.rstrip("/").replace("\n", "\\012") + "/"  # as the system writes it
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as lines:  # noqa: PTH123
        for line in lines:
            if within in line:  # a process has a thousand mappings, most of them of libraries
                place, mode, _, _, _, *file = line.rstrip("\n").split(maxsplit=5)
                start, _, end = place.partition("-")
                if file and f" {file[0]}".startswith(within):
                    yield Mapping(int(start, 16), int(end, 16), mode, file[0].replace("\\012", "\n"))


def survive_lost_files(log: Log) -> None:
    """From now on, a mapping whose file was cut becomes zeros, and the log says so. Linux only."""
    global _handler
    if sys.platform != "linux" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return
    system = ctypes.CDLL(None, use_errno=True)
    system.mmap.restype = ctypes.c_void_p
    before = _Action()

    def replace_mapping(_: int, about: int, __: int) -> None:
        address = ctypes.c_uint64.from_address(about + ADDRESS_OFFSET).value
        for each in mappings():
            if each.start <= address < each.end and each.mode == "r--s":
                place, size = ctypes.c_void_p(each.start), ctypes.c_size_t(each.end - each.start)
                flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE
                if system.mmap(place, size, PROT_READ, flags, -1, ctypes.c_long(0)) == each.start:
                    _lost.append(each.file)
                    log.write("file lost", "error", file=each.file, what=LOST_FILE_ADVICE)
                    return
        log.write("bus error", "error", address=hex(address), what="no file of a store was there")
        system.sigaction(signal.SIGBUS, ctypes.byref(before), None)  # again, and the process ends

    _handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(replace_mapping)
    action = _Action(handler=ctypes.cast(_handler, ctypes.c_void_p), flags=SA_SIGINFO)
    if system.sigaction(signal.SIGBUS, ctypes.byref(action), ctypes.byref(before)):
        log.write("cannot survive lost files", "warning", why=os.strerror(ctypes.get_errno()))


class MappedFiles:
    """The files of a store that are mapped, as they were when they were first seen."""

    def __init__(self, store: Path) -> None:
        self._store, self._marks, self._lost_before = store.resolve(), dict[str, tuple[int, ...]](), len(_lost)
        self.changed()

    @property
    def lost(self) -> list[str]:
        """Files that were cut since then."""
        return [file for file in _lost[self._lost_before :] if Path(file).is_relative_to(self._store)]

    def changed(self) -> list[str]:
        """Files that were changed in place. A file that was replaced or removed keeps its bytes: it doesn't count."""
        for each in mappings(str(self._store)):
            if each.file not in self._marks:
                with suppress(OSError):  # removed already
                    self._marks[each.file] = mark_of(each.file)
        return [file for file, mark in self._marks.items() if is_changed(file, mark)]

    def marks(self) -> list[tuple[int, ...]]:
        """What changes when somebody writes to one of the files."""
        found = []
        for file in self._marks:
            with suppress(OSError):
                found.append(mark_of(file))
        return found


def mark_of(file: str) -> tuple[int, ...]:
    """What changes when somebody writes to a file: the first is the file itself."""
    about = os.stat(file)  # noqa: PTH116
    return about.st_ino, about.st_size, about.st_mtime_ns


def is_changed(file: str, before: tuple[int, ...]) -> bool:
    """Whether the same file has another size, or was written to."""
    try:
        now = mark_of(file)
    except OSError:
        return False
    return now[0] == before[0] and now != before
