"""Lists of pages that a method takes, `stop` and `dead`, may be files on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocite.cli.commands import with_page_lists
from cocite.errors import BadParameter
from cocite.related.methods import method


def test_the_lines_of_a_file_replace_its_name(place: Path) -> None:
    file = place / "my stop.txt"
    file.write_text("\ufeff# mine\nhttps://a.example/\nunknown.example\n\nb.example/x,y\n", encoding="utf-8")
    call = with_page_lists(f'proximity(parents=5, stop="{file}" c.example)')
    assert method(call).params.stop == ("https://a.example/", "unknown.example", "b.example/x,y", "c.example")
    assert method(call).params.parents == 5
    dead = method(with_page_lists(f'whats_related(dead="{file}")')).params.dead
    assert dead == ("https://a.example/", "unknown.example", "b.example/x,y")
    file.write_text("# nothing\n")
    assert method(with_page_lists(f'proximity(stop="{file}")')).params.stop == ()


@pytest.mark.parametrize("call", ["auto", "companion(parents=5)", "companion(seed=3, stop_degree=5)", "nonsense("])
def test_other_methods_are_unchanged(call: str) -> None:
    assert with_page_lists(call) == call


@pytest.mark.parametrize(
    "entry", ["stop.txt", "lists/stop", "./stop", "~/stop", "/etc", "STOP.CSV", "example.org/stop.tsv"]
)
def test_a_missing_file(entry: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    with pytest.raises(BadParameter, match=r"Unknown file '.*' of stop pages: check the path, or give addresses"):
        with_page_lists(f"proximity(stop={entry})")


def test_a_file_that_is_not_text(place: Path) -> None:
    (place / "stop.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadParameter, match="cannot read the stop pages of"):
        with_page_lists(f'proximity(stop="{place}/stop.bin")')


@pytest.mark.parametrize(
    "entry", ["x.com", "https://x.com/a.txt", "x.com/a/b", "localhost/a", "host:80/a", "x" * 300, "http://", "a name"]
)
def test_addresses_stay_as_they_are(entry: str) -> None:
    assert method(with_page_lists(f'proximity(stop="{entry}")')).params.stop == (entry,)
