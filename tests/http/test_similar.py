"""POST /findSimilar, asked by the client that programs of that service use."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import smoke
from tests.graph.webs import make
from tests.http.conftest import BIRDS, PAGES, Asking
from tests.http.test_run import serving

ROBIN, WREN = "https://robin.example/", "https://wren.example/"


def similar(asking: Asking, **body: Any) -> Any:
    reply = asking.post("/findSimilar", body)
    assert reply.status == 200, reply.text
    return reply.json


def test_the_shape(asking: Asking) -> None:
    found = similar(
        asking, url="robin.example", numResults=3, contents={"text": {"maxCharacters": 8}, "highlights": True}
    )
    assert {"requestId", "results", "costDollars", "searchTime"} <= found.keys()
    assert len(found["results"]) == 3
    first = found["results"][0]
    assert (first["id"], first["score"]) == (first["url"], 1.0)
    assert first["extras"]["reasons"]
    same = asking.get("/api/related?url=robin.example&k=3").json
    assert [each["url"] for each in found["results"]] == [each["url"] for each in same["answers"]]
    birds = next(
        each for each in similar(asking, url=ROBIN, numResults=50, text=True)["results"] if each["url"] == BIRDS
    )
    assert birds["text"] == "feathers and wings"
    assert "text" not in similar(asking, url=ROBIN, contents=False)["results"][0]


def test_filters(asking: Asking) -> None:
    def urls(**body: Any) -> list[str]:
        return [each["url"] for each in similar(asking, url=ROBIN, numResults=50, **body)["results"]]

    every = urls()
    assert WREN in urls(includeDomains=["wren.example"]) and len(urls(includeDomains=["wren.example"])) == 1
    assert WREN not in urls(excludeDomains=["wren.example"])
    assert BIRDS in every and urls(includeText=["Feathers and"]) == [BIRDS]
    assert BIRDS not in urls(excludeText=["feathers and wings"])
    dated = urls(startPublishedDate="2021-01-01T00:00:00.000Z")
    assert WREN not in dated, "its date isn't known"
    assert urls(category="news", livecrawl="always", flags=["x"]) == every


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"no", 422), (b"[]", 422), (b"{}", 422), (b'{"url": 5}', 422), (b'{"url": " "}', 422),
        (b'{"url": "robin.example", "numResults": 0}', 422), (b'{"url": "robin.example", "numResults": "5"}', 422),
        (b'{"url": "robin.example", "includeDomains": "x"}', 422), (b'{"url": "http://["}', 400),
        (b'{"url": "robin.example", "startPublishedDate": "soon"}', 422), (b'{"url": "zzz.qq"}', 404),
    ],
)  # fmt: skip
def test_what_is_refused(asking: Asking, body: bytes, status: int) -> None:
    reply = asking.post("/findSimilar", body)
    assert (reply.status, set(reply.json)) == (status, {"error"})


def test_a_read_key_is_sent_in_the_header_of_these_clients(own: Path, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("k" * 20)
    server = Asking(own, read_keys=tmp_path / "keys")
    try:
        assert server.post("/findSimilar", {"url": ROBIN}).status == 401
        assert server.post("/findSimilar", {"url": ROBIN}, x_api_key="k" * 20).status == 200
        assert server.get(f"/api/related?url={ROBIN}", x_api_key="k" * 20).status == 401
    finally:
        server.close()


@pytest.fixture(scope="module")
def address(fast_root: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "web.cocite", PAGES)
        with serving(Path(folder) / "web.cocite", Path(folder)) as (process, _):
            yield process.address


@smoke
def test_the_real_client(address: str) -> None:
    exa_py = pytest.importorskip("exa_py", reason="exa-py is not installed: it is in the group dev")
    client = exa_py.Exa("no key", base_url=address)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found = client.find_similar(
            "robin.example", num_results=4, exclude_source_domain=True, exclude_domains=["wren.example"]
        )
        texts = client.find_similar_and_contents("robin.example", text=True, num_results=50)
    assert len(found.results) == 4
    assert not {ROBIN, WREN} & {each.url for each in found.results}
    assert found.results[0].score == 1.0 and found.results[0].extras["reasons"]
    assert "feathers and wings" in [each.text for each in texts.results]
    with pytest.raises(ValueError, match="404"), pytest.deprecated_call():
        client.find_similar("https://zzz.qq/")
