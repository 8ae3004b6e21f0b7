"""Arrays that look whole, put together from files without reading them.

A range of address space is reserved, and files are mapped into it one after another. Pages of memory that somebody
writes to are private copies; all others are shared with everybody who has the file open. So an array of a hundred
million values can have a thousand of them changed, and some added at its end, for the price of the thousand.
Where a system can't do that, the files are copied into memory.
"""

import ctypes
import mmap
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAP_FIXED = 0x10  # Linux, macOS and the BSDs
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0)
GRAIN_BYTES = mmap.ALLOCATIONGRANULARITY
_ADDRESS = ctypes.c_void_p
CAN_MAP = os.name == "posix"


class FilePart(NamedTuple):
    """An array, and where it begins in a file, if it is in one. A file that was removed meanwhile is copied."""

    file: Path | None
    offset: int
    values: NDArray[Any]

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.values.nbytes


def joined(dtype: np.dtype[Any], parts: Sequence[FilePart], more: int = 0) -> tuple[NDArray[Any], list[int]]:
    """One array of several parts with room for `more` values, which are 0, right behind the first; not yet read-only.

    Returns it with the place of each part: all but the first begin at a page of memory, with zeros before them. An
    offset in a file must be a multiple of GRAIN_BYTES, or the part is copied.
    """
    places, end = [], 0
    for number, part in enumerate(parts):
        places.append(end // dtype.itemsize)
        end = _aligned(end + part.size + (more * dtype.itemsize if number == 0 else 0))
    last = (places[-1] * dtype.itemsize + parts[-1].size) if len(parts) > 1 else parts[0].size + more * dtype.itemsize
    size = max(end, GRAIN_BYTES)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE if CAN_MAP else 0
    region = mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE) if CAN_MAP else bytearray(size)
    for part, place in zip(parts, places, strict=True):
        _fill(region, place * dtype.itemsize, part)
    return np.frombuffer(region, dtype, last // dtype.itemsize), places


def _aligned(size: int) -> int:
    return -(-size // GRAIN_BYTES) * GRAIN_BYTES


def _fill(region: Any, at: int, part: FilePart) -> None:
    if not part.size:
        return
    room = np.frombuffer(region, np.uint8)
    if CAN_MAP and part.file is not None and part.offset % GRAIN_BYTES == 0 and part.size > GRAIN_BYTES:
        with suppress(FileNotFoundError), part.file.open("rb", buffering=0) as file:
            _map(room.ctypes.data + at, part.size, file.fileno(), part.offset)
            return
    room[at : at + part.size] = part.values.view(np.uint8)


def _map(address: int, size: int, handle: int, offset: int) -> None:
    """Map a file over a part of a reserved region: it is unmapped together with it."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = _ADDRESS
    library.mmap.argtypes = (_ADDRESS, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    flags = mmap.MAP_PRIVATE | MAP_FIXED | NO_RESERVE
    found = library.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, handle, offset)
    if found != address:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
