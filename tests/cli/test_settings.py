"""Where the values of options are from: flags, then the environment, the folder's file of settings, the user's."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from tests.cli.conftest import NEWS, operations, run


@pytest.fixture
def files(place: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The user's file of settings and the folder's, not yet written."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "home"))
    (place / "home" / "cocite").mkdir(parents=True)
    monkeypatch.chdir(place)
    return place / "home" / "cocite" / "cocite.toml", place / "cocite.toml"


def count_links(*args: str) -> int:
    """How many links `cocite links` shows."""
    ran = run("links", NEWS, "--json", *args)
    assert ran.code == 0, ran.err
    return len(json.loads(ran.out)["cited_by"])


def test_what_comes_first(files: tuple[Path, Path], store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user, project = files
    user.write_text(f'index = "{store}"\nk = 1\n')
    assert count_links() == 1, "the user's, for every command"
    user.write_text(f'index = "{store}"\nk = 2\n[links]\nk = 1\n')
    assert count_links() == 1, "a command's own values first"
    project.write_text("[links]\nk = 2\n")
    assert count_links() == 2, "the folder's before the user's"
    monkeypatch.setenv("COCITE_K", "1")
    assert count_links() == 1, "the environment before files"
    monkeypatch.setenv("COCITE_LINKS_K", "2")
    assert count_links() == 2, "a command's own variable first"
    assert count_links("-k", "1") == 1, "flags before everything"


def test_lists_flags_and_groups_have_settings(files: tuple[Path, Path], store: Path) -> None:
    files[1].write_text(
        f'index = "{store}"\n[compare]\nmethod = ["companion", "cocitation"]\nnot-own-site = true\njson = true\n'
        "[study.new]\nk = 500\n"
    )
    assert list(json.loads(run("compare", NEWS).out)["methods"]) == ["companion", "cocitation"]
    ran = run("study", "new", "trial", NEWS)
    assert ran.err == "cocite: -k must be a whole number from 1 to 100, not 500 (from cocite.toml)\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k = = 1", "Can't read the settings of cocite.toml: "),
        ("[links]\nkk = 1", "cocite.toml: links has no option 'kk'; see cocite links --help"),
        ("[linksss]\nk = 1", "cocite.toml: unknown command 'linksss'; see cocite --help"),
        ("[study.new]\nkk = 1", ""),
        ("base = 'https://a.example/'", ""),
        ("bases = 'https://a.example/'", "cocite.toml: unknown option 'bases'"),
        ("k = 'many'", "-k must be a whole number from 0 to 100000, not 'many' (from cocite.toml)"),
        ("k = []", "-k must be a whole number from 0 to 100000"),
    ],
)
def test_mistakes_in_settings_are_named(files: tuple[Path, Path], store: Path, text: str, message: str) -> None:
    files[1].write_text(text)
    ran = run("links", NEWS, "-i", store)
    assert (ran.code, ran.err.count("\n")) == ((2, 1) if message else (0, 0)), ran.err
    assert message in ran.err


def test_mistakes_in_variables_are_named(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COCITE_K", "many")
    expected = "cocite: -k must be a whole number from 0 to 100000, not 'many' (from an environment variable)\n"
    assert run("links", NEWS, "-i", store).err == expected


def test_several_methods_in_one(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = "companion, cocitation(unit=site, parents=9),walk"
    names = ["companion", "cocitation(unit=site, parents=9)", "walk"]
    ran = run("compare", NEWS, "-i", store, "-m", wanted, "-m", "lli", "--json")
    assert list(json.loads(ran.out)["methods"]) == [*names, "lli"]
    monkeypatch.setenv("COCITE_METHOD", wanted)
    assert list(json.loads(run("compare", NEWS, "-i", store, "--json").out)["methods"]) == names


def test_help_of_a_command() -> None:
    assert run("help", "links").out == run("links", "--help").out
    assert run("help", "study", "new").out == run("study", "new", "--help").out
    assert run("help").out == run("--help").out
    assert run("help", "fly").code == 2
    assert run("-V").out == run("--version").out


def test_no_help_shows_types_of_python() -> None:
    for name in operations():
        shown = run(*name.split(), "--help").out
        assert not any(text in shown for text in ("list[", "<str", "INTEGER", "FLOAT", "Sentinel")), name


def test_the_log(store: Path) -> None:
    log = logging.getLogger("cocite")
    try:
        ran = run("related", NEWS, "-i", store, "-v")
        assert "cocite.store: Opened" in ran.err and "cocite.ask: " in ran.err
        assert run("related", NEWS, "-i", store).err.count("cocite.") >= 0
    finally:
        log.handlers.clear()
        log.setLevel(logging.NOTSET)
