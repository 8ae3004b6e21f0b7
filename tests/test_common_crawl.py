"""Every line of shell of docs/common-crawl.md, with a web server of small files of the published names and forms."""

from __future__ import annotations

import functools
import gzip
import http.server
import os
import re
import shutil
import string
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.conftest import run
from tests.conftest import long
from tests.fuzz.seeds import wat
from tests.sources.bvgraph_writer import write_graph

ROOT = Path(__file__).parents[1]
WARC = ROOT.parent / "shared" / "data" / "warc"
SITES = ["wikipedia", *(f"site{n}" for n in range(1, 12))]
PUBLISHED = "https://data.commoncrawl.org"
PLAIN = {*string.ascii_letters, *string.digits, *" .-_/"}
"""Characters that a shell leaves as they are."""


class Fetched(NamedTuple):
    """A folder to work in, and where things are fetched from."""

    folder: Path
    server: str


def blocks() -> list[list[str]]:
    """The lines of each block of shell, in order."""
    text = (ROOT / "docs" / "common-crawl.md").read_text(encoding="utf-8")
    return [block.splitlines() for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]


LINES = [line for block in blocks() for line in block]
EXPORTS = [line for line in LINES if line.startswith("export")]


def lists_of() -> list[list[int]]:
    """Links of some sites: each to the three after it and to the first."""
    count = len(SITES)
    return [sorted({0, *((n + k) % count for k in (1, 2, 3))} - {n}) for n in range(count)]


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def publish(place: Path) -> None:
    """A domain release, a host release in parts, and a crawl of some archives."""
    names = dict(word.split("=", 1) for line in EXPORTS for word in line.split()[1:])
    release, crawl = names["RELEASE"], names["CRAWL"]
    domains = "".join(f"{n}\torg.{name}\t1\n" for n, name in enumerate(SITES))
    hosts = "".join(f"{n}\torg.{name}.en\n" for n, name in enumerate(SITES))
    edges = "".join(f"{n}\t{to}\n" for n, to_all in enumerate(lists_of()) for to in to_all)
    graphs = f"projects/hyperlinkgraph/{release}"
    write_text(place / graphs / "domain" / f"{release}-domain-vertices.txt.gz", domains)
    write_graph(lists_of(), place / graphs / "domain" / f"{release}-domain", offsets=False)
    for kind, text in (("vertices", hosts), ("edges", edges)):
        part = f"{graphs}/host/{kind}/part-00000-0d3f.c000.txt.gz"
        write_text(place / part, text)
        write_text(place / graphs / "host" / f"{release}-host-{kind}.paths.gz", f"{part}\n")
    archives = {
        "warc": ("iana.warc.gz", (WARC / "pywb__iana.warc.gz").read_bytes()),
        "wat": ("iana.warc.wat.gz", gzip.compress(wat(SITES))),  # that of the sample describes a request, no page
    }
    for kind, (file, content) in archives.items():
        path = f"crawl-data/{crawl}/segments/1768220466.7/{kind}/{file}"
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
        write_text(place / f"crawl-data/{crawl}/{kind}.paths.gz", f"{path}\n")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A web server that does not talk."""

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fetched]:
    """What Common Crawl would have, served from this machine; and a folder with an archive of a later crawl."""
    if not WARC.is_dir():
        pytest.skip("no archives under ../shared/data/warc")
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    place = tmp_path_factory.mktemp("published")
    publish(place)
    folder = tmp_path_factory.mktemp("mine")
    (folder / "more").mkdir()
    shutil.copy(WARC / "whirlwind-python__whirlwind.warc.gz", folder / "more")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(place))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Fetched(folder, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


def shell(line: str, fetched: Fetched) -> str:
    """Run a line as a reader would, after the exports, with another server; what it printed."""
    script = "\n".join([*EXPORTS, line]).replace(PUBLISHED, fetched.server)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=fetched.folder, capture_output=True, text=True, timeout=280,
        env=os.environ | {"PATH": path},
    )  # fmt: skip
    assert done.returncode == 0, f"{line}: {done.stderr[-2000:]}"
    return done.stdout


def test_the_text_has_commands() -> None:
    said = [line.split()[1] for line in LINES if line.startswith("cocite")]
    assert said == [
        "build", "info", "related", "serve", "rank", "build", "related", "serve",
        "build", "related", "check", "serve", "spark", "build", "add",
    ]  # fmt: skip
    assert PUBLISHED in EXPORTS[0]
    assert sum("curl" in line for line in LINES) == 5


def test_every_line_works(fetched: Fetched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of cocite run in this process, but for `cocite serve`; the others in a shell."""
    monkeypatch.chdir(fetched.folder)
    asked = ""
    for block in blocks():
        if any(line.startswith("cocite spark") for line in block):
            continue  # below
        for line in block:
            if line.startswith("cocite serve"):
                serves(line, asked, fetched)
                continue
            if not line.startswith("cocite"):
                shell(line, fetched)
                continue
            assert set(line) <= PLAIN, f"{line} needs a shell"
            ran = run(*line.split()[1:])
            assert ran.code == 0, f"{line}: {ran.err[-2000:]}"
            if line.startswith("cocite related"):
                asked = line.split()[2]
                assert "1" in ran.out.split(), f"{line} has no answer: {ran.out}"


@long
def test_spark_reads_the_list(fetched: Fetched) -> None:
    pytest.importorskip("pyspark", reason="needs the extra spark")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17")
    (block,) = (block for block in blocks() if any(line.startswith("cocite spark") for line in block))
    for line in [*(line for line in LINES if "{warc,wat}" in line), *block]:
        shell(line, fetched)


def serves(line: str, asked: str, fetched: Fetched) -> None:
    """The service comes up and answers."""
    command = [str(Path(sys.executable).with_name("cocite")), *line.split()[1:], "--port", "0"]
    process = subprocess.Popen(command, cwd=fetched.folder, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for said in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+", said):
                break
        else:
            pytest.fail("it did not say where it serves")
        end = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"{found[0]}/api/related?url={asked}", timeout=30) as answer:
                    assert b'"rank"' in answer.read()
                    return
            except OSError:
                assert time.monotonic() < end, "it does not answer"
                time.sleep(0.1)
    finally:
        process.kill()
        process.communicate()
