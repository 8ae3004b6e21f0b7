"""The file of claims is sound, verdicts follow from figures, and the document tells all of it."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from string import Formatter

import pytest

from cocite.errors import BadParameter, BadSource
from research.reproduce import claims as module
from research.reproduce import run as running
from research.reproduce.claims import (
    CANNOT,
    FAILED,
    HELD,
    PLANTED,
    VERDICTS,
    Claim,
    Claims,
    Outcome,
    Paper,
    read_claims,
)
from research.reproduce.data import Data

CLAIMS = read_claims()
ONE = Claim(
    "p-one", "p", "§1", "One is | two.", "2", "{x:.1f} and {y:.0%}", "measure", {"x": (1, 2), "y": (0, 0.5)},
    ("lists for a web",),
)  # fmt: skip


def test_ids_are_unique_and_begin_with_their_paper() -> None:
    ids = [claim.id for claim in CLAIMS.claims]
    assert len(ids) == len(set(ids)) > 50
    assert {claim.paper for claim in CLAIMS.claims} == {paper.name for paper in CLAIMS.papers}
    assert all(re.fullmatch(rf"{claim.paper}-[a-z0-9-]+", claim.id) for claim in CLAIMS.claims)


@pytest.mark.parametrize("claim", CLAIMS.claims, ids=lambda claim: claim.id)
def test_a_claim_can_be_run_or_has_a_reason_why_not(claim: Claim) -> None:
    assert claim.says.endswith(".")
    assert bool(claim.expect) != bool(claim.cannot)
    assert all(low <= high for low, high in claim.expect.values())
    if claim.experiment:
        assert callable(getattr(import_module(f"{module.__package__}.{claim.paper}"), claim.experiment))
        assert claim.ours
        assert claim.data  # what replaces the paper's data is named
    else:
        assert claim.cannot


def test_verdicts() -> None:
    """All figures in range, ends included; one that is not suffices."""
    assert ONE.judge({"x": 1.0, "y": 0.5}) == Outcome(ONE, HELD, "1.0 and 50%", {"x": 1.0, "y": 0.5})
    assert ONE.judge({"x": 2.01, "y": 0.1}).verdict == FAILED
    assert ONE.judge({"x": float("nan"), "y": 0.1}).verdict == FAILED
    assert replace(ONE, cannot="gone").judge({"x": 1.5, "y": 0.1}).verdict == CANNOT
    assert VERDICTS == ("held", "planted", "did not hold", "not testable")


def test_what_was_planted_has_not_held() -> None:
    """It comes out as planted; if it doesn't, it fails like any other."""
    planted = replace(ONE, planted="noise")
    assert planted.judge({"x": 1.5, "y": 0.1}).verdict == PLANTED
    assert planted.judge({"x": 3.0, "y": 0.1}).verdict == FAILED
    on_planted_data = {claim.id for claim in CLAIMS.claims if claim.planted}
    assert {"dean-duplicates", "dean-weights-farms", "dean-coverage", "hou_2002-avg"} < on_planted_data
    assert all(claim.planted for claim in CLAIMS.claims if claim.data and all("made-up" in of for of in claim.data))


def test_which_claims_are_wanted() -> None:
    assert CLAIMS.of() == CLAIMS.claims
    assert [claim.id for claim in CLAIMS.of("zhao-example")] == ["zhao-example"]
    assert {claim.paper for claim in CLAIMS.of("chirita")} == {"chirita"}
    with pytest.raises(BadParameter, match="Unknown paper or claim 'nobody'; papers are dean, hou_2003"):
        CLAIMS.of("nobody")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Experiments that give known figures; the list tells which were made."""
    calls: list[str] = []

    def measure(_: Data) -> dict[str, float]:
        calls.append("measure")
        return {"x": 1.5, "y": 0.6}

    def missing(_: Data) -> dict[str, float]:
        raise BadSource("there is no awesome/")

    monkeypatch.setattr(running, "experiment", lambda claim: {"measure": measure, "missing": missing}[claim.experiment])
    return calls


EXAMPLES = [
    ONE,
    replace(ONE, id="p-two", expect={"x": (1.0, 2.0)}, note="See there.", planted="noise"),
    replace(ONE, id="p-three", experiment="missing"),
    replace(ONE, id="p-four", experiment="", expect={}, ours="", cannot="The data are gone."),
]


def test_running(made: list[str], tmp_path: Path) -> None:
    """An experiment is made once; data that are not there stop nothing."""
    found = list(running.run(EXAMPLES, Data(tmp_path, tmp_path)))
    assert [outcome.verdict for outcome in found] == [FAILED, PLANTED, CANNOT, CANNOT]
    assert found[2].told == "Not run: there is no awesome/."
    assert made == ["measure"]
    assert running.counts(found) == "1 planted, 1 did not hold, 2 not testable"


def test_the_document(made: list[str], tmp_path: Path) -> None:
    """A row for every claim that was reached, with its data; a bar in a text does not end its cell."""
    claims = Claims([Paper("p", "A paper")], EXAMPLES)
    outcomes = list(running.run([*EXAMPLES[:2], EXAMPLES[3]], Data(tmp_path, tmp_path)))
    text = running.document(claims, outcomes, "Today.")
    assert "3 claims: 1 planted, 1 did not hold, 1 not testable. Today." in text
    assert "| `p-one` | One is &#124; two. (§1) | 2 | 1.5 and 60% | **did not hold** | lists for a web |" in text
    assert "| 1.5 and 60% See there. | **planted** | lists for a web; planted: noise |" in text
    assert "The data are gone. | **not testable** |" in text
    assert "p-three" not in text


def test_every_name_in_a_text_has_a_figure() -> None:
    """Expected figures are named in the text, or at least come from the same experiment as those that are."""
    for claim in CLAIMS.claims:
        names = {name for _, name, _, _ in Formatter().parse(claim.ours) if name}
        assert bool(names) == bool(claim.experiment), claim.id
