"""Time and memory as oracles: an input that takes more than in proportion to its size is a failure.

    python -m tests.fuzz.growth [--seconds 60] [--seed 1] [TARGET]...

Every input is a seed with a short piece repeated to 16 or 64 kB: quadratic patterns, and whatever grows with nesting,
show at once. The limits are generous: time is noisy, and the targets write what they read and read it again.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from types import FrameType

from tests.fuzz.seeds import SEEDS
from tests.fuzz.targets import TARGETS

SECONDS, SECONDS_PER_BYTE = 1.0, 60e-6  # processor time
MEMORY_BYTES, MEMORY_PER_BYTE = 256 << 20, 2000
MAX_SECONDS = 60
SIZES = (1 << 14, 1 << 16)
SLOW = {"store"}  # which changes a store: its time doesn't depend on the input
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


def inputs(name: str, dice: random.Random) -> Iterator[bytes]:
    """Seeds of a target with something repeated in them."""
    while True:
        seed = dice.choice(SEEDS[name])
        at = dice.randrange(len(seed) + 1)
        start = dice.randrange(len(seed))
        own = seed[start : start + dice.randrange(1, 24)]
        piece = dice.choice([own, dice.choice(PIECES), dice.choice(PIECES) + dice.choice(PIECES)])
        size = dice.choice(SIZES)
        yield seed[:at] + piece * (size // len(piece)) + dice.choice([b"", seed[at:], dice.choice(PIECES)])


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
    for _ in range(2):
        seconds, memory = cost(name, data)
        if memory > MEMORY_BYTES + MEMORY_PER_BYTE * len(data):
            return f"{memory >> 20} MiB for {len(data):,} bytes"
        if seconds <= SECONDS + SECONDS_PER_BYTE * len(data):
            return ""
    return f"{seconds:.1f} s for {len(data):,} bytes"


def stop(_signal: int, _frame: FrameType | None) -> None:
    """Too long."""
    raise TimeoutError(f"over {MAX_SECONDS} s")


def main() -> None:
    """Try inputs until the time is over; print each failure, and how many were tried; end with 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, stop)
    names = options.target or sorted(set(TARGETS) - SLOW)
    tried: Counter[str] = Counter()
    failed = 0
    for name in names:
        for seed in SEEDS[name]:
            TARGETS[name](seed)  # loops are compiled before the clock counts
        end = time.monotonic() + options.seconds
        for data in inputs(name, random.Random(f"{name} {options.seed}")):
            if time.monotonic() > end:
                break
            tried[name] += 1
            try:
                wrong = excess(name, data)
            except Exception as error:
                wrong = repr(error)[:200]
            if wrong:
                failed += 1
                print(f"{name}: {wrong}: {data[:60]!r}…{data[-20:]!r}", flush=True)
    print(f"{tried.total():,} inputs, {failed} failures: {dict(tried)}")
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
