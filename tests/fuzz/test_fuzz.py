"""Seeds, kept cases and some random changes of them, by every target that is fuzzed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.run import CASES, SEEDS
from tests.fuzz.targets import TARGETS
from tests.graph.webs import examples


def known() -> list[tuple[str, bytes]]:
    """Every seed, and every case that once failed."""
    seeds = [(name, seed) for name, each in SEEDS.items() for seed in each]
    return seeds + [(file.parent.name, file.read_bytes()) for file in sorted(CASES.glob("*/*"))]


def test_every_target_has_seeds() -> None:
    assert set(SEEDS) == set(TARGETS)


@pytest.mark.parametrize(("name", "data"), known(), ids=lambda part: part if isinstance(part, str) else str(len(part)))
def test_known_cases(name: str, data: bytes) -> None:
    TARGETS[name](data)


@pytest.mark.parametrize("name", sorted(set(TARGETS) - {"store"}))
@given(cut=st.integers(0, 200), put=st.binary(max_size=12), at=st.integers(0, 200))
@examples(8)
def test_changed_seeds(name: str, cut: int, put: bytes, at: int) -> None:
    """A seed that is cut short or has bytes put in."""
    seed = SEEDS[name][0]
    TARGETS[name](seed[:at] + put + seed[at:])
    TARGETS[name](seed[:cut])
