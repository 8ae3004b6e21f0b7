"""The interface for programs: the JSON of the command line, filters, errors of one shape, limits."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from cocite.http.settings import MAX_BODY_BYTES
from cocite.operations.bounds import MAX_ADDRESSES
from cocite.operations.shared import MAX_ADDRESS_LENGTH
from tests.cli.conftest import run
from tests.http.conftest import BIRDS, EVIL, FISH, PAGES, Asking

ROBIN, WREN = "https://robin.example/", "https://wren.example/"


def untimed(value: Any) -> Any:
    """JSON without times, which differ."""
    if isinstance(value, dict):
        return {name: untimed(each) for name, each in value.items() if name != "milliseconds"}
    return [untimed(each) for each in value] if isinstance(value, list) else value


SAME = [
    (f"related?url={ROBIN}&k=3", f"related {ROBIN} -k 3"),
    ("related?url=robin.example&url=wren.example&method=companion", "related robin.example wren.example -m companion"),
    (f"related?url={ROBIN}&not={WREN}&method=cocitation", f"related {ROBIN} --not {WREN} -m cocitation"),
    (f"related?url={ROBIN}&per_site=1&not_own_site=true&method=walk",
     f"related {ROBIN} --per-site 1 --not-own-site -m walk"),
    (f"related?url={ROBIN}&lang=en&since=2021-06-01&method=walk",
     f"related {ROBIN} --lang en --since 2021-06-01 -m walk"),
    (f"related?url={ROBIN}&group=true", f"related {ROBIN} --group"),
    (f"related?url={ROBIN}&method=companion(parents%3D3%2Cunit%3Dhost)",
     f"related {ROBIN} -m 'companion(parents=3,unit=host)'"),
    (f"compare?url={ROBIN}&method=cocitation&method=lli&k=4", f"compare {ROBIN} -m cocitation -m lli -k 4"),
    (f"hubs?url={ROBIN}&url={WREN}&k=5", f"hubs {ROBIN} {WREN} -k 5"),
    (f"hubs?url={ROBIN}&authorities=true&by=in_degree&rounds=1",
     f"hubs {ROBIN} --authorities --by in_degree --rounds 1"),
    ("search?q=birds&k=2", "search birds -k 2"),
    ("communities?q=birds&k=3", "communities birds -k 3"),
    (f"filter?q=birds&url={ROBIN}&url={WREN}", f"filter birds --page {ROBIN} --page {WREN}"),
    (f"communities?url={ROBIN}&url={WREN}&no_npea=true&k=5", f"communities --page {ROBIN} --page {WREN} --no-npea"),
    ("keywords?q=birds&k=4", "keywords birds -k 4"),
    (f"keywords?url={BIRDS}", f"keywords --page {BIRDS}"),
    (f"links?url={BIRDS}&k=3", f"links {BIRDS} -k 3"),
    *((f"{name}?url={ROBIN}deep/page%3Fa=b", f"{name} {ROBIN}deep/page?a=b")
      for name in ("related", "recommend", "hubs", "compare", "links")),
    (f"related?url={ROBIN}&method=block_simrank(blocks=%22{WREN}%09x%22)",
     f"related {ROBIN} -m 'block_simrank(blocks=\"{WREN}\tx\")'"),
    ("methods?name=companion", "methods companion"),
    ("methods", "methods"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "command"), SAME)
def test_the_json_of_the_command_line(asking: Asking, made: Path, target: str, command: str) -> None:
    answer = asking.get(f"/api/{target}")
    ran = run(*shlex.split(command), "--json", *([] if command.startswith("methods") else ["-i", made]))
    assert (answer.status, ran.code) == (200, 0), (answer.text, ran.err)
    assert answer.headers["content-type"] == "application/json"
    assert untimed(answer.json) == untimed(json.loads(ran.out))


def test_tables(asking: Asking) -> None:
    answer = asking.get(f"/api/related?url={ROBIN}&format=csv&method=cocitation")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert [row["rank"] for row in rows] == [str(n + 1) for n in range(len(rows))]
    assert WREN in [row["url"] for row in rows]
    tabs = asking.get(f"/api/related?url={ROBIN}&format=tsv&method=cocitation")
    assert tabs.text.splitlines()[0] == "rank\tscore\turl\ttitle\twhy"


def test_reasons_in_words(asking: Asking, made: Path) -> None:
    plain = asking.get(f"/api/related?url={ROBIN}&method=cocitation").json
    told = asking.get(f"/api/related?url={ROBIN}&method=cocitation&words=true").json
    table = asking.get(f"/api/related?url={ROBIN}&method=cocitation&format=tsv").text.splitlines()[1:]
    assert [each["why"] for each in told["answers"]] == [row.split("\t")[-1] for row in table]
    for answer in told["answers"]:
        assert all(reason.pop("says").isprintable() for reason in answer["reasons"])
        del answer["why"]
    assert untimed(told) == untimed(plain)
    record = {"url": "https://new.example/list", "links": [ROBIN]}
    sent = asking.post("/api/related?k=3&method=cocitation&words=yes", record).json["answers"]
    assert all(each["why"] and each["reasons"][0]["says"] for each in sent)
    assert "why" not in asking.post("/api/related?k=3&method=cocitation", record).json["answers"][0]


def test_the_store_without_its_place(asking: Asking, made: Path) -> None:
    answer = asking.get("/api/store")
    assert answer.json["pages"] == 13
    assert (answer.json["search"], answer.json["keywords"]) == (True, True)
    for target in ("/api/store", "/healthz", "/metrics", "/openapi.json", "/"):
        assert str(made.parent) not in asking.get(target).text


@pytest.mark.parametrize(
    ("target", "status", "kind"),
    [
        ("/api/related?url=robbin.example", 404, "UnknownPage"),
        ("/api/related?url=ftp://a.example/x", 400, "BadAddress"),
        ("/api/related?url=" + "a" * (MAX_ADDRESS_LENGTH + 1), 422, "BadParameter"),
        ("/api/related", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&k=1001", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&k=-1", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&k=ten", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&k=1&k=2", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&methd=lli", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&method=lly", 422, "UnknownMethod"),
        (f"/api/related?url={ROBIN}&method=companion(parents%3D1000000000000)", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&method=companion(rounds%3D1e9)", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&lang=english", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&since=yesterday", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&group=perhaps", 422, "BadParameter"),
        (f"/api/related?url={ROBIN}&format=xml", 422, "BadParameter"),
        ("/api/related?" + "&".join(f"url={ROBIN}{n}" for n in range(MAX_ADDRESSES + 1)), 422, "BadParameter"),
        ("/api/related?" + "&".join(f"x{n}=1" for n in range(300)), 422, "BadParameter"),
        ("/api/search", 422, "BadParameter"),
        ("/api/search?q=%3F%21", 422, "BadParameter"),
        ("/api/hubs?url=robin.example&by=hubrank(jump%3D0.2)", 503, "BadStore"),
        ("/api/hubs?url=robin.example&likeness=nan", 422, "BadParameter"),
        ("/api/communities", 422, "BadParameter"),
        ("/api/related?url=robin.example&method=block_simrank(blocks=/etc/hostname)", 422, "BadParameter"),
        ("/api/communities?q=birds&method=lli", 422, "BadParameter"),
        ("/api/keywords", 422, "BadParameter"),
        ("/api/keywords?q=birdz", 404, "UnknownWord"),
        ("/api/keywords?q=birds&url=robin.example", 422, "BadParameter"),
        ("/api/keywords?q=birds&alpha=2", 422, "BadParameter"),
        ("/api/methods?name=lly", 422, "UnknownMethod"),
        ("/api/compare?url=x.example&" + "&".join(f"method=lli(seed%3D{n})" for n in range(30)), 422, "BadParameter"),
        ("/api/nothing", 404, "NotFound"),
        ("/api/related/", 404, "NotFound"),
    ],
)  # fmt: skip
def test_errors_of_one_shape(asking: Asking, target: str, status: int, kind: str) -> None:
    answer = asking.get(target)
    assert (answer.status, answer.json["error"]["kind"]) == (status, kind), answer.text
    assert set(answer.json) == {"error"}
    assert {"kind", "message", "hint"} <= set(answer.json["error"])
    assert all(answer.json["error"][name] for name in ("kind", "message", "hint"))
    assert "Traceback" not in answer.text


def test_an_unknown_page_has_suggestions(asking: Asking) -> None:
    assert asking.get("/api/related?url=robbin.example").json["error"]["nearest"] == [ROBIN]


def test_wrong_verbs(asking: Asking) -> None:
    answer = asking.run(asking.ask("DELETE", "/api/related"))
    assert (answer.status, answer.json["error"]["kind"]) == (405, "MethodNotAllowed")
    assert answer.headers["allow"] == "GET, HEAD, POST"
    assert asking.run(asking.ask("POST", "/api/store")).headers["allow"] == "GET, HEAD"


def test_head_is_get_without_its_body(asking: Asking) -> None:
    for target in (f"/api/related?url={ROBIN}&k=9", "/docs", "/openapi.json", "/"):
        whole, head = asking.get(target), asking.run(asking.ask("HEAD", target))
        assert (head.status, head.body) == (whole.status, b"")
        assert head.headers["content-length"] == str(len(whole.body))


def test_an_empty_result_has_a_reason(asking: Asking) -> None:
    answer = asking.get("/api/related?url=lonely.example&method=cocitation")
    assert (answer.status, answer.json["answers"]) == (200, [])
    assert "cocitation finds nothing related" in answer.json["note"]
    filtered = asking.get(f"/api/related?url={ROBIN}&lang=de")
    assert filtered.json["answers"] == []
    assert "filters" in filtered.json["note"]


def test_no_file_is_read_as_a_list_of_stop_pages(asking: Asking, place: Path) -> None:
    listed = place / "stop.txt"
    listed.write_text(f"{WREN}\n")
    call = quote(f"cocitation(stop={listed})", safe="")
    answer = asking.get(f"/api/related?url={ROBIN}&method={call}")
    assert answer.status == 200
    assert WREN in [each["url"] for each in answer.json["answers"]]
    stopped = asking.get(f"/api/related?url={ROBIN}&method={quote(f'cocitation(stop={WREN})', safe='')}")
    assert WREN not in [each["url"] for each in stopped.json["answers"]]
    dead = asking.get(f"/api/related?url={ROBIN}&method={quote(f'whats_related(dead={listed})', safe='')}")
    assert WREN in [each["url"] for each in dead.json["answers"]]


def test_a_page_never_seen(asking: Asking) -> None:
    new = "https://new.example/list"
    answer = asking.post(
        "/api/related?k=3&method=cocitation", {"url": new, "links": [ROBIN, {"url": WREN, "block": 0}]}
    )
    assert answer.status == 200, answer.text
    assert answer.json["query"] == [new]
    assert set(answer.json["used"]) == {"robin.example", "wren.example"}
    urls = [each["url"] for each in answer.json["answers"]]
    assert len(urls) == 3
    assert not {ROBIN, WREN} & set(urls)
    words = asking.post("/api/related", {"url": new, "title": "Feathers", "text": "feathers and wings", "links": 5})
    assert words.json["method"] == "words"
    assert words.json["answers"][0]["url"] == BIRDS
    assert words.json["skipped"] == {"field 'links' of the wrong type": 1}
    shorter = asking.post("/api/related", {"url": BIRDS + "robins/red?x=1"})
    assert shorter.json["used"] == ["birds.example"]


def test_a_post_is_not_mistaken_for_a_get(asking: Asking) -> None:
    body = {"url": "https://new.example/x", "links": [ROBIN]}
    target = "/api/related?k=2&method=cocitation"
    assert asking.post(target, body).status == 200
    assert asking.get(target).status == 422
    assert asking.get(f"{target}&url={FISH}").json["query"] == [FISH]


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (b"", 422, "BadSource"),
        (b"{", 422, "BadSource"),
        (b"[]", 422, "BadSource"),
        (b"{}", 422, "BadSource"),
        (b'{"url": 5}', 422, "BadSource"),
        (b'{"url": "https://nowhere.example/"}', 404, "UnknownPage"),
        (b'{"url": "mailto:a@b.example"}', 400, "BadAddress"),
        (b'{"url": "\\ud800"}', 404, "UnknownPage"),
        (b'{"url": "https://e.example/", "links": ' + b"[" * 5000 + b"]" * 5000 + b"}", 422, "BadSource"),
        (b'{"url": "https://e.example/", "text": "' + b"x" * MAX_BODY_BYTES + b'"}', 400, "TooLarge"),
        (b'{"url": "https://e.example/' + b"x" * MAX_ADDRESS_LENGTH + b'"}', 400, "BadAddress"),
    ],
)  # fmt: skip
def test_records_that_cannot_be_used(asking: Asking, body: bytes, status: int, kind: str) -> None:
    answer = asking.post("/api/related", body)
    assert (answer.status, answer.json["error"]["kind"]) == (status, kind), answer.text[:300]


def test_a_client_that_disconnects_while_sending_is_not_an_error(asking: Asking) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/related", "raw_path": b"/api/related", "query_string": b"",
             "headers": [], "root_path": "", "asgi": {"version": "3.0"}}  # fmt: skip
    asking.run(asking.front(scope, receive, send))
    assert sent[0]["status"] == 400
    assert "fault" not in [line["event"] for line in asking.log]


def test_descriptions_are_compressed_and_have_an_etag(asking: Asking) -> None:
    for target in ("/docs", "/methods", "/openapi.json"):
        first = asking.get(target, accept_encoding="gzip")
        assert (first.status, first.headers["content-encoding"]) == (200, "gzip")
        assert asking.get(target, if_none_match=first.headers["etag"]).status == 304
    assert asking.get("/openapi.json").json["info"]["title"] == "cocite"


def test_responses_are_compressed_only_for_clients_that_accept_it(asking: Asking) -> None:
    target = f"/api/related?url={ROBIN}&k=8"
    plain, packed = asking.get(target), asking.get(target, accept_encoding="br, gzip")
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) == int(packed.headers["content-length"]) < len(plain.body)
    assert packed.headers["vary"] == "accept-encoding"
    for taken, is_packed in (
        ("gzip;q=0.5", True),
        ("gzip;q=0, br", False),
        ("br, gzip ; q=0.0", False),
        ("xgzip", False),
    ):
        assert ("content-encoding" in asking.get(target, accept_encoding=taken).headers) == is_packed, taken
    assert "content-encoding" not in asking.get("/healthz", accept_encoding="gzip").headers  # too small


def test_every_response_has_security_headers(asking: Asking) -> None:
    for target in ("/", "/docs", "/api/store", "/openapi.json", "/nothing", "/static/cocite.css"):
        headers = asking.get(target).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in asking.get(target, origin="https://other.example").headers


def test_cors_if_it_is_configured(made: Path) -> None:
    server = Asking(made, cors=("https://good.example",))
    good = server.get("/api/store", origin="https://good.example")
    assert good.headers["access-control-allow-origin"] == "https://good.example"
    other = server.get("/api/store", origin="https://other.example").headers
    assert "access-control-allow-origin" not in other
    assert good.headers["vary"] == other["vary"] == "origin"  # beside accept-encoding, which comes first
    before = server.run(server.ask("OPTIONS", "/api/related", origin="https://good.example"))
    assert (before.status, before.headers["access-control-allow-methods"]) == (204, "GET, POST")
    server.close()


def test_hostile_texts_stay_text(asking: Asking) -> None:
    """JSON has strangers' texts unchanged; its content type keeps browsers from reading it as HTML."""
    answer = asking.get(f"/api/related?url={ROBIN}&method=cocitation")
    titles = {each["url"]: each["title"] for each in answer.json["answers"]}
    assert any("<script>" in title for title in titles.values())
    assert PAGES[0].title.startswith("<script>")
    assert EVIL.split("'")[0] in " ".join(titles)
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("fi", "https://fi"),  # finch, fish
        ("hero", "https://heron.example/"),
        ("all about bi", "https://birds.example/"),
        ("birds about al", "https://birds.example/"),
        ("robin.ex", "https://robin.example/"),
        ("https://www.wre", "https://wren.example/"),
        ("list1.example/a", "https://list1.example/all"),
        ("list3.example/", "https://list3.example/all"),
        ("lonely.example", "https://lonely.example/"),
    ],
)
def test_pages_are_suggested_while_their_titles_or_addresses_are_typed(asking: Asking, typed: str, first: str) -> None:
    answer = asking.get(f"/api/search?{urlencode({'q': typed, 'k': 7, 'prefix': 'true'})}")
    found = [each["url"] for each in answer.json["answers"]]
    assert found[0].startswith(first) and len(set(found)) == len(found) <= 7


@pytest.mark.parametrize("typed", ["[.*", "(", ".*", "\\", "x" * 3000, "://", "?", "\u202e", "a/" * 500])
def test_anything_can_be_typed(asking: Asking, typed: str) -> None:
    assert asking.get(f"/api/search?{urlencode({'q': typed, 'prefix': 'true'})}").status in (200, 400, 422)
