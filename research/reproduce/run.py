"""Run claims one after the other, and write the outcomes as a document."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from cocite.errors import BadSource
from research.reproduce.claims import CANNOT, NOT_RUN, VERDICTS, Claim, Claims, Figures, Outcome
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
            found = Outcome(claim, NOT_RUN, str(error))
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
    """All outcomes as Markdown; claims without one were not run."""
    known = {outcome.claim.id: outcome for outcome in outcomes}
    every = [known.get(claim.id, Outcome(claim, NOT_RUN)) for claim in claims.claims]
    parts = [
        "# The papers' claims, run again",
        "",
        "`make reproduce` writes this page; do not edit it. `research/reproduce/claims.toml` has the claims with their "
        "expected ranges. `cocite reproduce ID --data FOLDER` runs one of them.",
        "A claim has *held* if all its figures are in the expected range; failures are listed too. If a range or an "
        "experiment was changed after figures were seen, the row mentions it. If the paper's own data are gone, the "
        "claim is tested on other data, and the row names them.",
        "",
        f"{len(every)} claims: {counts(every)}. {where}",
    ]
    for paper in claims.papers:
        own = [outcome for outcome in every if outcome.claim.paper == paper.name]
        parts += ["", f"## {paper.title}", "", f"{counts(own)}.", ""]
        parts += ["| id | claim | the paper | here | |", "|---|---|---|---|---|"]
        parts += [_row(outcome) for outcome in own]
    return "\n".join(parts) + "\n"


def _row(outcome: Outcome) -> str:
    claim = outcome.claim
    here = " ".join(text for text in (outcome.told, claim.cannot, claim.note) if text)
    cells = (f"`{claim.id}`", f"{claim.says} ({claim.where})", claim.theirs, here, f"**{outcome.verdict}**")
    return f"| {' | '.join(' '.join(cell.split()).replace('|', '&#124;') for cell in cells)} |"
