"""A stranger at a rating study, who has no link: no ratings, no sheets, and no rater is kept out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.http.conftest import Asking
from tests.http.test_study import FORM, as_rater, folder, link_of, two_raters  # noqa: F401 - fixtures

STRANGERS_POSTS = 1000


def test_a_stranger_keeps_nobody_out(two_raters: Asking, folder: Path) -> None:  # noqa: F811
    """A thousand ratings under new names filled the study once; now they leave nothing behind."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    found = {two_raters.post("/study", b"rater=x%d&at=1&00001=1" % n, **FORM).status for n in range(STRANGERS_POSTS)}
    assert found == {403}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert two_raters.get(link_of(folder, "ben")).status == 200
    assert two_raters.post("/study", b"at=1&00001=1", **as_rater(folder, "ben")).status == 303
    assert b",1\r\n" in (folder / "ratings-ben.csv").read_bytes()


@pytest.mark.parametrize(
    "cookie", ["", "cocite-rater=", "cocite-rater=ben", "cocite-rater=%00\xff", "cocite-rater", "=", "x" * 5000]
)
def test_a_stranger_rates_as_nobody(two_raters: Asking, folder: Path, cookie: str) -> None:  # noqa: F811
    before = (folder / "ratings-ben.csv").read_bytes()
    answer = two_raters.post("/study?rater=ben", b"rater=ben&token=&at=1&00001=0", **FORM, cookie=cookie)
    assert (answer.status, answer.json["error"]["kind"]) == (403, "NotARater")
    assert "link" in answer.json["error"]["hint"]
    shown = two_raters.get("/study?rater=ben&token=&at=1", cookie=cookie)
    assert shown.status == 403 and "set-cookie" not in shown.headers and "robin" not in shown.text
    assert (folder / "ratings-ben.csv").read_bytes() == before


def test_a_rater_rates_as_nobody_else(two_raters: Asking, folder: Path) -> None:  # noqa: F811
    ben = (folder / "ratings-ben.csv").read_bytes()
    assert two_raters.post("/study?rater=ben", b"rater=ben&at=1&00001=0", **as_rater(folder, "anna")).status == 303
    assert (folder / "ratings-ben.csv").read_bytes() == ben
    assert b",0\r\n" in (folder / "ratings-anna.csv").read_bytes()


def test_a_body_without_a_link_is_not_read(two_raters: Asking, folder: Path) -> None:  # noqa: F811
    assert two_raters.post("/study", b"x" * (2 << 20), **FORM).status == 403
    assert two_raters.post("/study", b"x" * (2 << 20), **as_rater(folder, "ben")).status == 400
