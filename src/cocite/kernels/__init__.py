"""The one compile policy of all hot loops.

Kernels take arrays and numbers and return arrays or numbers. They are compiled at first use (eager signatures would
reject the read-only arrays of a mapped store), kept on disk, and run without the GIL, so threads scale.
`NUMBA_BOUNDSCHECK=1` makes every kernel check its indices; one test run uses it.
"""

from typing import Any

from numba import njit

kernel: Any = njit(cache=True, nogil=True, error_model="numpy")
inline: Any = njit(cache=True, nogil=True, error_model="numpy", inline="never", forceinline=True)
"""For small functions called from other kernels' inner loops: always inlined by LLVM."""
