"""A new generation takes the place of the old one: warm, at once, and without dropping a request."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from cocite.http.questions import OperationQuestion
from cocite.http.responses import Reply
from cocite.kernels import interpreted
from cocite.snapshot import Snapshot
from cocite.sources.records import Link, Page
from tests.graph.webs import Records, make
from tests.http.conftest import Asking, Plain

ROBIN, EAGLE = "https://robin.example/", "https://eagle.example/"
RELATED = f"/api/related?url={ROBIN}&method=cocitation&k=100"


def add_eagle(store: Path, title: str = "More") -> None:
    """A list that has an eagle beside the robin, as `cocite add` adds it."""
    from cocite.graph.build.maintain import add
    from cocite.graph.build.passes import BuildOptions
    from cocite.sources.records import ReadReport
    from cocite.words.search import renew_search

    page = Page("https://more.example/", title, links=[Link(ROBIN, "Robin", 0), Link(EAGLE, "Eagle", 0)])
    add([Records([page])], store, ReadReport(), BuildOptions(memory=64 << 20, threads=1))  # type: ignore[list-item]
    renew_search(store, True)


def urls(server: Asking) -> list[str]:
    return [each["url"] for each in server.get(RELATED).json["answers"]]


def test_a_new_generation_is_opened(own: Path) -> None:
    server = Asking(own)
    before = server.get(RELATED)
    assert EAGLE not in urls(server)
    add_eagle(own)
    assert EAGLE not in urls(server)  # nobody has looked yet
    server.run(server.service.watcher.reload())
    assert EAGLE in urls(server)
    after = server.get(RELATED, if_none_match=before.headers["etag"])
    assert (after.status, after.json["store"]["pages"]) == (200, before.json["store"]["pages"] + 2)
    assert server.get("/api/search?q=eagle").json["answers"][0]["url"] == EAGLE
    assert "cocite_switches_total 1" in server.get("/metrics").text
    assert [line["event"] for line in server.log if line["event"] == "reloaded"] == ["reloaded"]
    server.close()


def test_a_store_that_has_grown_is_compiled(own: Path) -> None:
    server = Asking(own)
    assert server.service._workload.is_small
    before = server.service.web.graph.items
    add_eagle(own)
    with patch.object(interpreted, "SMALL_ITEMS", before + 1):
        assert server.service._workload.is_small
        server.run(server.service.watcher.reload())
        assert not server.service._workload.is_small
    server.close()


def test_the_path_is_watched(own: Path) -> None:
    server = Asking(own)

    async def watched(look: bool) -> bool:
        before = server.service.web
        task = asyncio.create_task(server.service.watcher.watch(60.0 if look else 0.02))
        await asyncio.sleep(0.1)
        assert server.service.web is before  # nothing has changed
        await asyncio.to_thread(add_eagle, own, f"Looked at: {look}")
        if look:
            server.service.watcher.check_now()
        for _ in range(600):
            await asyncio.sleep(0.02)
            if server.service.web is not before:
                break
        task.cancel()
        return server.service.web is not before

    assert server.run(watched(look=False))
    assert server.run(watched(look=True))
    server.close()


def test_a_running_request_keeps_its_generation(own: Path) -> None:
    """A question that is being worked on while the store changes is answered from the store that it began with."""
    server, go, begun = Asking(own), threading.Event(), threading.Event()

    def find(web: Snapshot) -> dict[str, Any]:
        begun.set()
        assert go.wait(20)
        return {"pages": web.graph.pages, "title": web.graph.title(web.graph.find("birds.example"))}

    async def across() -> tuple[bytes, int]:
        task = asyncio.create_task(server.service.answer(Plain("store", ("slow",), find)))
        await asyncio.to_thread(begun.wait)
        await asyncio.to_thread(add_eagle, own)  # which removes the files of the old generation
        await server.service.watcher.reload()
        go.set()
        return (await task).body, server.service.web.graph.pages

    body, now = server.run(across())
    assert body == b'{"pages":13,"title":"All about birds"}'
    assert now == 15
    server.close()


def test_it_is_warm_before_it_is_used(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, asked = Asking(own), []
    server.get(RELATED)
    work = OperationQuestion.work

    def noted(self: OperationQuestion, web: Snapshot, load: int) -> Reply:
        asked.append((self.operation.urls, web is server.service.web))
        return work(self, web, load)

    monkeypatch.setattr(OperationQuestion, "work", noted)
    server.run(server.service.watcher.reload())
    assert asked == [((ROBIN,), False)]  # asked what was asked before, when it was not in place yet
    server.close()


def test_requests_that_came_again_are_in_the_cache_after_a_switch(own: Path) -> None:
    """With the answers of the new state; others are asked again."""
    server, once = Asking(own), "/api/related?url=wren.example&method=cocitation"
    for target in (RELATED, RELATED, once):
        server.get(target)
    add_eagle(own)
    server.run(server.service.watcher.reload())
    again, other = server.get(RELATED), server.get(once)
    assert EAGLE in [each["url"] for each in again.json["answers"]]
    assert again.json["store"] == other.json["store"]
    assert [line["cached"] for line in server.log if line["event"] == "request"] == [False, True, False, True, False]
    assert server.get(RELATED, if_none_match=again.headers["etag"]).status == 304
    server.close()


def test_a_damaged_store_is_not_used_and_the_old_one_stays(own: Path) -> None:
    server = Asking(own)
    found = urls(server)
    (own / "CURRENT").write_text("g000007 nonsense\n")
    server.run(server.service.watcher.reload())
    server.service.cache.clear()
    assert urls(server) == found
    assert server.get("/healthz").status == 200
    assert [line["level"] for line in server.log if line["event"] == "reload failed"] == ["error"]
    server.close()


def test_whatever_is_wrong_with_a_new_store_the_old_one_stays(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Asking(own)
    found = urls(server)

    def broken(_: Snapshot) -> None:
        raise ValueError("nobody thought of this")

    with monkeypatch.context() as patched:
        patched.setattr(Snapshot, "open_parts", broken)
        server.run(server.service.watcher.reload())
    assert urls(server) == found
    assert [line["why"] for line in server.log if line["event"] == "reload failed"] == ["nobody thought of this"]
    with monkeypatch.context() as patched:  # a part that cannot be made is missing, and nothing else
        patched.setattr(Snapshot, "_wanted", lambda self: [("search", broken, lambda: broken(self))])
        server.service.web._parts.clear()
        server.service.web.build_parts(server.service.log.write)
    assert [line["part"] for line in server.log if line["event"] == "missing"] == ["search"]
    server.close()


def test_side_data_are_watched_too(own: Path) -> None:
    served = Snapshot(own)
    before = served.edition
    served.open_parts()
    assert served.edition != before  # links alone answer otherwise than links and words
    assert Snapshot(own).edition == before
    side = next((own / "side").glob("search.json"))
    side.touch()
    assert Snapshot(own).stamp != served.stamp


def test_a_store_of_links_alone(place: Path) -> None:
    from tests.graph.webs import make

    make(place / "web.cocite", [Page("https://a.example/", links=[Link(ROBIN), Link(EAGLE)])], anchors=False)
    server = Asking(place / "web.cocite")
    assert urls(server) == [EAGLE]
    assert server.get("/api/search?q=eagle").status == 503
    assert server.get("/").status == 200
    server.close()


def test_a_large_store_makes_nothing_by_itself(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.graph.webs import make

    monkeypatch.setattr("cocite.snapshot.MAX_LINKS_TO_BUILD", 0)
    make(place / "web.cocite", [Page("https://a.example/", "A", links=[Link(ROBIN, "Robin")])])
    server = Asking(place / "web.cocite")
    missing = {line["part"]: line["why"] for line in server.log if line["event"] == "missing"}
    assert "search" in missing and "cocite search --make" in missing["search"]
    assert not (place / "web.cocite" / "side" / "search.json").exists()
    assert server.get("/api/keywords?q=robin").status == 503
    assert server.get(f"/api/hubs?url={ROBIN}").status == 503
    assert server.get(f"/api/hubs?url={ROBIN}&by=in_degree").status == 200
    server.close()


def test_ranks_are_taken_over_only_from_the_same_base(place: Path) -> None:
    """Another store at the same path has other page numbers."""
    for name, number in (("one", 9), ("other", 12)):
        pages = [
            Page(f"https://{name}{n}.example/", links=[Link(f"https://{name}{n // 2}.example/")]) for n in range(number)
        ]
        make(place / name, pages)
    snapshots = [Snapshot(place / name) for name in ("one", "other")]
    assert [each.graph.arrays.base.folder.name for each in snapshots] == ["g000001"] * 2  # type: ignore[union-attr]
    snapshots[0].build_parts(lambda *_, **__: None)
    ranks = {name for name in snapshots[0]._parts if name.startswith("rank ")}
    assert ranks
    snapshots[1].take_ranks(snapshots[0])
    assert not ranks & set(snapshots[1]._parts)
    again = Snapshot(place / "one")
    before = again.edition
    again.take_ranks(snapshots[0])
    assert ranks <= set(again._parts) and all(again._parts[name].lagging for name in ranks)
    assert again.edition not in (before, snapshots[0].edition)  # a rank that lags gives other answers
