"""Fuzz one target with atheris, guided by what of our code is reached, with time and memory as oracles.

Begins with the kept cases and small examples of the form, and goes on where the last run ended. What fails is written
to a folder; put it into tests/fuzz/cases/TARGET when it is mended, and it is tried in every test run. The folder also
counts how many inputs were tried: the file is written every few seconds, so that a killed run counts, too.
"""

from __future__ import annotations

import json
import os
import random
import time
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.seeds import SEEDS

CASES = Path(__file__).parent / "cases"
MAX_BYTES, LARGE_BYTES = 1 << 12, 1 << 20
LARGE_EVERY = 200
"""Every 200th input has something repeated in it."""
COUNT_SECONDS = 5.0
FORGET_INPUTS = 256


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

    kept, corpus, counts = CASES / target, found / "corpus" / target, found / "counts"
    for folder in (corpus, counts):
        folder.mkdir(parents=True, exist_ok=True)
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
