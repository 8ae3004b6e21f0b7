"""What operating systems do differently: locks on files, and what this process and this machine have."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
    import resource

    IS_UNIX = True
except ImportError:  # Windows
    import msvcrt

    IS_UNIX = False
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Options of glibc's `mallopt`."""
UNKNOWN_MEMORY_BYTES = 4 << 30
"""Assumed where the system doesn't tell."""


def lock_file(file: IO[str] | int, wait: bool = True) -> None:
    """Lock an open file or folder until it is closed. If another process has locked it: wait, or BlockingIOError."""
    if IS_UNIX:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return
    descriptor = file if isinstance(file, int) else file.fileno()
    while True:
        try:
            return msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, no-any-return]
        except OSError as error:  # LK_LOCK gives up after ten seconds
            if not wait:
                raise BlockingIOError(*error.args) from error


def sync_folder(folder: Path) -> None:
    """Have a folder's entries, or what is in a file, on disk. Windows can't open folders, and logs their changes."""
    if os.name == "nt" and folder.is_dir():
        return
    handle = os.open(folder, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, and have their names on disk."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        with suppress(PermissionError):  # a folder may be writable but not listable
            sync_folder(each.parent)


@contextmanager
def replacing(path: Path, ending: str = "") -> Iterator[Path]:
    """Give a temporary path beside `path` that replaces it at the end, or is deleted after an error.

    Afterwards the file is on disk under its name, with the permissions of the old one.
    """
    temporary = path.with_name(f".{path.name}{ending or f'.{os.getpid()}.part'}")
    try:
        yield temporary
        with suppress(OSError):
            temporary.chmod(path.stat().st_mode & 0o777)
        sync_folder(temporary)
        temporary.replace(path)
        with suppress(PermissionError):  # a folder may be writable but not listable
            sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file; an old one is replaced when the new one is complete."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def address_bytes(column: int = 0) -> int:
    """Address space of this process, as /proc has it; raises OSError without that."""
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - read at every scrape
        return int(file.read().split()[column]) * resource.getpagesize()


def free_address_bytes() -> int | None:
    """Address space that this process may still use; None if it has no limit."""
    if not IS_UNIX or (limit := resource.getrlimit(resource.RLIMIT_AS)[0]) == resource.RLIM_INFINITY:
        return None
    try:
        return limit - address_bytes()
    except OSError:  # not on Linux
        return None


def resident_bytes() -> int:
    """Resident memory of this process; without /proc its peak, and 0 on Windows."""
    if not IS_UNIX:
        return 0
    try:
        return address_bytes(column=1)
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def limit_free_memory() -> None:
    """Have the C library keep little of what this process frees, where it is glibc.

    By default, each thread has a heap of its own, and blocks of up to 32 MB come from there: after large questions they
    stay as holes between smaller ones. Here threads share two heaps, and blocks of a megabyte go back at once. Heaps
    shrink when much more is free than a short question takes: otherwise each would get its memory from the system anew.
    """
    libc = _libc()
    with suppress(AttributeError):  # another C library
        for option, value in ((M_ARENA_MAX, 2), (M_MMAP_THRESHOLD, 1 << 20), (M_TRIM_THRESHOLD, 64 << 20)):
            libc.mallopt(option, value)


def release_free_memory() -> None:
    """Give the pages that lie free in the heaps of this process back to the system, where the C library is glibc."""
    with suppress(AttributeError):
        _libc().malloc_trim(0)


def _libc() -> Any:
    """The C library; None on Windows."""
    import ctypes  # only servers need it

    return ctypes.CDLL(None) if IS_UNIX else None


def raise_file_limit(wanted: int) -> int:
    """Let this process open as many files as wanted, or as many as it may; returns how many."""
    if not IS_UNIX:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    aim = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < aim:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (aim, hard))
            soft = aim
    return wanted if soft == resource.RLIM_INFINITY else soft


def machine_bytes() -> int:
    """Memory of this machine."""
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return UNKNOWN_MEMORY_BYTES


@contextmanager
def without_collection() -> Iterator[None]:
    """Pause garbage collection while objects are made that stay: it took a tenth of the time, and found nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
