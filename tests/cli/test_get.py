"""cocite get: from the files that a publisher serves to a store, and what happens when a download fails."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cocite.operations.store import get as module
from cocite.sources.download.recipes import recipe_named
from tests.cli.conftest import Ran, run
from tests.sources.bvgraph_writer import write_graph
from tests.sources.file_server import FileServer, serving
from tests.sources.test_mediawiki import dump, page

RELEASE = "cc-main-2026-jan-feb-mar"
SITES = ("https://gohugo.io/", "https://jekyllrb.com/", "https://www.mkdocs.org/", "https://www.getzola.org/")


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as running:
        yield running
        running.go_on.set()


@pytest.fixture
def readmes(server: FileServer) -> FileServer:
    """READMEs that link to four sites, a file of their own, and a place in themselves."""
    for file in recipe_named("static-sites").downloads():
        links = "".join(f"* [{site.split('.')[-2]}]({site}) builds sites\n" for site in SITES)
        text = f"# {file.name}\n\n## Generators\n{links}\n[more](docs/more.md) [up](#generators)\n"
        server.files[path_of(file.url)] = text.encode()
    return server


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"/{parts.netloc}{parts.path}"


def get(server: FileServer, name: str, folder: Path, *more: str) -> Ran:
    return run(*arguments(server, name, folder), "--yes", *more)


def arguments(server: FileServer, name: str, folder: Path) -> list[str]:
    places = ["-o", str(folder / "web.cocite"), "--downloads", str(folder / "files")]
    return ["get", name, "--mirror", server.address, "--allow-private", *places]


def test_readmes_become_a_store_and_every_printed_command_works(readmes: FileServer, tmp_path: Path) -> None:
    ran = get(readmes, "static-sites", tmp_path)
    assert ran.code == 0, ran.err
    assert f"Built {tmp_path / 'web.cocite'}" in ran.out
    asked = {path for path, _ in readmes.log}
    assert asked == {path_of(file.url) for file in recipe_named("static-sites").downloads()}
    commands = [line.split()[1:] for line in ran.out.split("Try next")[1].splitlines() if line.startswith("  cocite ")]
    assert [command[0] for command in commands] == ["related", "info", "serve"]
    for command in commands[:2]:
        assert run(*command).code == 0, command
    assert json.loads(run("related", "gohugo.io", "-i", tmp_path / "web.cocite", "--json").out)["answers"]
    links = json.loads(run("links", "github.com/getzola/zola", "-i", tmp_path / "web.cocite", "--json").out)
    addresses = {link["url"] for section in links["blocks"] for link in section["links"]}
    assert addresses == {*SITES, "https://github.com/getzola/zola/blob/HEAD/docs/more.md"}


def test_a_second_get_fetches_what_has_changed(readmes: FileServer, tmp_path: Path) -> None:
    get(readmes, "static-sites", tmp_path)
    changed = path_of(recipe_named("static-sites").downloads()[0].url)
    readmes.files[changed] += b"* [new](https://new.example/)\n"
    ran = get(readmes, "static-sites", tmp_path, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["recipe"] == "static-sites"
    assert run("related", "new.example", "-i", tmp_path / "web.cocite").code == 0


def test_nothing_is_fetched_unless_allowed(readmes: FileServer, tmp_path: Path) -> None:
    ran = run(*arguments(readmes, "static-sites", tmp_path))
    assert ran.code == 2
    assert "static-sites: downloads about 1 MB from raw.githubusercontent.com. That takes about 1 min" in ran.err
    assert "--yes is needed where nobody can be asked" in ran.err
    assert readmes.log == []
    assert not (tmp_path / "files").exists()


def test_the_list_has_every_web(tmp_path: Path) -> None:
    shown, data = run("get", "--list"), json.loads(run("get", "--list", "--json").out)
    names = [each["name"] for each in data["recipes"]]
    assert names[0] == "awesome"
    assert all(name in shown.out for name in names)
    assert run("get").code == run("get", "nothing").code == 2
    assert "name is missing: give one of awesome" in run("get").err


def test_too_little_space_is_refused_first(
    readmes: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda place: usage._replace(free=5_000_000))
    ran = get(readmes, "static-sites", tmp_path)
    assert ran.code == 2
    assert f"static-sites needs 11 MB, and {tmp_path} has 5 MB free: use -o and --downloads on a larger disk" in ran.err
    assert readmes.log == []


def test_a_download_larger_than_the_recipe_allows(readmes: FileServer, tmp_path: Path) -> None:
    last = path_of(recipe_named("static-sites").downloads()[-1].url)
    readmes.files[last] = bytes(10_000_001)
    ran = get(readmes, "static-sites", tmp_path)
    assert ran.code == 2
    assert "has 10.0 MB: the recipe allows 10.0 MB; not fetched" in ran.err
    assert not (tmp_path / "web.cocite").exists()


def test_two_downloads_to_one_folder(readmes: FileServer, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    with (tmp_path / "files" / ".lock").open("w") as file:
        module.lock_file(file)
        assert "Another cocite get is downloading to" in get(readmes, "static-sites", tmp_path).err


def test_ctrl_c_keeps_the_part_and_says_how_to_go_on(readmes: FileServer, tmp_path: Path) -> None:
    readmes.stall_after = 100
    command = [sys.executable, "-m", "cocite", *arguments(readmes, "static-sites", tmp_path), "--yes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            if readmes.log:
                break
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    go_on = err.split("to go on: cocite ")[1].split()
    assert "Interrupted; 0 MB are kept in" in err
    first = path_of(recipe_named("static-sites").downloads()[0].url)
    (part,) = (tmp_path / "files").glob("*.part")
    assert part.read_bytes() == readmes.files[first][:100]
    readmes.stall_after = -1
    readmes.go_on.set()
    ran = run(*go_on, "--yes")
    assert ran.code == 0, ran.err
    assert readmes.log[1] == (first, "bytes=100-")


SIMPLE = "/dumps.wikimedia.org/simplewiki/latest/simplewiki-latest"


@pytest.fixture
def wiki(server: FileServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FileServer:
    """A dump of five articles that two lists link to, and its checksum."""
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda place: usage._replace(free=10**12))
    names = ["Volcano", "Lava", "Magma", "Ash", "Crater"]
    lists = [page(f"List {n}", " ".join(f"[[{name}]]" for name in names)) for n in range(2)]
    content = bz2.compress(dump(*lists, *map(page, names)).replace("w.example", "simple.wikipedia.org").encode())
    server.files[f"{SIMPLE}-pages-articles.xml.bz2"] = content
    listed = f"{hashlib.sha1(content).hexdigest()}  simplewiki-20260901-pages-articles.xml.bz2\n"
    server.files[f"{SIMPLE}-sha1sums.txt"] = listed.encode()
    return server


def test_simple_wikipedia_is_verified_and_built(wiki: FileServer, tmp_path: Path) -> None:
    wiki.cuts = [100]
    ran = get(wiki, "simple-wikipedia", tmp_path)
    assert ran.code == 0, ran.err
    assert [wanted for _, wanted in wiki.log] == ["", "bytes=100-", ""]
    tried = [line.split()[1:] for line in ran.out.splitlines() if line.startswith("  cocite related")]
    assert run(*tried[0]).code == 0
    assert "No checksum" not in ran.err
    wiki.files[f"{SIMPLE}-sha1sums.txt"] = b""
    assert "No checksum for simplewiki-latest-pages-articles.xml.bz2" in get(wiki, "simple-wikipedia", tmp_path).err


def test_a_wrong_checksum_builds_nothing(wiki: FileServer, tmp_path: Path) -> None:
    listed = wiki.files[f"{SIMPLE}-sha1sums.txt"]
    wiki.files[f"{SIMPLE}-sha1sums.txt"] = b"0" * 40 + listed[40:]
    ran = get(wiki, "simple-wikipedia", tmp_path)
    assert ran.code == 2
    assert "differs from its SHA-1 checksum and was deleted: run the command again" in ran.err
    assert not (tmp_path / "web.cocite").exists()
    wiki.files[f"{SIMPLE}-sha1sums.txt"] = listed
    assert get(wiki, "simple-wikipedia", tmp_path).code == 0


def test_common_crawls_newest_domain_graph(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda place: usage._replace(free=10**12))
    names = ["com.a", "com.b", "com.c", "org.x", "org.y", "org.z"]
    write_graph([[1, 2, 3], [0, 2], [], [0, 1, 2], [0, 1, 2], [1, 2]], tmp_path / "made", offsets=False)
    vertices = "".join(f"{number}\t{name}\t1\n" for number, name in enumerate(names))
    server.files["/index.commoncrawl.org/graphinfo.json"] = json.dumps([{"id": RELEASE}, {"id": "older"}]).encode()
    folder = f"/data.commoncrawl.org/projects/hyperlinkgraph/{RELEASE}/domain/{RELEASE}-domain"
    server.files[f"{folder}-vertices.txt.gz"] = gzip.compress(vertices.encode())
    server.files[f"{folder}.graph"] = (tmp_path / "made.graph").read_bytes()
    server.files[f"{folder}.properties"] = (tmp_path / "made.properties").read_bytes()
    ran = get(server, "common-crawl-domains", tmp_path)
    assert ran.code == 0, ran.err
    assert len(server.log) == 4
    found = json.loads(run("related", "b.com", "-i", tmp_path / "web.cocite", "-m", "cocitation", "--json").out)
    assert "https://c.com/" in {answer["url"] for answer in found["answers"]}


def test_the_small_web_is_crawled_from_its_list(server: FileServer, tmp_path: Path) -> None:
    pytest.importorskip("scrapy")
    with serving() as site:
        site.files = {
            "/": b"<title>Home</title><a href=/blogroll>Blogroll</a>",
            "/blogroll": b"<title>Roll</title><h2>Friends</h2><a href=https://one.example/>1</a>",
        }
        feeds = f"{site.address}/feed.xml\n\n{site.address}/other.xml\nnonsense\n"
        server.files["/raw.githubusercontent.com/kagisearch/smallweb/main/smallweb.txt"] = feeds.encode()
        opml = b'<opml><body><outline text="A" xmlUrl="https://two.example/"/></body></opml>'
        server.files["/kagi.com/smallweb/opml"] = opml
        ran = get(server, "small-web", tmp_path)
        assert ran.code == 0, ran.err
        assert {"/", "/blogroll"} <= {path for path, _ in site.log} <= {"/", "/blogroll", "/robots.txt"}
    assert run("links", "one.example", "-i", tmp_path / "web.cocite").code == 0
    assert run("links", "two.example", "-i", tmp_path / "web.cocite").code == 0
