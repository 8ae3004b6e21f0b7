"""Fuzz one target, with time and memory as oracles: guided by what of our code is reached, or fast.

atheris guides, but what it instruments is slow: a few hundred inputs a second. The fast way changes what atheris has
found, without it: some thousands a second.

Begins with the kept cases and small examples of the form, and goes on where the last run ended. What fails is written
to a folder; put it into tests/fuzz/cases/TARGET when it is mended, and it is tried in every test run. The folder also
counts how many inputs were tried: the file is written every few seconds, so that a killed run counts, too.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import random
import time
import traceback
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.seeds import SEEDS

CASES = Path(__file__).parent / "cases"
MAX_BYTES, LARGE_BYTES = 1 << 12, 1 << 20
LARGE_EVERY = 200
"""Every 200th input has something repeated in it."""
COUNT_SECONDS = 5.0
FORGET_INPUTS = 256
MAX_FAILURES = 20
"""Of one fast run, each at another place."""


class Watch:
    """A target with its oracles, which counts what it tries."""

    def __init__(self, name: str, file: Path, seconds: float) -> None:
        from tests.fuzz import growth

        self._name, self._file, self._growth = name, file, growth
        self.inputs, self.large, self.bytes = 0, 0, 0
        self.began, self._noted = time.monotonic(), time.monotonic()
        self._end = self.began + seconds
        growth.limit_time()

    def __call__(self, data: bytes) -> None:
        """Try one input; raises AssertionError if it takes too much."""
        self.inputs += 1
        self.bytes += len(data)
        self.large += len(data) > MAX_BYTES
        if not self.inputs % FORGET_INPUTS:
            self._growth.forget_peak()
        wrong = self._growth.excess(self._name, data)
        assert not wrong, wrong
        now = time.monotonic()
        if now > self._noted + COUNT_SECONDS or now > self._end:
            self.note()
        if now > self._end:
            os._exit(0)

    def note(self) -> None:
        """Write the counts."""
        self._noted = time.monotonic()
        seconds = self._noted - self.began
        counts = {"inputs": self.inputs, "large": self.large, "bytes": self.bytes, "seconds": round(seconds, 1)}
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps({"target": self._name, **counts}))
        new.replace(self._file)


def kernel_modules() -> list[str]:
    """What stays as it is: Numba cannot compile what is instrumented."""
    spec = find_spec("cocite")
    assert spec is not None and spec.origin is not None
    root = Path(spec.origin).parent
    return [
        ".".join(("cocite", *file.relative_to(root).with_suffix("").parts)) for file in root.glob("kernels/**/*.py")
    ]


def load_targets() -> None:
    """Import everything that is fuzzed, so that atheris sees which of our code an input reaches."""
    import atheris  # only here: the development environment doesn't include it

    with atheris.instrument_imports(include=["cocite"], exclude=kernel_modules()):
        import tests.fuzz.targets  # noqa: F401


def fuzz(target: str, seconds: float, found: Path) -> None:
    """Fuzz until the time is over or something fails; for a process of its own, which ends here."""
    import atheris

    from tests.fuzz.growth import grown
    from tests.fuzz.targets import TARGETS

    kept, corpus, counts = folders_of(target, found)
    for number, seed in enumerate(SEEDS[target]):
        (corpus / f"seed{number}").write_bytes(seed)
        TARGETS[target](seed)  # loops are compiled before the clock counts

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        dice = random.Random(seed)
        if not dice.randrange(LARGE_EVERY):
            return grown(data[:MAX_BYTES], dice)[:max_size]
        return bytes(atheris.Mutate(data[:MAX_BYTES], MAX_BYTES))

    watch = Watch(target, counts / f"{target}-{time.time_ns()}.json", seconds)
    flags = [f"-max_len={LARGE_BYTES}", "-report_slow_units=1000", "-rss_limit_mb=4096", "-verbosity=0"]
    flags += [f"-seed={random.randrange(1, 1 << 31)}", f"-artifact_prefix={found}/{target}-"]
    folders = [str(corpus), *([str(kept)] if kept.is_dir() else [])]
    atheris.Setup(["fuzz", *flags, *folders], watch, custom_mutator=mutate)
    atheris.Fuzz()


def folders_of(target: str, found: Path) -> tuple[Path, Path, Path]:
    """Where the kept cases of a target are, what was found worth keeping for the next run, and the counts."""
    kept, corpus, counts = CASES / target, found / "corpus" / target, found / "counts"
    for folder in (corpus, counts):
        folder.mkdir(parents=True, exist_ok=True)
    return kept, corpus, counts


def fuzz_fast(target: str, seconds: float, found: Path) -> None:
    """Fuzz until the time is over, without guidance; what fails is written down, and the run goes on.

    The input that is being tried is always in a file: it is there if the process dies of it.
    """
    from tests.fuzz.growth import grown
    from tests.fuzz.targets import TARGETS

    kept, corpus, counts = folders_of(target, found)
    for seed in SEEDS[target]:
        TARGETS[target](seed)
    known = [file.read_bytes() for folder in (kept, corpus) if folder.is_dir() for file in folder.iterdir()]
    known = [*SEEDS[target], *(each for each in known if len(each) <= MAX_BYTES)]
    dice, places = random.Random(os.urandom(16)), set[str]()
    watch = Watch(target, counts / f"{target}-{time.time_ns()}.json", seconds)
    trying = found / f"{target}-trying"
    trying.write_bytes(bytes(LARGE_BYTES + (1 << 16)))
    with trying.open("r+b") as file, mmap.mmap(file.fileno(), 0) as current:
        while True:
            base = dice.choice(known)
            data = changed(base, known, dice) if dice.randrange(LARGE_EVERY) else grown(base, dice)[:LARGE_BYTES]
            current[:8] = len(data).to_bytes(8, "little")
            current[8 : 8 + len(data)] = data
            try:
                watch(data)
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                if f"{last.filename}:{last.lineno}" in places or len(places) >= MAX_FAILURES:
                    continue
                places.add(f"{last.filename}:{last.lineno}")
                keep_failure(target, data, found)
                traceback.print_exc()


def keep_failure(target: str, data: bytes, found: Path) -> None:
    """Write an input that failed under the name that atheris would give it."""
    (found / f"{target}-crash-{hashlib.sha1(data).hexdigest()}").write_bytes(data)


def keep_tried(target: str, found: Path) -> None:
    """Write down the input that ended the process of a fast run."""
    tried = (found / f"{target}-trying").read_bytes()
    keep_failure(target, tried[8 : 8 + int.from_bytes(tried[:8], "little")], found)


def changed(data: bytes, known: list[bytes], dice: random.Random) -> bytes:
    """An input with one to eight changes: bytes, bits, numbers, pieces removed, doubled, moved, or of another input."""
    from tests.fuzz.growth import PIECES

    made = bytearray(data)
    for _ in range(1 << dice.randrange(4)):
        at, kind = dice.randrange(len(made) + 1), dice.randrange(9)
        end = at + dice.randrange(1, 2 << dice.randrange(6))
        if kind == 0:
            made[at : at + 1] = bytes([dice.randrange(256)])
        elif kind == 1 and at < len(made):
            made[at] ^= 1 << dice.randrange(8)
        elif kind == 2:
            del made[at:end]
        elif kind == 3:
            made[at:at] = made[at:end]
        elif kind == 4:
            made[at:at] = dice.choice(PIECES)
        elif kind == 5:
            other = dice.choice(known)
            start = dice.randrange(len(other) or 1)
            made[at : at + dice.randrange(2) * (end - at)] = other[start : start + end - at]
        elif kind == 6:
            size = 1 << dice.randrange(4)
            made[at : at + size] = dice.choice((0, 1, -1, 1 << (8 * size - 1), dice.getrandbits(8 * size))).to_bytes(
                size + 1, dice.choice(("little", "big")), signed=True
            )[:size]
        elif kind == 7:
            made[at:end] = made[at:end][::-1]
        else:
            made[at:at] = str(dice.choice((0, -1, 1 << 31, 1 << 63, 1e308, dice.getrandbits(70)))).encode()
    return bytes(made[:MAX_BYTES])
