"""Time and memory as oracles: an input that takes more than in proportion to its size is a failure.

Large inputs are seeds with a short piece repeated in them: quadratic patterns, and whatever grows with nesting, show at
once. The limits are generous: time is noisy, and the targets write what they read and read it again.
"""

from __future__ import annotations

import random
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from tests.fuzz.seeds import SEEDS
from tests.fuzz.targets import TARGETS

SECONDS, SECONDS_PER_BYTE = 1.0, 60e-6  # processor time
MEMORY_BYTES, MEMORY_PER_BYTE = 256 << 20, 2000
MAX_SECONDS = 120
SIZES = (1 << 12, 1 << 14, 1 << 14, 1 << 16)
HUGE_BYTES = 1 << 20
"""Once in a while: one of these takes as long as hundreds of others."""
MARKS = r"""< > & [ ] ( ) ! * _ ` ' " = / \ # | ~ : ; { } % . , - @ $ ^ a 0 .. ../ /./ :: ** ~~ <!-- --> </ <p> <b>
<dl> <div> <h2> </p> </a> <form> <select> <svg> <title> <script> <textarea> <ul><li> <dl><dt> <table><tr><td> <?xml &lt;
<![CDATA[ [a]( ![ [^1] [[ **a *a* {"a": %41 ?a=b& xn-- http:// www. https://a.example/ <https:// a. 0x"""
BLANKS = (" ", "\t", "\n", "\n\n", "\r", "\r\n", "- ", "> ", "1. ", "    ", "---\n", "a: b\n", "1\t2\n", "a: b\r\n")
OTHERS = (
    "WARC/1.0\r\n",
    "Content-Length: 0\r\n\r\n",
    "<a href=",
    '<a href="',
    "\x00",
    "\xff",
    "\x9b",
    "\x1b[",
    "\x1b]",
)
PIECES = [piece.encode("latin-1") for piece in (*MARKS.split(), *BLANKS, *OTHERS)]


def grown(seed: bytes, dice: random.Random) -> bytes:
    """An input with something repeated in it."""
    at = dice.randrange(len(seed) + 1)
    start = dice.randrange(len(seed) or 1)
    own = seed[start : start + dice.randrange(1, 24)] or b"\0"
    piece = dice.choice([own, dice.choice(PIECES), dice.choice(PIECES) + dice.choice(PIECES)])
    size = HUGE_BYTES if not dice.randrange(50) else dice.choice(SIZES)
    return seed[:at] + piece * (size // len(piece)) + dice.choice([b"", seed[at:], dice.choice(PIECES)])


def inputs(name: str, dice: random.Random) -> Iterator[bytes]:
    """Seeds of a target with something repeated in them."""
    while True:
        yield grown(dice.choice(SEEDS[name]), dice)


def cost(name: str, data: bytes) -> tuple[float, int]:
    """Processor seconds, and bytes of memory beyond the most that was used before, that a target takes."""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    signal.alarm(MAX_SECONDS)
    try:
        TARGETS[name](data)
    finally:
        signal.alarm(0)
    return time.process_time() - began, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10


def excess(name: str, data: bytes) -> str:
    """What is out of proportion, or empty. A slow input is tried again: another program may have been in the way."""
    for _ in range(3):
        seconds, memory = cost(name, data)
        if memory > MEMORY_BYTES + MEMORY_PER_BYTE * len(data):
            return f"{memory >> 20} MiB for {len(data):,} bytes"
        if seconds <= SECONDS + SECONDS_PER_BYTE * len(data):
            return ""
    return f"{seconds:.1f} s for {len(data):,} bytes"


def forget_peak() -> None:
    """Measure the largest memory from now on: an earlier input would hide a smaller one."""
    Path("/proc/self/clear_refs").write_text("5")


def limit_time() -> None:
    """Let an input that takes much too long raise an error."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"over {MAX_SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
