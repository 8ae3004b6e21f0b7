"""The README is short, and shows what the demo prints; tests/bench/test_report.py has its figures."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import plain_surroundings, run
from tests.conftest import ROOT
from tests.docs.test_guides import is_printed

__all__ = ["plain_surroundings"]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = dict(re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))
MAX_LINES = 90


def test_it_is_short_and_has_three_commands() -> None:
    assert len(README.splitlines()) <= MAX_LINES
    assert BLOCKS["sh"].splitlines() == ["pip install .", "cocite demo -o web.cocite", "cocite serve"]


def test_the_demo_prints_what_it_shows(tmp_path: Path) -> None:
    ran = run("demo", "nytimes.com", "-o", tmp_path / "web.cocite")
    assert ran.code == 0, ran.err
    assert is_printed(BLOCKS[""], ran.out) == ""
    assert re.search(r"sample web from (\d+) link lists", README)[1] in ran.out  # type: ignore[index]
