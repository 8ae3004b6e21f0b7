"""The rating study over HTTP: who rates what, what is kept, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cocite.errors import BadStore
from cocite.evaluate.study import assign, new, read, read_ratings, write
from cocite.http.page.study import RatingStudy, checked
from cocite.related.methods import method
from cocite.sources.records import ReadReport
from cocite.web import Web
from tests.http.conftest import Asking

FORM = {"content_type": "application/x-www-form-urlencoded", "host": "test"}


@pytest.fixture
def folder(made: Path, place: Path) -> Path:
    web = Web(made)
    queries = [f"https://{name}.example/" for name in ("robin", "wren")]
    write(new(web, queries, [method("cocitation"), method("companion")], 3), place / "study")
    return place / "study"


@pytest.fixture
def rating(made: Path, folder: Path) -> Iterator[Asking]:
    server = Asking(made, study=folder, names=("test",))
    yield server
    server.close()


def test_ratings_are_stored_in_the_sheet_of_their_rater(rating: Asking, folder: Path) -> None:
    study = read(folder)
    first, second, *_ = [item.id for item in study.items]
    answer = rating.post("/study", f"rater=Anna&at=1&{first}=1&{second}=x&99999=1&rater2=0".encode(), **FORM)
    assert (answer.status, answer.headers["location"]) == (303, "/study?rater=anna&at=2")
    rating.post("/study", f"rater=anna&at=1&{second}=0".encode(), **FORM)
    assert read_ratings(folder / "ratings-anna.csv", study, ReadReport()) == {first: "1", second: "0"}
    assert read_ratings(folder / "ratings.csv", study, ReadReport()) == {}
    assert 'cocite_requests_total{route="page",status="303"} 2.0\n' in rating.get("/metrics").text
    page = rating.get("/study?rater=anna&at=1").text
    assert page.count("checked") == 2
    assert "companion" not in page and "study.json" not in page


def test_it_ends_when_all_is_rated(rating: Asking, folder: Path) -> None:
    every = "&".join(f"{item.id}=1" for item in read(folder).items)
    answer = rating.post("/study", f"rater=&at=2&{every}".encode(), **FORM)
    assert answer.headers["location"] == "/study?rater=&at=0"
    assert "Everything is rated" in rating.get(answer.headers["location"]).text
    assert (folder / "ratings.csv").read_bytes().count(b",1\r\n") == len(read(folder).items)


def test_named_raters_see_their_share(made: Path, folder: Path) -> None:
    study = read(folder)
    (folder / "study.json").unlink()
    write(assign(study, ["anna", "ben"], {"https://robin.example/": "anna", "https://wren.example/": "ben"}, 0), folder)
    server = Asking(made, study=folder, names=("test",))
    try:
        page = server.get("/study?rater=ben").text
        assert "Page 1 of 1" in page
        assert 'Which are related to <a href="https://wren.example/"' in page
        other, own = study.items[0], study.items[-1]
        assert {other.query, own.query} == {"https://robin.example/", "https://wren.example/"}
        anna, ben = (other, own) if other.query == "https://robin.example/" else (own, other)
        server.post("/study", f"rater=ben&at=1&{anna.id}=1&{ben.id}=0".encode(), **FORM)
        assert read_ratings(folder / "ratings-ben.csv", study, ReadReport()) == {ben.id: "0"}
        assert server.get("/study?rater=carl").status == 422
        assert "Unknown rater" in server.get("/study?rater=").text
        assert server.post("/study", f"rater=carl&at=1&{anna.id}=1".encode(), **FORM).status == 422
        assert not (folder / "ratings-carl.csv").exists()
        start = server.get("/study").text
        assert "Your name in this study" in start and "anna" not in start
    finally:
        server.close()


@pytest.mark.parametrize(
    "headers", [{"sec_fetch_site": "cross-site"}, {"origin": "https://evil.example"}, {"origin": "https://["}]
)
def test_other_sites_cannot_rate(rating: Asking, folder: Path, headers: dict[str, str]) -> None:
    answer = rating.post("/study", b"rater=anna&00001=1", **FORM, **headers)
    assert (answer.status, answer.json["error"]["kind"]) == (400, "CrossSite")
    assert not (folder / "ratings-anna.csv").exists()


def test_the_page_itself_can(rating: Asking) -> None:
    same = {"sec_fetch_site": "same-origin", "origin": "null"}  # what browsers send where no referrer is given
    assert rating.post("/study", b"rater=anna&00001=1", **FORM, **same).status == 303
    assert rating.post("/study", b"rater=anna&00001=1", **FORM, origin="http://test").status == 303


@pytest.mark.parametrize("name", ["../x", "a b", "-a", "x" * 41, "é"])
def test_names_are_not_used_as_paths(rating: Asking, name: str) -> None:
    assert rating.post("/study", f"rater={name}&00001=1".encode(), **FORM).status == 422
    assert rating.get("/study?rater=../x").status == 422
    assert checked(" Anna ") == "anna"


def test_too_much_is_refused(rating: Asking) -> None:
    assert rating.post("/study", b"&".join(b"%05d=1" % n for n in range(3000)), **FORM).status == 422
    assert rating.post("/study", b"x" * (2 << 20), **FORM).status == 400


def test_without_a_study_there_is_no_route(asking: Asking, place: Path) -> None:
    assert asking.get("/study").status == 404
    with pytest.raises(BadStore, match="cocite study new"):
        RatingStudy(place)
