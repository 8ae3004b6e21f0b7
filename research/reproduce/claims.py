"""The papers' claims in claims.toml, and their outcomes.

A claim names an experiment: a function in the file of its paper that returns figures by name. `ours` is a sentence with
these figures; the claim holds if each is in its range (`expect`). If we planted the effect in the data, the verdict is
"planted" instead of "held". A claim that can't be tested here gives the reason (`cannot`); it may still have an
experiment that comes close.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from cocite.errors import BadParameter

HELD, PLANTED, FAILED, CANNOT = "held", "planted", "did not hold", "not testable"
VERDICTS = (HELD, PLANTED, FAILED, CANNOT)
Figures = Mapping[str, float]


@dataclass(frozen=True)
class Paper:
    """A paper: the name of its experiments' file, and its title."""

    name: str
    title: str


@dataclass(frozen=True)
class Claim:
    """One claim of a paper."""

    id: str  # the paper's name, a hyphen, and what it is about
    paper: str
    where: str  # section, table or figure
    says: str
    theirs: str  # the paper's figures
    ours: str = ""  # a text with the names of figures in braces
    experiment: str = ""
    expect: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    data: Sequence[str] = ()  # what replaces the paper's data or model
    planted: str = ""  # what we added to the data for the experiment
    cannot: str = ""
    note: str = ""  # explains the difference to the reader

    def judge(self, figures: Figures) -> Outcome:
        """The verdict on measured figures."""
        told = self.ours.format(**figures)
        if self.cannot:
            return Outcome(self, CANNOT, told, figures)
        held = all(low <= figures[name] <= high for name, (low, high) in self.expect.items())
        return Outcome(self, (PLANTED if self.planted else HELD) if held else FAILED, told, figures)


@dataclass(frozen=True)
class Outcome:
    """A claim, the verdict on it, and the measured figures."""

    claim: Claim
    verdict: str
    told: str = ""
    figures: Figures = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Claims:
    """All claims, by paper."""

    papers: Sequence[Paper]
    claims: Sequence[Claim]

    def of(self, wanted: str = "") -> list[Claim]:
        """The claims of a paper, or the one with that id; all by default."""
        found = [claim for claim in self.claims if wanted in ("", claim.paper, claim.id)]
        if not found:
            names = ", ".join(paper.name for paper in self.papers)
            raise BadParameter(f"Unknown paper or claim {wanted!r:.100}; papers are {names}")
        return found


@cache
def read_claims() -> Claims:
    """claims.toml."""
    return parse_claims(resources.files(__package__).joinpath("claims.toml").read_text(encoding="utf-8"))


def parse_claims(text: str) -> Claims:
    """Claims out of TOML."""
    known = tomllib.loads(text)
    papers = [Paper(name, title) for name, title in known["papers"].items()]
    rows = [(paper.name, row) for paper in papers for row in known["claims"][paper.name]]
    return Claims(papers, [_claim(paper, row, known["data"][paper]) for paper, row in rows])


def _claim(paper: str, row: dict[str, Any], data: Mapping[str, str]) -> Claim:
    expect = {name: (float(low), float(high)) for name, (low, high) in row.pop("expect", {}).items()}
    replaced = tuple(data[name] for name in row.pop("data", ()))
    return Claim(**{**row, "id": f"{paper}-{row['id']}"}, paper=paper, expect=expect, data=replaced)
