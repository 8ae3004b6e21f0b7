"""Run claims one after the other, and write the outcomes as a document."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from cocite.errors import BadSource
from cocite.text import count
from research.reproduce.claims import CANNOT, FAILED, HELD, PLANTED, VERDICTS, Claim, Claims, Figures, Outcome
from research.reproduce.data import Data


def run(claims: Sequence[Claim], data: Data) -> Iterator[Outcome]:
    """The outcome of every claim; an experiment that several claims share runs once."""
    made: dict[str, Figures] = {}
    for claim in claims:
        started = time.perf_counter()
        if not claim.experiment:
            yield Outcome(claim, CANNOT)
            continue
        try:
            key = f"{claim.paper}.{claim.experiment}"
            if key not in made:
                made[key] = experiment(claim)(data)
            found = claim.judge(made[key])
        except BadSource as error:
            found = Outcome(claim, CANNOT, f"Not run: {error}.")
        yield Outcome(found.claim, found.verdict, found.told, found.figures, time.perf_counter() - started)


def experiment(claim: Claim) -> Callable[[Data], Figures]:
    """The function that measures what a claim is about."""
    module = import_module(f"{__package__}.{claim.paper}")
    found: Callable[[Data], Figures] = getattr(module, claim.experiment)
    return found


def counts(outcomes: Sequence[Outcome]) -> str:
    """How many of each verdict."""
    number = Counter(outcome.verdict for outcome in outcomes)
    return ", ".join(f"{number[verdict]} {verdict}" for verdict in VERDICTS if number[verdict])


def document(claims: Claims, outcomes: Sequence[Outcome], where: str) -> str:
    """All outcomes as Markdown; claims that were not reached have no row."""
    parts = [
        "# The papers' claims, run again",
        "",
        "`make reproduce` writes this page; do not edit it. `research/reproduce/claims.toml` has the claims with their "
        "expected ranges. `cocite reproduce ID --data FOLDER` runs one of them.",
        "",
        "| verdict | means |",
        "|---|---|",
        f"| {HELD} | all figures are in the expected range |",
        f"| {PLANTED} | they are, but we planted the effect in the data: real webs may differ |",
        f"| {FAILED} | some figure is outside, on real data or on planted ones |",
        f"| {CANNOT} | the data or services are gone, or weren't there in this run |",
        "",
        "If a range or an experiment was changed after figures were seen, the row mentions it. Most of the papers' own "
        "data are gone; the last column names what replaces them.",
        "",
        f"{count(len(outcomes), 'claim')}: {counts(outcomes)}. {where}",
    ]
    for paper in claims.papers:
        own = [outcome for outcome in outcomes if outcome.claim.paper == paper.name]
        parts += ["", f"## {paper.title}", "", f"{counts(own)}.", ""]
        parts += ["| id | claim | the paper | here | | data here, for the paper's |", "|---|---|---|---|---|---|"]
        parts += [_row(outcome) for outcome in own]
    return "\n".join(parts) + "\n"


def _row(outcome: Outcome) -> str:
    claim = outcome.claim
    here = " ".join(text for text in (outcome.told, claim.cannot, claim.note) if text)
    added = [f"planted: {claim.planted}"] if claim.planted else []
    cells = (
        f"`{claim.id}`", f"{claim.says} ({claim.where})", claim.theirs, here, f"**{outcome.verdict}**",
        "; ".join([*claim.data, *added]),
    )  # fmt: skip
    return f"| {' | '.join(' '.join(cell.split()).replace('|', '&#124;') for cell in cells)} |"
