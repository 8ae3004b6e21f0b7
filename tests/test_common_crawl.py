"""Every command of docs/common-crawl.md, on small files of the published names and forms."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.sources.bvgraph_writer import write_graph

ROOT = Path(__file__).parents[1]
WARC = ROOT.parent / "shared" / "data" / "warc"
RELEASE = "cc-main-2025-26-dec-jan-feb"
SITES = 12


def commands() -> list[list[str]]:
    """The commands of the text, in order."""
    text = (ROOT / "docs" / "common-crawl.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def lists_of() -> list[list[int]]:
    """Links of some sites: each to the three after it and to the first."""
    return [sorted({0, *((n + k) % SITES for k in (1, 2, 3))} - {n}) for n in range(SITES)]


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was fetched: a domain release, a host release in parts, some archives."""
    if not WARC.is_dir():
        pytest.skip("no archives under ../shared/data/warc")
    place = tmp_path_factory.mktemp("crawl")
    domains = "".join(f"{n}\texample.site{n}\t1\n" for n in range(SITES))
    hosts = "".join(f"{n}\texample.site{n}.www\n" for n in range(SITES))
    edges = "".join(f"{n}\t{to}\n" for n, to_all in enumerate(lists_of()) for to in to_all)
    write_text(place / "domain" / f"{RELEASE}-domain-vertices.txt.gz", domains)
    write_graph(lists_of(), place / "domain" / f"{RELEASE}-domain", offsets=False)
    for kind, text in (("vertices", hosts), ("edges", edges)):
        part = f"{kind}/part-00000-0d3f.c000.txt.gz"
        write_text(place / "host" / part, text)
        write_text(place / "host" / f"{RELEASE}-host-{kind}.paths.gz", f"hyperlinkgraph/{RELEASE}/host/{part}\n")
    for name, files in (("crawl", ["pywb__iana.warc.gz", "whirlwind-python__whirlwind.warc.wat.gz"]),
                        ("more", ["whirlwind-python__whirlwind.warc.gz"])):  # fmt: skip
        (place / name).mkdir()
        for file in files:
            shutil.copy(WARC / file, place / name / file)
    return place


def test_the_text_has_commands() -> None:
    assert [words[1] for words in commands()] == [
        "build", "info", "related", "serve", "rank", "build", "related", "build", "related", "check", "add",
    ]  # fmt: skip


def test_every_command_works(folder: Path) -> None:
    program = [str(Path(sys.executable).with_name("cocite"))]
    for words in commands():
        if words[1] == "serve":
            serves([*program, *words[1:]], folder)
            continue
        done = subprocess.run([*program, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
        if words[1] == "related":
            assert "1" in done.stdout.split(), f"{' '.join(words)} has no answer: {done.stdout}"


def serves(command: list[str], folder: Path) -> None:
    """The service comes up and answers."""
    process = subprocess.Popen([*command, "--port", "0"], cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                break
        else:
            pytest.fail("it did not say where it serves")
        end = time.monotonic() + 60
        while True:
            try:
                question = f"{found[0]}/api/related?url=site1.example&method=cocitation"
                with urllib.request.urlopen(question, timeout=30) as answer:
                    assert b"site" in answer.read()
                    return
            except OSError:
                assert time.monotonic() < end, "it does not answer"
                time.sleep(0.1)
    finally:
        process.kill()
        process.communicate()
