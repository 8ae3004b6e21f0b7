"""Noise in every array of a store, under checksums that fit, never crashes the process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.graph.conftest import Noise
from tests.graph.webs import THOROUGH


def assert_harmless(noise: Noise) -> None:
    printed = noise.result()
    assert noise.process.returncode == 0, f"seed {noise.seed}: {noise.errors.read_text()[-3000:]}"
    faults = json.loads(printed.splitlines()[-1])
    assert faults == [], f"seed {noise.seed}, {len(faults)} faults: " + "\n".join(faults[:3])


@pytest.mark.timeout(900)  # the first run compiles everything with bounds checked
def test_noise_with_bounds_checked(checked_noise: Noise) -> None:
    assert_harmless(checked_noise)


@pytest.mark.skipif(
    not THOROUGH, reason="bounds that are checked tell more; both ways with HYPOTHESIS_PROFILE=thorough"
)
def test_noise_as_it_runs(place: Path) -> None:
    noise = Noise(place, checked=False)
    try:
        assert_harmless(noise)
    finally:
        noise.end()
