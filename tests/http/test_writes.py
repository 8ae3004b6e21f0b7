"""Writing while serving: who may, what is written, and when it is acknowledged."""

from __future__ import annotations

import asyncio
import errno
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cocite.errors import BadParameter, BadSource, BadStore
from cocite.graph.build.compaction import linked_copy
from cocite.graph.clicks import open_clicks
from cocite.graph.generation import new_generation
from cocite.graph.store import Graph
from cocite.http import writer, writes
from cocite.http.access import MAX_KEY_LENGTH, Access, checked_key
from cocite.http.settings import Settings
from cocite.log import Log
from cocite.serving.threads import RefusedRequest
from tests.graph.webs import extend, page
from tests.http.conftest import Asking, Response

KEY = "k" * 32
BEARER = f"Bearer {KEY}"
EAGLE, HAWK = "https://eagle.example/", "https://hawk.example/"
RECORD = {"url": EAGLE, "title": "Eagle", "links": [{"url": "https://robin.example/"}]}


@pytest.fixture
def server(own: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server that may be written to. It commits in this process, which is sooner, unless a test asks for another."""
    if not hasattr(request, "param"):
        monkeypatch.setattr(writer.StoreWriter, "commit", lambda self, *work: writer.commit(self._store, *work))
    found = Asking(own, write_key=KEY, timeout=60.0)
    yield found
    found.close()


def send(server: Asking, verb: str, target: str, body: bytes = b"", **headers: str) -> Response:
    return server.run(server.ask(verb, target, body, **headers))


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.mark.parametrize(
    "verb, target", [("POST", "/api/pages"), ("DELETE", "/api/pages?url=x"), ("POST", "/api/clicks")]
)
def test_only_the_key_may_write(own: Path, server: Asking, verb: str, target: str) -> None:
    before = Graph(own).manifest["id"]
    for given in (
        "",
        "Bearer wrong",
        f"Basic {KEY}",
        f"Bearer {KEY}x",
        f"Bearer {KEY[:-1]}",
        KEY,
        "Bearer " + "k" * 10**6,
    ):
        refused = send(server, verb, target, lines(RECORD), **({"authorization": given} if given else {}))
        assert refused.status == 401 and refused.json["error"]["kind"] == "NoKey"
    assert send(server, verb, f"{target}{'&' if '?' in target else '?'}key={KEY}", lines(RECORD)).status == 401
    assert KEY not in json.dumps([{**line, "query": ""} for line in server.log]) and KEY not in repr(
        server.service.settings
    )
    readers = Asking(own)
    assert send(readers, verb, target, authorization=BEARER).json["error"]["kind"] == "ReadOnly"
    readers.close()
    assert Graph(own).manifest["id"] == before


@pytest.mark.parametrize(
    "key", ["", "short", "k" * (MAX_KEY_LENGTH + 1), "k" * 10**6, "with a space in between", "ü" * 20]
)
def test_a_key_is_of_a_fair_length(made: Path, key: str) -> None:
    with pytest.raises(BadParameter, match="openssl") as refused:
        checked_key(key)
    assert not key or key not in str(refused.value)
    if key:
        with pytest.raises(BadParameter):
            Access(Settings(made, write_key=key))


def test_pages_are_on_disk_when_they_are_acknowledged(own: Path, server: Asking) -> None:
    """One record, JSON Lines, gzip; the same again changes nothing; the server switches to them."""
    other = {"url": HAWK, "links": [{"url": EAGLE}]}
    assert send(server, "POST", "/api/pages", lines(RECORD), authorization=BEARER).json == {"pages": 1, "skipped": {}}
    assert Graph(own).get(EAGLE) is not None
    packed = gzip.compress(lines(other)) + gzip.compress(lines(RECORD, {"no": "address"}))
    found = send(server, "POST", "/api/pages", packed, authorization=BEARER, content_encoding="gzip")
    assert found.json["pages"] == 2 and sum(found.json["skipped"].values()) == 1
    graph = Graph(own)
    assert graph.links_from(graph.find(HAWK)).targets.tolist() == [graph.find(EAGLE)]
    pages, links = graph.pages, len(graph.links)
    assert send(server, "POST", "/api/pages", packed, authorization=BEARER, content_encoding="gzip").status == 200
    assert (Graph(own).pages, len(Graph(own).links)) == (pages, links)
    assert server.service.watcher._check.is_set()
    server.run(server.service.watcher.reload())
    assert server.get(f"/api/links?url={EAGLE}").status == 200
    assert [line["requests"] for line in server.log if line["event"] == "written"] == [1, 1, 1]
    sent = [each for each in Graph(own).manifest["sources"] if each["source"] == "sent to cocite serve"]
    assert [each["records"] for each in sent] == [3], "one source, however many requests"
    spool = server.service.writes.new_file("x").parent
    assert not [*spool.iterdir()], "what was sent is removed"


def test_a_page_is_removed_and_clicks_are_counted(own: Path, server: Asking) -> None:
    clicks = b"https://robin.example/\thttps://wren.example/\t5\nhttps://nowhere.example/\thttps://wren.example/\t2\n"
    counted = send(server, "POST", "/api/clicks", clicks, authorization=BEARER)
    assert counted.status == 200 and counted.json["clicks"] == 2
    assert open_clicks(Graph(own)).total == 5
    assert send(server, "DELETE", "/api/pages?url=finch.example", authorization=BEARER).json == {"removed": 1}
    graph = Graph(own)
    assert graph.get("https://finch.example/") is None and open_clicks(graph).total == 5
    for url, status in (("nowhere.example", 404), ("", 400), ("http://[", 400)):
        assert send(server, "DELETE", f"/api/pages?url={url}", authorization=BEARER).status == status
    assert send(server, "DELETE", "/api/pages?url=a&url=b", authorization=BEARER).status == 422


@pytest.mark.parametrize(
    "body, headers, status",
    [
        (b"", {}, 422),
        (b"{}", {}, 422),
        (b'{"url": "https://a.exam', {}, 422),
        (b"[" * 100_000, {}, 422),
        (b"\x00\xff" * 1000, {}, 422),
        (b"not gzip", {"content_encoding": "gzip"}, 400),
        (gzip.compress(b"x" * 1000, mtime=0)[:-20], {"content_encoding": "gzip"}, 400),
        (gzip.compress(lines(RECORD), mtime=0)[:-1], {"content_encoding": "gzip"}, 400),
        (2 * gzip.compress(lines(RECORD), mtime=0) + b"\x1f\x8b", {"content_encoding": "gzip"}, 400),
        (b"", {"content_encoding": "gzip"}, 400),
        (gzip.compress(bytes(64 << 20), mtime=0), {"content_encoding": "gzip"}, 413),
        (b"{}", {"content_encoding": "br"}, 415),
    ],
)  # fmt: skip
def test_bodies_that_cannot_be_used(
    own: Path, server: Asking, body: bytes, headers: dict[str, str], status: int
) -> None:
    before = Graph(own).manifest["id"]
    refused = send(server, "POST", "/api/pages", body, authorization=BEARER, **headers)
    assert refused.status == status and refused.json["error"]["hint"], refused.body
    assert Graph(own).manifest["id"] == before


def commits(
    monkeypatch: pytest.MonkeyPatch, place: Path, fail: str = ""
) -> tuple[writes.Writes, list[list[str]], asyncio.Event]:
    """Requests to write whose commits wait for an event, and are noted."""
    done, go = list[list[str]](), asyncio.Event()

    def commit(_: writer.StoreWriter, kind: str, items: list[str], ids: dict[str, bytes]) -> list[dict[str, Any]]:
        done.append([kind, *items])
        if fail in items and fail:
            raise BadStore(f"no room for {fail}")
        return [{"of": item} for item in items]

    async def run(work: Any) -> Any:
        await go.wait()
        return work()

    monkeypatch.setattr(writer.StoreWriter, "commit", commit)
    monkeypatch.setattr(writes, "run_in_thread", run)
    monkeypatch.setattr(writes, "is_compaction_due", lambda _: False)
    return writes.Writes(place, Log(io.BytesIO()), lambda: None), done, go


def test_what_waits_is_committed_together_and_in_order(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    async def work() -> None:
        own, done, go = commits(monkeypatch, place, fail="b")
        kinds = [("pages", "a"), ("pages", "b"), ("pages", "c"), ("removals", "a"), ("pages", "d")]
        tasks = [asyncio.create_task(own.write(*each)) for each in kinds]
        await asyncio.sleep(0.01)
        assert not done
        go.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [each if isinstance(each, dict) else type(each) for each in found] == [
            {"of": "a"}, BadStore, {"of": "c"}, {"of": "a"}, {"of": "d"},
        ]  # fmt: skip
        assert done == [
            ["pages", "a", "b", "c"], ["pages", "a"], ["pages", "b"], ["pages", "c"], ["removals", "a"], ["pages", "d"],
        ]  # fmt: skip

    asyncio.run(work())


def test_a_commit_that_hangs_is_in_the_log(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    async def work() -> None:
        own, _, go = commits(monkeypatch, place)
        written = io.BytesIO()
        monkeypatch.setattr(own, "_log", Log(written))
        monkeypatch.setattr(writes, "SLOW_COMMIT_SECONDS", 0.02)
        task = asyncio.create_task(own.write("pages", "a"))
        await asyncio.sleep(0.1)
        go.set()
        await task
        own._log.flush()
        events = [json.loads(line)["event"] for line in written.getvalue().splitlines()]
        assert events.count("still writing") >= 2 and events[-1] == "written"

    asyncio.run(work())


def test_a_process_for_writing_ends_while_it_practises(place: Path) -> None:
    """The server that started it was killed: its standard input ends."""
    program = "import time\nfrom cocite.http import writer\nwriter.practise = lambda: time.sleep(600)\n"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{program}writer.main(practises=True)"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        process.kill()


def test_a_client_that_writes_may_wait_long() -> None:
    allowed = list[float]()
    request = SimpleNamespace(scope={"connection": SimpleNamespace(allow=allowed.append)})
    writes.keep_connected(request)  # type: ignore[arg-type]
    assert allowed == [writes.ANSWER_SECONDS] and writes.ANSWER_SECONDS > writes.LOCKED_SECONDS


def test_a_body_without_a_record_holds_up_no_others(own: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}-pages.jsonl" for number in range(3)]
    for file, body in zip(files, (b"", lines(RECORD), b'{"links": []}\n'), strict=True):
        file.write_bytes(body)
    empty, good, bad = writer.commit(own, "pages", [*map(str, files)], {})
    assert good == {"pages": 1, "skipped": {}}
    assert isinstance(empty, BadSource) and isinstance(bad, BadSource)
    assert "No page record that can be used" in str(empty) + str(bad) and Graph(own).get(EAGLE) is not None
    state = Graph(own).manifest["id"]
    assert isinstance(writer.commit(own, "pages", [str(files[0])], {})[0], BadSource)
    assert Graph(own).manifest["id"] == state


def test_a_long_wait_is_refused(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """By the time that commits took lately, or that one takes; what fits into the next one may always wait for it."""

    async def work() -> None:
        own, done, go = commits(monkeypatch, place)
        monkeypatch.setattr(writes, "MAX_COMMITTED_TOGETHER", 2)
        monkeypatch.setattr(own, "_seconds", 30.0)
        tasks = [asyncio.create_task(own.write("pages", name)) for name in "ab"]
        await asyncio.sleep(0)
        with pytest.raises(RefusedRequest) as refused:
            own.refuse_if_full()
        assert (refused.value.status, refused.value.retry_after) == (503, 30)
        monkeypatch.setattr(own, "_seconds", 0.0)
        own.refuse_if_full()
        monkeypatch.setattr(own, "_began", time.monotonic() - 25)  # somebody else has locked the store
        with pytest.raises(RefusedRequest) as refused:
            own.refuse_if_full()
        assert refused.value.retry_after in (25, 26)
        go.set()
        await asyncio.gather(*tasks)
        own.refuse_if_full()
        assert done == [["pages", "a", "b"]]

    asyncio.run(work())


def test_compaction_begins_while_requests_keep_coming(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    async def work() -> None:
        own, done, go = commits(monkeypatch, place)
        looked: list[int] = []

        async def compact() -> None:
            looked.append(len(done))

        monkeypatch.setattr(own, "_compact", compact)
        monkeypatch.setattr(writes, "MAX_COMMITTED_TOGETHER", 1)
        tasks = [asyncio.create_task(own.write("pages", name)) for name in "abc"]
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*tasks)
        assert looked[0] < 3 == len(done)

    asyncio.run(work())


def test_too_much_waiting_is_refused(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """By number and by bytes; what was accepted is written, also if its client goes away."""

    async def work() -> None:
        own, done, go = commits(monkeypatch, place)
        monkeypatch.setattr(writes, "MAX_WAITING_REQUESTS", 3)
        monkeypatch.setattr(writes, "MAX_WAITING_BYTES", 100)
        tasks = [asyncio.create_task(own.write("pages", name, 40)) for name in "ab"]
        await asyncio.sleep(0)
        with pytest.raises(RefusedRequest) as refused:
            await own.write("pages", "c", 40)
        assert (refused.value.status, refused.value.retry_after) == (503, writes.RETRY_SECONDS)
        tasks.append(asyncio.create_task(own.write("pages", "d", 0)))
        await asyncio.sleep(0)
        with pytest.raises(RefusedRequest):
            await own.write("pages", "e", 0)
        tasks[0].cancel()
        go.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert sorted(item for each in done for item in each[1:]) == ["a", "b", "d"]
        await own.write("pages", "f", 90)

    asyncio.run(work())


def test_ten_thousand_writers_at_once(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """As many as there is room for are written, in few commits; the others have to come again, and then are."""

    async def work() -> None:
        own, done, go = commits(monkeypatch, place)
        names = {f"{number}" for number in range(10_000)}

        async def one(name: str) -> str | None:
            try:
                await own.write("pages", name, 100)
            except RefusedRequest as refused:
                assert (refused.status, refused.retry_after) == (503, writes.RETRY_SECONDS)
                return None
            return name

        tasks = [asyncio.create_task(one(name)) for name in names]
        await asyncio.sleep(0)
        go.set()
        accepted = {*await asyncio.gather(*tasks)} - {None}
        assert len(accepted) == writes.MAX_WAITING_REQUESTS
        while accepted < names:
            accepted |= {*await asyncio.gather(*map(one, names - accepted))} - {None}
        assert sorted(item for each in done for item in each[1:]) == sorted(names)
        assert len(done) <= 2 * len(names) // writes.MAX_COMMITTED_TOGETHER
        assert (len(own._waiting), own._bytes) == (0, 0)

    asyncio.run(work())


def test_a_record_that_is_half_sent(own: Path, server: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection ends within the body: nothing is written, and no file is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(own.parent))
    before, sent = Graph(own).manifest["id"], list[Any]()
    parts = iter([{"type": "http.request", "body": lines(RECORD), "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(parts)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/pages", "raw_path": b"/api/pages", "query_string": b"",
             "headers": [(b"authorization", BEARER.encode())], "root_path": ""}  # fmt: skip
    server.run(server.front(scope, receive, send))
    assert sent[0]["status"] == 400 and b'"Gone"' in sent[1]["body"]
    assert Graph(own).manifest["id"] == before
    assert [each.name for each in own.parent.iterdir()] == [own.name]


def test_a_disk_that_can_only_be_read(own: Path, server: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command says why; the server says that it can't, and its log says why. Answers go on."""
    opening = Path.open

    def refuse(self: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
        if own in self.parents and mode not in ("r", "rb"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))
        return opening(self, mode, *args, **options)

    before = Graph(own).manifest["id"]
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(BadStore, match=r"cannot write to .*Read-only file system"):
        extend(own, [page(EAGLE, HAWK)])
    refused = send(server, "POST", "/api/pages", lines(RECORD), authorization=BEARER)
    assert refused.status == 503 and str(own) not in refused.text
    assert any("Read-only" in line.get("why", "") for line in server.log if line["event"] == "not written")
    assert server.get("/api/links?url=robin.example").status == 200
    assert Graph(own).manifest["id"] == before


@pytest.mark.parametrize("server", ["own process"], indirect=True)
def test_a_process_of_its_own_writes(own: Path, server: Asking) -> None:
    """Its errors arrive as they are; one that dies loses what was not acknowledged, and another one starts."""
    assert send(server, "POST", "/api/pages", lines(RECORD), authorization=BEARER).status == 200
    refused = send(server, "DELETE", "/api/pages?url=nowhere.example", authorization=BEARER)
    assert refused.status == 404 and "nowhere.example" in refused.json["error"]["message"]
    assert server.service.writes is not None
    own_writer = server.service.writes._writer
    assert own_writer._process is not None
    own_writer._process.kill()
    hawk = lines({"url": HAWK, "links": [{"url": EAGLE}]})
    statuses = [send(server, "POST", "/api/pages", hawk, authorization=BEARER).status for _ in range(2)]
    assert statuses in ([503, 200], [200, 200]), "it may have been seen to be dead before"
    assert Graph(own).get(HAWK) is not None
    process = own_writer._process
    own_writer.close()
    assert process.wait(30) == 0


def test_clicks_count_once(own: Path, server: Asking) -> None:
    """The same content again is the same request, unless each has an id of its own."""
    clicks = b"https://robin.example/\thttps://wren.example/\t5\n"
    for key, total in (("", 5), ("", 5), ("one", 10), ("one", 10), ("two", 15)):
        headers = {"idempotency_key": key} if key else {}
        assert send(server, "POST", "/api/clicks", clicks, authorization=BEARER, **headers).status == 200
        assert open_clicks(Graph(own)).total == total, key


def test_write_routes_are_described(server: Asking) -> None:
    described = server.get("/openapi.json").json
    for path, verb in (("/api/pages", "post"), ("/api/pages", "delete"), ("/api/clicks", "post")):
        about = described["paths"][path][verb]
        assert about["summary"] and about["security"] == [{"write_key": []}]
        assert "example" in about["responses"]["200"]["content"]["application/json"]
        assert "requestBody" in about or about["parameters"][0]["name"] == "url"
    assert described["components"]["securitySchemes"]["write_key"]["scheme"] == "bearer"


def test_large_layers_are_compacted_in_the_background(
    own: Path, server: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "is_compaction_due", lambda path: "layers" in Graph(path).manifest)
    assert send(server, "POST", "/api/pages", lines(RECORD), authorization=BEARER).status == 200
    assert Graph(own).manifest["layers"] == 1, "it is acknowledged before"

    async def wait() -> None:
        for _ in range(600):
            if "layers" not in Graph(own).manifest or any(line["event"] == "not compacted" for line in server.log):
                break
            await asyncio.sleep(0.1)

    server.run(wait())
    assert Graph(own).manifest.get("layers", 0) == 0
    assert Graph(own).get(EAGLE) is not None


def test_one_worker_compacts(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    """While a worker or a command compacts the store, another one doesn't try: it would fail, and pause."""

    async def work() -> None:
        began = list[float]()

        async def compact_now(self: writes.Writes, at: float) -> None:
            began.append(at)

        monkeypatch.setattr(writes, "is_compaction_due", lambda _: True)
        monkeypatch.setattr(writes.Writes, "_compact_now", compact_now)
        second = writes.Writes(own, Log(io.BytesIO()), lambda: None)
        with linked_copy(own):
            await second._compact()
        assert not began
        await second._compact()
        assert len(began) == 1

    asyncio.run(work())


def test_a_commit_waits_for_whoever_else_writes_the_store(
    own: Path, server: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as another worker that compacts it."""

    async def both() -> int:
        with new_generation(own):
            waiting = asyncio.create_task(server.ask("POST", "/api/pages", lines(RECORD), authorization=BEARER))
            await asyncio.sleep(0.3)
            assert not waiting.done()
        return (await asyncio.wait_for(waiting, 20)).status

    assert server.run(both()) == 200
    assert Graph(own).get(EAGLE) is not None
    monkeypatch.setattr(writes, "LOCKED_SECONDS", 0.0)
    with new_generation(own):
        refused = send(server, "POST", "/api/pages", lines(RECORD | {"title": "Other"}), authorization=BEARER)
    assert refused.status == 503 and refused.json["error"]["kind"] == "BadStore"


def test_a_request_that_comes_before_compaction_is_decided_is_written(
    own: Path, server: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, go = threading.Event(), threading.Event()

    def look(_: Path) -> bool:
        looked.set()
        assert go.wait(20)
        return False

    monkeypatch.setattr(writes, "is_compaction_due", look)

    async def both() -> list[int]:
        first = await server.ask("POST", "/api/pages", lines(RECORD), authorization=BEARER)
        await asyncio.to_thread(looked.wait, 20)
        hawk = lines({"url": HAWK, "links": [{"url": EAGLE}]})
        second = asyncio.create_task(server.ask("POST", "/api/pages", hawk, authorization=BEARER))
        await asyncio.sleep(0.2)
        go.set()
        return [first.status, (await asyncio.wait_for(second, 20)).status]

    assert server.run(both()) == [200, 200]
    assert Graph(own).get(HAWK) is not None


def test_a_compaction_that_can_not_be_decided_strands_no_request(
    own: Path, server: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_: Path) -> bool:
        raise FileNotFoundError("a layer that another process has merged")

    monkeypatch.setattr(writes, "is_compaction_due", look)
    for record in (RECORD, {"url": HAWK, "links": [{"url": EAGLE}]}):
        assert send(server, "POST", "/api/pages", lines(record), authorization=BEARER).status == 200
    server.run(asyncio.sleep(0.2))
    assert [line["why"] for line in server.log if line["event"] == "not compacted"] != []
