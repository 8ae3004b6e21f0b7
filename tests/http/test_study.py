"""The rating study over HTTP: who rates what, what is kept, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cocite.cli.tasks.serve import show_links
from cocite.errors import BadParameter, BadStore
from cocite.evaluate.study import assign, new, rater_name, read, read_ratings, write
from cocite.evaluate.tokens import rater_links, read_tokens
from cocite.http.page.study import COOKIE, RatingStudy, cookie
from cocite.related.methods import method
from cocite.sources.records import ReadReport
from cocite.web import Web
from tests.http.conftest import Asking

FORM = {"content_type": "application/x-www-form-urlencoded", "host": "test"}


def link_of(folder: Path, rater: str = "") -> str:
    """The link of a rater, without the server."""
    return rater_links(folder, "")[rater]


def as_rater(folder: Path, rater: str = "") -> dict[str, str]:
    """The headers of a form that a rater's browser sends."""
    return {**FORM, "cookie": f"{COOKIE}={read_tokens(folder, read(folder))[rater]}"}


def name_raters(folder: Path, overlap: float = 1.0) -> None:
    """Give the study of a folder the raters anna and ben."""
    study = read(folder)
    (folder / "study.json").unlink()
    own = {"https://robin.example/": "anna", "https://wren.example/": "ben"}
    write(assign(study, ["anna", "ben"], own, overlap), folder)


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


@pytest.fixture
def two_raters(made: Path, folder: Path) -> Iterator[Asking]:
    """A server of a study; both raters rate everything."""
    name_raters(folder)
    server = Asking(made, study=folder, names=("test",))
    yield server
    server.close()


def test_a_server_that_records_clicks_shows_a_study(own: Path, folder: Path) -> None:
    server = Asking(own, study=folder, names=("test",), record_clicks=True)
    shown = server.get("/study?at=1", **as_rater(folder))
    assert shown.status == 200 and "data-clicked-from" not in shown.text
    server.close()


def test_ratings_are_stored_in_the_sheet_of_their_rater(two_raters: Asking, folder: Path) -> None:
    study, anna = read(folder), as_rater(folder, "anna")
    first, second, *_ = [item.id for item in study.items]
    answer = two_raters.post("/study", f"rater=ben&at=1&{first}=1&{second}=x&99999=1&rater2=0".encode(), **anna)
    assert (answer.status, answer.headers["location"]) == (303, "/study?at=2")
    two_raters.post("/study", f"rater=../x&at=1&{second}=0".encode(), **anna)
    assert read_ratings(folder / "ratings-anna.csv", study, ReadReport()) == {first: "1", second: "0"}
    assert read_ratings(folder / "ratings-ben.csv", study, ReadReport()) == {}
    assert 'cocite_requests_total{route="page",status="303"} 2.0\n' in two_raters.get("/metrics").text
    page = two_raters.get("/study?at=1", **anna).text
    assert page.count("checked") == 2
    assert "companion" not in page and "study.json" not in page


def test_a_link_is_all_that_a_lone_rater_needs(rating: Asking, folder: Path) -> None:
    """The link shows the study and keeps the token in a cookie; then no address has it, nor has the log."""
    link = link_of(folder)
    token = link.partition("token=")[2]
    first = rating.get(link)
    kept, *about = first.headers["set-cookie"].split("; ")
    assert (first.status, kept) == (200, f"{COOKIE}={token}")
    assert {"Path=/study", "HttpOnly", "SameSite=Strict"} <= set(about) and "Secure" not in about
    assert cookie(token, secure=True) == f"{first.headers['set-cookie']}; Secure".encode()
    assert 'name="at" value="1"' in first.text and token not in first.text and "Begin" in first.text
    step = rating.get("/study?at=1", cookie=f"other=1; {kept}")
    assert "Page 1 of 2" in step.text and "set-cookie" not in step.headers and token not in step.text
    assert rating.post("/study", b"at=1&00001=1", **FORM, cookie=kept).status == 303
    assert "Continue" in rating.get("/study", cookie=kept).text
    assert rating.get(f"/study?t%6Fken={token}&at=1").status == 200
    assert rating.get(f"/study/?token={token}").status == 404
    assert rating.get(link, host="evil.example").status == 400
    assert [line["query"] for line in rating.log if line["event"] == "request"] == [""] * 7
    assert token not in str(rating.log)


def test_tokens_are_made_once_and_kept_secret(folder: Path) -> None:
    before = link_of(folder)
    assert link_of(folder) == before
    assert (folder / "tokens.json").stat().st_mode & 0o777 == 0o600
    name_raters(folder)
    links = rater_links(folder, "http://127.0.0.1:8000")
    assert [*links] == ["anna", "ben"] and len({before, *links.values()}) == 3
    assert links["anna"].startswith("http://127.0.0.1:8000/study?token=")
    (folder / "tokens.json").unlink()
    assert rater_links(folder, "http://127.0.0.1:8000")["anna"] != links["anna"]


