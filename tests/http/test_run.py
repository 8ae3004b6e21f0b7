"""`cocite serve` as processes: starting, signals, workers, ending."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from cocite.cli.tasks.serve import origins
from cocite.errors import BadParameter
from cocite.http.metrics import SharedCounters
from cocite.http.run import SIGNALS, Supervisor, address_of, listen
from cocite.http.settings import Settings
from tests.cli.conftest import run
from tests.conftest import long
from tests.http.test_store import EAGLE, add_eagle

ROBIN = "https://robin.example/"


class Process:
    """A server that runs by itself."""

    program = "from cocite.cli import main; main()"

    def __init__(self, store: Path, log: IO[bytes], *options: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{probe.getsockname()[1]}"
        command = [sys.executable, "-c", self.program, "serve", "-i", str(store)]
        port = self.address.rpartition(":")[2]
        self.process = subprocess.Popen([*command, "--port", port, *options], stderr=log, stdout=log)

    def get(self, target: str) -> bytes:
        """What is at an address."""
        found: bytes = urllib.request.urlopen(self.address + target, timeout=20).read()
        return found

    def wait_for(self, what: Any) -> Any:
        """Until something holds, and what it then is."""
        for _ in range(600):
            assert self.process.poll() is None
            try:
                if found := what():
                    return found
            except OSError:
                pass
            time.sleep(0.05)
        raise AssertionError("it did not come")


@contextmanager
def serving(store: Path, place: Path, *options: str) -> Iterator[tuple[Process, Path]]:
    """A server from when it answers until it has ended, and its log."""
    with (place / "log").open("wb") as log:
        server = Process(store, log, *options)
        try:
            server.wait_for(lambda: server.get("/healthz"))
            yield server, place / "log"
        finally:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()


def lines(log: Path) -> list[dict[str, Any]]:
    """The log, after the line for people."""
    first, *rest = log.read_text().splitlines()
    assert first.startswith("Serving ") and "http://127.0.0.1:" in first
    return [json.loads(line) for line in rest]


def heads_over_one_connection(server: Process) -> None:
    """HEAD has the status and the length of GET, and the connection goes on."""
    connection = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=20)
    for path in ("/", "/healthz", "/docs", "/metrics", "/static/cocite.css", "/nothing", "/api/store"):
        connection.request("HEAD", path)
        answer = connection.getresponse()
        assert (answer.read(), answer.status) == (b"", 404 if path == "/nothing" else 200)
        assert int(answer.headers["content-length"]) > 0
    assert connection.sock is not None
    connection.close()


def test_it_serves_switches_generations_and_ends(own: Path, place: Path) -> None:
    """Watching takes a minute here, so it is the signal that makes it look."""
    with serving(own, place, "--watch", "60") as (server, log):
        target = f"/api/related?url={ROBIN}&method=cocitation&k=50"
        heads_over_one_connection(server)
        assert EAGLE not in server.get(target).decode()
        add_eagle(own)
        assert EAGLE not in server.get(target).decode()
        server.process.send_signal(signal.SIGHUP)
        server.wait_for(lambda: EAGLE in server.get(target).decode())
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0
    events = [line["event"] for line in lines(log)]
    assert events[0] == "serving" and events[-1] == "stopped"
    assert "reloaded" in events
    assert events.count("request") >= 4


def test_it_serves_though_the_first_question_fails(own: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail = "from cocite.http import service; service.first_questions = lambda web: 1 / 0"
    monkeypatch.setattr(Process, "program", f"{fail}; {Process.program}")
    with serving(own, place) as (server, log):
        assert server.get(f"/api/related?url={ROBIN}&method=cocitation")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0
    [failed] = [line for line in lines(log) if line["event"] == "not warmed up"]
    assert failed["level"] == "warning" and "zero" in failed["why"]


@long
def test_open_requests_are_answered_at_shutdown(own: Path, place: Path) -> None:
    with serving(own, place) as (server, _):
        host, port = server.address.removeprefix("http://").split(":")
        body = json.dumps({"url": "https://new.example/", "links": [ROBIN]}).encode()
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            head = f"POST /api/related HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            connection.sendall(head + body[:-5])
            time.sleep(0.3)  # it has begun to read
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            connection.sendall(body[-5:])
            answer = b""
            while part := connection.recv(65536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 200")
        assert b'"query":["https://new.example/"]' in answer
        assert server.process.wait(20) == 0


@long
def test_workers_are_restarted_and_their_metrics_are_added_up(own: Path, place: Path) -> None:
    with serving(own, place, "--workers", "2") as (server, log):

        def workers() -> list[int]:
            return [line["pid"] for line in lines(log) if line["event"] == "serving"]

        server.wait_for(lambda: "cocite_workers 2.0\n" in server.get("/metrics").decode())
        first = workers()
        for n in range(20):
            server.get(f"/api/related?url={ROBIN}&k={n}")
        text = server.get("/metrics").decode()
        assert 'cocite_requests_total{route="related",status="200"} 20.0\n' in text
        assert "cocite_workers 2.0\n" in text
        subprocess.run(["kill", "-9", str(first[0])], check=True)
        server.wait_for(lambda: len(workers()) == 3)
        assert 'route="related",status="200"} 20.0\n' in server.get("/metrics").decode()  # what it counted is not lost
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(20) == 0
    assert [line["worker"] for line in lines(log) if line["event"] == "worker died"] in ([1], [2])


@long
def test_signals_while_workers_start(own: Path, place: Path) -> None:
    """One to look at the store does no harm, one to end reaches every worker, also those that have just begun."""
    with (place / "log").open("wb") as log:
        server = Process(own, log, "--workers", "3")
        while not (place / "log").read_bytes().endswith(b"\n"):
            assert server.process.poll() is None
            time.sleep(0.001)
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        try:
            assert server.process.wait(30) in (0, -signal.SIGTERM, -signal.SIGHUP)
        finally:
            server.process.kill()
    assert "worker died" not in (place / "log").read_text()


def test_a_supervisor_that_shuts_down_starts_no_workers(made: Path) -> None:
    with listen("127.0.0.1", 0) as listening:
        minder = Supervisor(Settings(made, workers=2), listening, SharedCounters(2))
        minder._ending = True
        minder._start(1)
    assert minder._workers == {}
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & set(SIGNALS)


def test_a_port_that_is_taken(made: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = address_of(taken).rpartition(":")[2]
        ran = run("serve", "-i", made, "--port", port)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"cocite: Can't listen at 127.0.0.1 port {port} (address already in use); give another --host or --port\n"
    )


def test_wrong_use(made: Path, place: Path) -> None:
    for options, told in (
        (["-i", place / "nothing"], "no store at"),
        (["-i", made, "--cache", "much"], "--cache must be a size such as 512M or 4G, not 'much'"),
        (
            ["-i", made, "--cors", "example.org"],
            "--cors must be an origin such as https://example.org, without a path, not 'example.org'",
        ),
        (["-i", made, "--host", "no such host"], "Can't listen at no such host"),
        (["-i", made, "--workers", "0"], "--workers"),
    ):
        ran = run("serve", *options)
        assert ran.code == 2
        assert told in ran.err and ran.err.count("\n") == 1


def test_origins() -> None:
    assert origins(["https://example.org", "http://localhost:3000", "*"])
    for wrong in ("https://example.org/", "https://example.org/x", "example.org", "null", ""):
        with pytest.raises(BadParameter):
            origins([wrong])


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system ends such a process")
def test_a_store_that_is_copied_over_is_noticed_and_survived(own: Path, made: Path, place: Path) -> None:
    """No wrong answer, and no dead server: it refuses, says why, and goes on when the files are whole again."""

    def status(k: int) -> int:
        try:
            return len(server.get(f"/api/related?url={ROBIN}&k={k}")) and 200
        except urllib.error.HTTPError as error:
            return error.code

    with serving(own, place, "--watch", "0.3", "--timeout", "60") as (server, log):
        assert status(1) == 200
        for file in own.rglob("*.bin"):
            os.truncate(file, 0)
        found = [server.wait_for(lambda k=k: status(k)) for k in range(2, 30)]
        assert set(found) <= {503}, found
        server.wait_for(lambda: status(31) == 503)
        events = [line for line in lines(log) if line["event"] in ("file lost", "changed in place")]
        assert events and events[0]["level"] == "error" and "cocite install" in events[0]["what"]
        for file in made.rglob("*.bin"):
            shutil.copyfile(file, own / file.relative_to(made))
        server.wait_for(lambda: status(32) == 200)
        server.process.terminate()
        assert server.process.wait(20) == 0
