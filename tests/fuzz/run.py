"""Fuzz one target with atheris, guided by what of our code is reached.

    python -m tests.fuzz.run TARGET [--seconds 60] [--found FOLDER]

Begins with the kept cases and small examples of the form. What fails is written to FOLDER; put it into
tests/fuzz/cases/TARGET when it is mended, and it is tried in every test run.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path

from tests.fuzz.seeds import SEEDS

CASES = Path(__file__).parent / "cases"
MAX_BYTES = 4096


def main() -> None:
    """Fuzz until the time is over or something fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=sorted(SEEDS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"))
    options = parser.parse_args()
    import atheris  # only here: the development environment doesn't include it

    import cocite.kernels

    for module in pkgutil.iter_modules(
        cocite.kernels.__path__
    ):  # as they are: Numba cannot compile what is instrumented
        importlib.import_module(f"cocite.kernels.{module.name}")
    with atheris.instrument_imports(include=["cocite"]):
        from tests.fuzz.targets import TARGETS
    options.found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS[options.target]):
            (Path(corpus) / f"seed{number}").write_bytes(seed)
            TARGETS[options.target](seed)  # loops are compiled before the clock counts
        kept = CASES / options.target
        flags = [
            f"-max_total_time={options.seconds}",
            f"-max_len={MAX_BYTES}",
            "-timeout=20",
            "-rss_limit_mb=4096",
        ]
        flags += [
            f"-artifact_prefix={options.found}/{options.target}-",
            corpus,
            *([str(kept)] if kept.is_dir() else []),
        ]
        atheris.Setup([sys.argv[0], *flags], TARGETS[options.target])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
