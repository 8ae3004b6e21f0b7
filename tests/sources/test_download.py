"""Downloads: cut, changed, too large, refused, resumed where they stopped; and recipes."""

from __future__ import annotations

import hashlib
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cocite.errors import BadParameter, BadSource
from cocite.sources.download import fetch
from cocite.sources.download.fetch import Fetcher, check_sum
from cocite.sources.download.recipes import Recipe, newest_release, recipe_named, recipes
from tests.sources.file_server import FileServer, serving

URL = "https://files.example/dump.bz2"
PATH = "/files.example/dump.bz2"
CONTENT = random.Random(1).randbytes(300_000)
LIMIT = 1_000_000


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Nothing."""


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as running:
        running.files[PATH] = CONTENT
        yield running


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "PIECE_BYTES", 10_000)


def fetcher(server: FileServer, **given: Any) -> Fetcher:
    options = {"mirror": server.address, "allow_private": True, "pause": lambda seconds: None} | given
    return Fetcher(frozenset(["files.example"]), **options)


def download(server: FileServer, path: Path, limit: int = LIMIT, **given: Any) -> int:
    return fetcher(server, **given).download(URL, path, limit, "downloading")


def test_a_file_comes_as_it_is(server: FileServer, tmp_path: Path) -> None:
    counted: list[tuple[int, int | None]] = []
    size = download(server, tmp_path / "dump", progress=lambda stage, done, total: counted.append((done, total)))
    assert (tmp_path / "dump").read_bytes() == CONTENT
    assert size == len(CONTENT) == sum(done for done, _ in counted)
    assert {total for _, total in counted} == {len(CONTENT)}
    assert not (tmp_path / "dump.part").exists()


def test_a_cut_download_goes_on_where_it_stopped(server: FileServer, tmp_path: Path) -> None:
    server.cuts = [100_000, 50_000]
    download(server, tmp_path / "dump")
    assert (tmp_path / "dump").read_bytes() == CONTENT
    assert [wanted for _, wanted in server.log] == ["", "bytes=100000-", "bytes=150000-"]


def test_pauses_grow_and_end_where_nothing_comes(server: FileServer, tmp_path: Path) -> None:
    pauses: list[float] = []
    server.cuts = [70_000] + [0] * 10
    with pytest.raises(BadSource, match=r"broke off .*: 0\.1 MB are kept; run the command again to go on"):
        download(server, tmp_path / "dump", pause=pauses.append)
    assert pauses == [2, 4, 8, 16]
    server.cuts = []
    download(server, tmp_path / "dump")
    assert server.log[-1] == (PATH, "bytes=70000-")
    assert (tmp_path / "dump").read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_fetched_from_the_start(server: FileServer, tmp_path: Path) -> None:
    server.cuts = [100_000] + [0] * 10
    with pytest.raises(BadSource):
        download(server, tmp_path / "dump")
    server.cuts, server.files[PATH] = [], CONTENT[::-1]
    download(server, tmp_path / "dump")
    assert server.log[-1] == (PATH, "bytes=100000-")
    assert (tmp_path / "dump").read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("missing", ["ranges", "validators"])
def test_without_ranges_or_validators_it_begins_again(server: FileServer, tmp_path: Path, missing: str) -> None:
    setattr(server, missing, False)
    server.cuts = [100_000]
    download(server, tmp_path / "dump")
    assert (tmp_path / "dump").read_bytes() == CONTENT


def test_a_part_of_another_address_is_not_used(server: FileServer, tmp_path: Path) -> None:
    server.cuts = [100_000] + [0] * 10
    with pytest.raises(BadSource):
        download(server, tmp_path / "dump")
    server.cuts, server.files["/files.example/new"] = [], b"new"
    fetcher(server).download("https://files.example/new", tmp_path / "dump", LIMIT, "downloading")
    assert (tmp_path / "dump").read_bytes() == b"new"


def test_a_complete_part_is_renamed(server: FileServer, tmp_path: Path) -> None:
    download(server, tmp_path / "dump")
    (tmp_path / "dump").rename(tmp_path / "dump.part")
    assert download(server, tmp_path / "dump") == len(CONTENT)
    assert (tmp_path / "dump").read_bytes() == CONTENT


def test_an_unchanged_file_is_not_sent_again(server: FileServer, tmp_path: Path) -> None:
    download(server, tmp_path / "dump")
    counted: list[int] = []
    assert download(server, tmp_path / "dump", progress=lambda _, done, __: counted.append(done)) == len(CONTENT)
    assert counted == []
    server.files[PATH] = b"changed"
    assert download(server, tmp_path / "dump") == 7
    assert (tmp_path / "dump").read_bytes() == b"changed"


def test_a_damaged_state_means_from_the_start(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "dump.part").write_bytes(b"other bytes")
    (tmp_path / "dump.json").write_text("{nonsense")
    download(server, tmp_path / "dump")
    assert (tmp_path / "dump").read_bytes() == CONTENT


def test_more_than_the_recipe_allows_is_refused(server: FileServer, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"has 0\.3 MB: the recipe allows 0\.1 MB; not fetched"):
        download(server, tmp_path / "dump", limit=100_000)
    assert not (tmp_path / "dump.part").exists()


def test_more_than_was_said_is_stopped(server: FileServer, tmp_path: Path) -> None:
    server.lengths = False
    with pytest.raises(BadSource, match=r"sends more than 0\.1 MB, which the recipe allows: stopped"):
        download(server, tmp_path / "dump", limit=100_000)
    assert (tmp_path / "dump.part").stat().st_size <= 100_000


def test_a_busy_server_is_asked_again_and_a_missing_file_is_not(server: FileServer, tmp_path: Path) -> None:
    server.statuses = [503, 429, 200]
    download(server, tmp_path / "dump")
    assert len(server.log) == 3
    with pytest.raises(BadSource, match="HTTP status 404; the recipe may be out of date"):
        fetcher(server).download("https://files.example/none", tmp_path / "none", LIMIT, "downloading")
    assert len(server.log) == 4


def test_redirects_stay_on_the_hosts(server: FileServer, tmp_path: Path) -> None:
    server.redirects["/files.example/latest"] = PATH
    fetcher(server).download("https://files.example/latest", tmp_path / "dump", LIMIT, "downloading")
    assert (tmp_path / "dump").read_bytes() == CONTENT
    with serving() as other:
        other.files[PATH] = b"from elsewhere"
        for place in (other.address + PATH, "ftp://127.0.0.1/x", "http://[", "//elsewhere.example/x"):
            server.redirects["/files.example/latest"] = place
            with pytest.raises(BadSource, match=r"which the recipe doesn't name: not fetched|invalid address"):
                fetcher(server).download("https://files.example/latest", tmp_path / "x", LIMIT, "downloading")
        assert other.log == []


def test_endless_redirects_end(server: FileServer, tmp_path: Path) -> None:
    server.redirects["/files.example/latest"] = "/files.example/latest"
    with pytest.raises(BadSource, match="redirects more than 5 times"):
        fetcher(server).download("https://files.example/latest", tmp_path / "x", LIMIT, "downloading")


def test_private_addresses_are_refused(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSource, match="private or local address"):
        download(server, tmp_path / "dump", allow_private=False)
    assert server.log == []
    own = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.server_port))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [own])
    with pytest.raises(BadSource, match="private or local address"):  # a public name that points inside
        Fetcher(frozenset(["files.example"])).download(URL, tmp_path / "dump", LIMIT, "downloading")


def test_an_unknown_host_and_a_closed_port_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        place = f"http://127.0.0.1:{closed.getsockname()[1]}"
        waiting = Fetcher(frozenset(), place, allow_private=True, pause=lambda seconds: None)
        with pytest.raises(BadSource, match=r"broke off .*refused"):
            waiting.small(URL)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(BadSource, match=r"Cannot find files\.example .*: check the connection"):
        Fetcher(frozenset(["files.example"])).small(URL)


def test_small_files_are_complete_and_small(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.cuts = [1000]
    assert fetcher(server).small(URL) == CONTENT
    monkeypatch.setattr(fetch, "MAX_SMALL_BYTES", 1000)
    with pytest.raises(BadSource, match="not what the recipe expects"):
        fetcher(server).small(URL)


def test_checksums(tmp_path: Path) -> None:
    name = "simplewiki-latest-pages-articles.xml.bz2"
    (tmp_path / name).write_bytes(CONTENT)
    digest = hashlib.sha1(CONTENT).hexdigest()
    listing = f"{'0' * 40}  simplewiki-20260901-pages-articles.xml.bz2.rss\n{digest}  {name}\n"
    dated = listing.replace("latest", "20260901")
    for sums in (listing, dated, dated.replace("\n", "\r\n")):
        assert check_sum(tmp_path / name, sums.encode(), name, no_progress)
    assert not check_sum(tmp_path / name, b"", name, no_progress)
    with pytest.raises(BadSource, match="differs from its SHA-1 checksum and was deleted"):
        check_sum(tmp_path / name, dated.replace(digest, "1" * 40).encode(), name, no_progress)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("recipe", recipes().values(), ids=lambda recipe: recipe.name)
def test_recipes_are_complete(recipe: Recipe) -> None:
    files = recipe.downloads("cc-main-2026-jan-feb-mar")
    assert files
    assert len({file.name for file in files}) == len(files)
    for address in [*(file.url for file in files), *filter(None, (recipe.sums, recipe.release))]:
        parts = urlsplit(address)
        assert parts.scheme == "https"
        assert parts.netloc == parts.hostname, "no port, no user"
        assert parts.netloc in recipe.hosts
        assert not parts.query
        assert "{" not in address
    assert ("{release}" in "".join(recipe.files)) == bool(recipe.release)
    assert 0 < recipe.size_mb < recipe.limit_mb <= 10 * recipe.size_mb + 60
    assert recipe.store_mb > 0 < recipe.minutes
    assert not recipe.crawl_from or recipe.crawl_from in {file.name for file in files}
    assert bool(recipe.crawl_from) == bool(recipe.crawl_pages)
    assert recipe.about
    assert recipe.try_.startswith("related ")


def test_readmes_are_the_pages_of_their_repositories() -> None:
    hugo = next(file for file in recipe_named("static-sites").downloads() if "hugo" in file.name)
    assert hugo.url == "https://raw.githubusercontent.com/gohugoio/hugo/HEAD/README.md"
    assert hugo.page == "https://github.com/gohugoio/hugo"
    assert hugo.base == "https://github.com/gohugoio/hugo/blob/HEAD/README.md"


def test_unknown_recipes_and_releases() -> None:
    with pytest.raises(BadParameter, match="Unknown web 'everything': choose one of awesome, "):
        recipe_named("everything")
    assert newest_release(b'[{"id": "cc-main-2026-jan-feb-mar"}, {"id": "cc-main-2025-oct-nov-dec"}]').endswith("mar")
    for listing in (b"", b"[]", b"{}", b"[1]", b'[{"id": "../../etc"}]', b'[{"id": 5}]'):
        with pytest.raises(BadSource, match="recipe"):
            newest_release(listing)
