"""cocite reproduce: lists claims, runs them, writes what it found, and keeps that when it is interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cocite.cli.tasks import other as verb
from research.reproduce import run as running
from research.reproduce.data import Data
from tests.cli.conftest import run


def test_listing() -> None:
    listed = run("reproduce")
    assert listed.code == 0
    assert listed.out.startswith("dean\tDean & Henzinger 1999") or listed.out.startswith("dean  Dean & Henzinger 1999")
    assert "zhao-example" in listed.out
    assert "zhao-example" not in run("reproduce", "dean").out


def test_running(tmp_path: Path) -> None:
    ran = run("reproduce", "zhao-example", "--data", tmp_path, "--write", tmp_path / "r.md", "--json")
    assert ran.code == 0, ran.err
    (found,) = json.loads(ran.out)
    assert (found["verdict"], found["told"]) == ("held", "0.65.")
    assert found["figures"]["value"] == pytest.approx(0.65)
    text = (tmp_path / "r.md").read_text()
    assert "| `zhao-example` |" in text
    assert "1 claim: 1 held" in text
    ran = run("reproduce", "zhao-keywords", "--data", tmp_path)
    assert "not testable" in ran.out


def test_data_that_are_missing(tmp_path: Path) -> None:
    ran = run("reproduce", "zhao-precision", "--data", tmp_path)
    assert ran.code == 0
    assert "not testable" in ran.out
    assert "does not have the papers of citeseer" in ran.out


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """What was written before stays."""
    written = tmp_path / "found.md"
    written.write_text("as it was")
    ran = run("reproduce", "zhao-example", "--data", tmp_path / "nowhere", "--write", written)
    assert (ran.code, written.read_text()) == (2, "as it was")
    assert "isn't a folder" in ran.err


def test_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: Data) -> dict[str, float]:
        raise KeyboardInterrupt

    usual = running.experiment
    monkeypatch.setattr(running, "experiment", lambda claim: interrupt if claim.experiment == "gains" else usual(claim))
    ran = run("reproduce", "zhao", "--data", tmp_path, "--write", tmp_path / "r.md")
    assert ran.code == 130
    text = (tmp_path / "r.md").read_text()
    assert "1 held" in text
    assert "; interrupted." in text
    assert "zhao-precision" not in text


def test_without_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "find_checkout", lambda: None)
    ran = run("reproduce")
    assert ran.code == 2
    assert ran.err.strip().endswith("run cocite reproduce in a checkout of cocite")
    assert len(ran.err.strip().splitlines()) == 1


def test_a_checkout_is_found_beside_the_package_or_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Path(__file__).parents[3]
    assert verb.find_checkout() == here
    monkeypatch.setattr("cocite.__file__", str(tmp_path / "lib" / "cocite" / "__init__.py"))
    monkeypatch.chdir(here)
    assert verb.find_checkout() == here
    monkeypatch.chdir(tmp_path)
    assert verb.find_checkout() is None


def test_invalid_arguments_are_refused(tmp_path: Path) -> None:
    for args, message in (
        (("nobody",), "Unknown paper or claim 'nobody'; papers are dean"),
        (("dean", "--data", tmp_path, "--write", tmp_path), "is a folder"),
    ):
        ran = run("reproduce", *args)
        assert ran.code == 2
        assert message in ran.err