@pytest.mark.parametrize("text", ["", "[1]", '{"": ""}', '{"": 7}', '{"": "short"}', '{"": "a; Domain=example.org"}',
                                  '{"": "0123456789abcdef", "anna": "0123456789abcdef"}'])  # fmt: skip
def test_tokens_that_anybody_could_guess_are_refused(folder: Path, text: str) -> None:
    (folder / "tokens.json").write_text(text)
    with pytest.raises(BadStore, match="delete it"):
        RatingStudy(folder)


@pytest.mark.parametrize("terminal", [True, False])
def test_links_are_shown_on_a_terminal_only(
    folder: Path, terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    show_links(folder, {"": "http://h/study?token=secret", "anna": "http://h/study?token=other"})
    shown = capsys.readouterr()
    assert (shown.out.splitlines() == ["Rating link: http://h/study?token=secret",
                                       "Rating link of anna: http://h/study?token=other"]) is terminal  # fmt: skip
    assert ("tokens.json" in shown.err) is not terminal and "secret" not in shown.err


def test_it_ends_when_all_is_rated(rating: Asking, folder: Path) -> None:
    every = "&".join(f"{item.id}=1" for item in read(folder).items)
    answer = rating.post("/study", f"at=2&{every}".encode(), **as_rater(folder))
    assert answer.headers["location"] == "/study?at=0"
    assert "Everything is rated" in rating.get(answer.headers["location"], **as_rater(folder)).text
    assert (folder / "ratings.csv").read_bytes().count(b",1\r\n") == len(read(folder).items)


def test_named_raters_see_their_share(made: Path, folder: Path) -> None:
    study = read(folder)
    name_raters(folder, overlap=0)
    server = Asking(made, study=folder, names=("test",))
    try:
        page = server.get(f"{link_of(folder, 'ben')}&at=1").text
        assert "Page 1 of 1" in page
        assert 'Which are related to <a href="https://wren.example/"' in page
        other, own = study.items[0], study.items[-1]
        assert {other.query, own.query} == {"https://robin.example/", "https://wren.example/"}
        anna, ben = (other, own) if other.query == "https://robin.example/" else (own, other)
        server.post("/study", f"at=1&{anna.id}=1&{ben.id}=0".encode(), **as_rater(folder, "ben"))
        assert read_ratings(folder / "ratings-ben.csv", study, ReadReport()) == {ben.id: "0"}
        assert server.get("/study?rater=carl").status == 403
        assert server.post("/study", f"rater=carl&at=1&{anna.id}=1".encode(), **FORM).status == 403
        assert not (folder / "ratings-carl.csv").exists()
        start = server.get("/study")
        assert start.status == 403 and "Open the link that you were sent" in start.text and "anna" not in start.text
    finally:
        server.close()


@pytest.mark.parametrize(
    "headers", [{"sec_fetch_site": "cross-site"}, {"origin": "https://evil.example"}, {"origin": "https://["}]
)
def test_other_sites_cannot_rate(rating: Asking, folder: Path, headers: dict[str, str]) -> None:
    before = (folder / "ratings.csv").read_bytes()
    answer = rating.post("/study", b"00001=1", **as_rater(folder), **headers)
    assert (answer.status, answer.json["error"]["kind"]) == (400, "CrossSite")
    assert (folder / "ratings.csv").read_bytes() == before


def test_the_page_itself_can(rating: Asking, folder: Path) -> None:
    same = {"sec_fetch_site": "same-origin", "origin": "null"}  # what browsers send where no referrer is given
    assert rating.post("/study", b"00001=1", **as_rater(folder), **same).status == 303
    assert rating.post("/study", b"00001=1", **as_rater(folder), origin="http://test").status == 303


@pytest.mark.parametrize("name", ["../x", "a b", "-a", "x" * 41, "é"])
def test_names_are_not_used_as_paths(rating: Asking, folder: Path, name: str) -> None:
    """A name that is sent means nothing; those of a study are checked when it is made."""
    before = sorted(folder.parent.rglob("*"))
    assert rating.post("/study", f"rater={name}&00001=1".encode(), **as_rater(folder)).status == 303
    assert sorted(folder.parent.rglob("*")) == before
    assert rating.get("/study?rater=../x").status == 403
    with pytest.raises(BadParameter):
        rater_name(name)
    assert rater_name(" Anna ") == "anna"


def test_too_much_is_refused(rating: Asking, folder: Path) -> None:
    rater = as_rater(folder)
    assert rating.post("/study", b"&".join(b"%05d=1" % n for n in range(3000)), **rater).status == 422
    assert rating.post("/study", b"x" * (2 << 20), **rater).status == 400


def test_without_a_study_there_is_no_route(asking: Asking, place: Path) -> None:
    assert asking.get("/study").status == 404
    with pytest.raises(BadStore, match="cocite study new"):
        RatingStudy(place)
