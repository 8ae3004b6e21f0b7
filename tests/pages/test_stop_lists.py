"""The stop list that comes with cocite, switched on by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

import cocite
from cocite.errors import BadParameter
from cocite.pages.address import parse
from cocite.pages.stop_lists import listed, stop_addresses
from tests.cli.conftest import run
from tests.graph.webs import make, page

A, B, C, YAHOO = "https://a.example/", "https://b.example/", "https://c.example/", "https://www.yahoo.com/"


def test_the_list_has_valid_addresses_each_once() -> None:
    addresses = listed("@common")
    assert 40 <= len(addresses) <= 100
    assert len({parse(each).canonical for each in addresses}) == len(addresses)
    assert {parse(each).canonical for each in addresses} >= {"yahoo.com", "microsoft.com/ie/download.html"}


def test_names_are_replaced() -> None:
    assert stop_addresses(["x.example", "@common", "y.example"]) == ["x.example", *listed("@common"), "y.example"]
    with pytest.raises(BadParameter, match=r"Unknown stop list '@other'\. Available: @common"):
        stop_addresses(["@other"])


def test_off_by_default_and_on_by_name(place: Path) -> None:
    """Yahoo's page is a result until the list is on; the list is off for who asks about it (§2.1.1)."""
    make(place / "web.cocite", [page(f"https://list{n}.example/", A, B, YAHOO, C) for n in range(3)])
    web = cocite.open(place / "web.cocite")

    def found(page: str, **given: object) -> set[str]:
        return {each.url for each in web.related(page, "cocitation", **given)}

    assert found(A) == {B, C, YAHOO} and found(A, stop="@common") == {B, C} == found(A, stop=["@common", "x.example"])
    assert found(YAHOO, stop="@common") == {A, B, C}
    ran = run("related", A, "-m", "cocitation(stop=@common)", "-i", place / "web.cocite")
    assert ran.code == 0 and YAHOO not in ran.out and B in ran.out
    (place / "stop.txt").write_text(f"# mine\n@common\n{B}\n")
    assert found(A, stop=place / "stop.txt") == {C}
    ran = run("related", A, "-m", "cocitation(stop=@mine)", "-i", place / "web.cocite")
    assert ran.code == 2 and "Unknown stop list '@mine'. Available: @common" in ran.err
