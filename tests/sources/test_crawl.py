"""Live crawls of small sites served on this machine, and the parts of the crawler that need no network."""

from __future__ import annotations

import calendar
import gzip
import ipaddress
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocite
from cocite.errors import BadParameter, BadSource
from cocite.graph.store import Graph
from cocite.sources.crawl import start as crawl_module
from cocite.sources.crawl.frontier import Fetch, Frontier, Scoped
from cocite.sources.crawl.guard import REFUSED_PRIVATE, Refused, guarded, is_public, refusal, web_address
from cocite.sources.crawl.start import crawl
from cocite.sources.html.page import read_response
from cocite.sources.records import Page, ReadReport

pytest.importorskip("scrapy")

MEGABYTE = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def without_proxy() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.lower().endswith("_proxy"):
                patch.delenv(name)
        yield


# ------------------------------------------------------------------------------------------------------ a site to crawl


class Answer(NamedTuple):
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = {"Content-Type": "text/html"}  # noqa: RUF012  # never changed
    length: int | None = None  # declared instead of the true one; -1 declares none


def links(*targets: str, title: str = "") -> Answer:
    items = "".join(f'<li><a href="{target}">{target}</a></li>' for target in targets)
    return Answer(f"<!doctype html><title>{title}</title><ul>{items}</ul>".encode())


def moved(target: str, status: int = 301) -> Answer:
    return Answer(status=status, headers={"Location": target})


class Site:
    """A web server on this machine; `hits` tells what it was asked for."""

    def __init__(self, answer: Callable[[Site, str, str], Answer | None]) -> None:
        self.hits: Counter[str] = Counter()
        self.over = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host = self.headers["Host"].partition(":")[0]
                site.hits[self.path if host == "127.0.0.1" else host + self.path] += 1
                reply = answer(site, host, self.path)
                if reply is None:
                    return  # hang up without a word
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.length != -1:
                    self.send_header("Content-Length", str(reply.length or len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients may hang up
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.port = self.server.server_port
        self.base = f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def serving(answer: Callable[[Site, str, str], Answer | None]) -> Iterator[Site]:
    site = Site(answer)
    try:
        yield site
    finally:
        site.close()


def varied(site: Site, host: str, path: str) -> Answer | None:
    """A site with one of everything; under the name `localhost` its robots.txt is out of order."""
    if path == "/robots.txt":
        return Answer(status=503) if host == "localhost" else Answer(b"User-agent: cocite\nDisallow: /secret\n")
    if path == "/slow":
        site.over.wait(20)
    if path == "/flaky" and site.hits[path] == 1:
        return Answer(status=502)
    return VARIED.get(path, Answer(status=404))


# fmt: off
FRONT_LINKS = [
    "/a", "/missing", "/gone", "/film.mp4", "/typeless", "/huge", "/declared-huge", "/bomb", "/slow", "/secret/x",
    "/hop1", "/circle1", "/self", "/away", "/flaky", "/error", "/dropped", "/cut", "/slash", "/latin",
    "mailto:x@example.org", "javascript:0", "http://[", "/a#part", "/to-seen", "/nowhere",
    "https://elsewhere.example/", "ftp://127.0.0.1/f", "/forbidden",
    "/tagged", "/asking", "/refresh",
]
# fmt: on

VARIED: dict[str, Answer | None] = {
    "/": links(
        *FRONT_LINKS,
        title="Front",
    ),
    "/a": links("/b", title="A"),
    "/b": links("/c", title="B"),
    "/c": links(title="three links away"),
    "/gone": Answer(status=410),
    "/forbidden": Answer(status=403),
    "/asking": Answer(b'<meta name=robots content=nofollow><a href="/unfollowed">x</a>'),
    "/refresh": Answer(b'<meta http-equiv=refresh content="0; url=/refreshed">'),
    "/refreshed": links(title="Refreshed"),
    "/tagged": Answer(b'<a href="/unfollowed">x</a>', headers={"Content-Type": "text/html", "X-Robots-Tag": "none"}),
    "/film.mp4": Answer(b"\0" * 5000, headers={"Content-Type": "video/mp4"}),
    "/typeless": Answer(b"<html><title>Typeless</title>", headers={}),
    "/huge": Answer(b"<p>" + b"x" * 2 * MEGABYTE, length=-1),
    "/declared-huge": Answer(b"<p>", length=1 << 40),
    "/bomb": Answer(
        gzip.compress(b"\0" * 32 * MEGABYTE), headers={"Content-Type": "text/html", "Content-Encoding": "gzip"}
    ),
    "/slow": links(title="too late"),
    "/secret/x": links(title="must not be read"),
    "/hop1": moved("/hop2"),
    "/hop2": moved("end", 302),
    "/end": links(title="End of the chain"),
    "/to-seen": moved("/a", 303),
    "/circle1": moved("/circle2"),
    "/circle2": moved("/circle1", 307),
    "/self": moved("/self", 308),
    "/away": moved("https://moved.example/there", 302),
    "/nowhere": moved("javascript:alert(1)"),
    "/flaky": links(title="second attempt"),
    "/error": Answer(status=500),
    "/dropped": None,
    "/cut": Answer(b"<title>Cut</title><a href='/a'>A</a><a hr", length=5000),
    "/slash": moved("/slash/"),
    "/slash/": links(title="Slash"),
    "/latin": Answer("<title>café</title>".encode("latin-1"), headers={"Content-Type": "text/html; charset=latin-1"}),
}


class Outcome(NamedTuple):
    site: Site
    pages: list[Page]
    report: ReadReport


@pytest.fixture(scope="module")
def outcome() -> Iterator[Outcome]:
    with serving(varied) as site:
        report = ReadReport()
        seeds = [f"{site.base}/", f"http://localhost:{site.port}/closed", "ftp://example.org/", ""]
        options: dict[str, Any] = {"allow_private": True, "delay": 0, "timeout": 3, "max_bytes": MEGABYTE}
        yield Outcome(site, list(crawl(seeds, report, **options)), report)


def paths(outcome: Outcome, pages: list[Page]) -> list[str]:
    return sorted(page.url.removeprefix(outcome.site.base) for page in pages)


def test_pages_within_two_links_are_read_once(outcome: Outcome) -> None:
    found = [page for page in outcome.pages if page.status == 200 and not page.redirect]
    expected = ["/", "/a", "/asking", "/b", "/cut", "/end", "/flaky", "/latin", "/refreshed", "/slash/", "/tagged"]
    expected += ["/typeless"]
    assert paths(outcome, found) == expected
    for path in expected:
        assert outcome.site.hits[path] == (2 if path == "/flaky" else 1), path
    assert outcome.site.hits["/c"] == outcome.site.hits["/unfollowed"] == 0
    assert paths(outcome, [page for page in outcome.pages if page.noindex]) == ["/tagged"]
    titles = {page.url.removeprefix(outcome.site.base): page.title for page in found}
    assert titles["/"] == "Front" and titles["/latin"] == "café" and titles["/cut"] == "Cut"
    assert outcome.pages[0].url == f"{outcome.site.base}/"


def test_page_has_its_links_in_order_and_time_of_capture(outcome: Outcome) -> None:
    front = outcome.pages[0]
    kept = [link.url for link in front.links if link.url.startswith(outcome.site.base)]
    assert kept[:3] == [f"{outcome.site.base}{path}" for path in ("/a", "/missing", "/gone")]
    assert "https://elsewhere.example/" in [link.url for link in front.links]
    captured = calendar.timegm(time.strptime(front.captured, "%Y-%m-%dT%H:%M:%SZ"))
    assert abs(captured - time.time()) < 600


def test_dead_pages_have_their_status(outcome: Outcome) -> None:
    dead = {
        page.url.removeprefix(outcome.site.base): page.status for page in outcome.pages if page.status in (404, 410)
    }
    assert dead == {"/missing": 404, "/gone": 410}


def test_redirects_become_aliases(outcome: Outcome) -> None:
    base = outcome.site.base
    aliases = {page.url: (page.redirect, page.status) for page in outcome.pages if page.redirect}
    assert aliases == {
        f"{base}/hop1": (f"{base}/hop2", 301),
        f"{base}/hop2": (f"{base}/end", 302),
        f"{base}/to-seen": (f"{base}/a", 303),
        f"{base}/away": ("https://moved.example/there", 302),
        f"{base}/refresh": (f"{base}/refreshed", 200),
    }


def test_skipped_pages_are_counted(outcome: Outcome) -> None:
    assert outcome.report.skipped == {
        "seed that is not a web address": 2,
        "robots.txt can't be fetched": 1,
        "disallowed by robots.txt": 1,
        "not HTML": 1,
        "page larger than the limit": 3,
        "no response in time": 1,
        "redirect loop": 2,
        "redirect to an invalid address": 1,
        "HTTP status 403": 1,
        "HTTP status 500": 1,
        "page that can't be fetched": 1,
        "link with an invalid address": 1,
    }
    assert "video/mp4" in outcome.report.example["not HTML"]


def test_each_page_is_requested_once(outcome: Outcome) -> None:
    hits = outcome.site.hits
    assert hits["/secret/x"] == 0
    assert hits["/robots.txt"] == 1
    assert hits["localhost/robots.txt"] == 2 and hits["localhost/closed"] == 0
    assert hits["/error"] == 2 and hits["/dropped"] == 2  # one second attempt
    assert hits["/slow"] == 1 and hits["/forbidden"] == 1
    assert max(hits.values()) == 2


# ------------------------------------------------------------------------------------------------- limits, scope, twice


def tree(site: Site, host: str, path: str) -> Answer:
    """Every page has three children, without end; the front page also names the site under another host."""
    if path == "/robots.txt":
        return Answer(status=404)
    other = [f"http://localhost:{site.port}/other"] if path == "/" else []
    return links(*other, *(f"{path.rstrip('/')}/{child}" for child in "xyz"))


def test_page_limit_is_exact_and_order_is_breadth_first_also_the_second_time() -> None:
    with serving(tree) as site:
        for limit, scope in ((7, "host"), (9, "any")):
            report = ReadReport()
            options: dict[str, Any] = {"allow_private": True, "delay": 0, "concurrency": 1}
            found = list(crawl([site.base], report, max_pages=limit, scope=scope, **options))  # type: ignore[arg-type]
            own = [page.url.removeprefix(site.base) for page in found if page.url.startswith(site.base)]
            assert own == ["/", "/x", "/y", "/z", "/x/x", "/x/y", "/x/z"][: len(own)]
            assert len(found) == limit
            assert (len(own) < limit) == (scope == "any")
            assert report.read["address beyond the page limit"] > 0
            assert not report.skipped
        assert site.hits.total() == 7 + 9 + 3  # robots.txt once for each host and crawl


def test_closing_early_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = crawl_module._start

    def recording_start(*args: Any) -> Any:
        result = start(*args)
        started.append(result[0])
        return result

    monkeypatch.setattr(crawl_module, "_start", recording_start)
    with serving(tree) as site:
        pages = crawl([site.base], ReadReport(), allow_private=True, delay=0)
        assert next(pages).url == f"{site.base}/"
        assert started[0].poll() is None
        pages.close()  # type: ignore[attr-defined]
        assert started[0].poll() == -signal.SIGKILL


# --------------------------------------------------------------------------------------------------- private addresses


def test_private_addresses_are_refused_before_anything_is_sent() -> None:
    with serving(tree) as site:
        report = ReadReport()
        hosts = [f"127.0.0.1:{site.port}", f"localhost:{site.port}", f"0x7f.1:{site.port}", f"[::1]:{site.port}"]
        hosts += [f"[::ffff:127.0.0.1]:{site.port}/v4", "10.0.0.1", "169.254.169.254", "8.8.8.8:25"]
        pages = list(crawl([f"http://{host}" for host in hosts], report, delay=0))
        assert pages == []
        assert report.skipped["refused: port for other services than web pages"] == 1
        assert report.skipped[REFUSED_PRIVATE] == len(hosts) - 2  # two are one address
        assert site.hits.total() == 0


PATCHED = """
import sys
from cocite.sources.crawl import guard
real = guard.refusal
guard.refusal = lambda host, port, allow: None if port == {port} else real(host, port, allow)
from cocite.sources.crawl.process import main
main()
"""


def test_redirects_into_the_private_network_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One site passes for a public one; it redirects pages, and under another name its robots.txt, to a private one."""
    with serving(lambda *_: links(title="private")) as private:

        def public_answer(site: Site, host: str, path: str) -> Answer:
            inner = f"http://{host}:{private.port}/inner"
            if path == "/robots.txt":
                return Answer(status=404) if host == "127.0.0.1" else moved(inner)
            return moved(inner, 302) if path == "/jump" else links("/jump", f"{inner}/too")

        with serving(public_answer) as public:
            program = PATCHED.format(port=public.port)
            monkeypatch.setattr(crawl_module, "COMMAND", [sys.executable, "-c", program])
            report = ReadReport()
            pages = list(crawl([public.base, f"http://localhost:{public.port}"], report, delay=0, scope="any"))
            assert [page.url for page in pages] == [f"{public.base}/"]
            assert report.skipped == {REFUSED_PRIVATE: 3}
            assert public.hits == {"/robots.txt": 1, "/": 1, "/jump": 1, "localhost/robots.txt": 1}
            assert private.hits.total() == 0


# fmt: off
PRIVATE = [
    "127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
    "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "::", "::1", "::127.0.0.1",
    "::ffff:10.0.0.1", "::ffff:100.64.0.1", "64:ff9b::7f00:1", "64:ff9b:1::808:808", "2002:7f00:1::",
    "2002:a00:1::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "ff0e::1",
    "2001:db8::1", "3fff::1", "100::1", "2001::1", "5f00::1",
]
# fmt: on


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_off_the_public_internet(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
)
def test_addresses_on_the_public_internet(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_an_ipv6_one_is_judged_alike(v4: ipaddress.IPv4Address) -> None:
    mapped = ipaddress.IPv6Address(f"::ffff:{v4}")
    translated = ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b::")) + int(v4))
    six_to_four = ipaddress.IPv6Address((0x2002 << 112) + (int(v4) << 80) + 1)
    assert {is_public(ip) for ip in (mapped, translated, six_to_four)} == {is_public(v4)}


def test_guard_judges_the_address_that_is_connected_to() -> None:
    opened: list[tuple[str, int]] = []
    connect = guarded(lambda host, port, *args, **options: opened.append((host, port)), allow_private=False)
    connect("8.8.8.8", 443, "factory", timeout=1)
    for host, port in (("127.0.0.1", 80), ("localhost", 80), ("example.org", 80), ("8.8.8.8", 22), ("::1", 80)):
        with pytest.raises(Refused):
            connect(host, port, "factory")
    assert opened == [("8.8.8.8", 443)]
    assert refusal("127.0.0.1", 8000, allow_private=True) is None
    assert refusal("127.0.0.1", 22, allow_private=True) is not None


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("HTTP://User:Pw@Example.org:80/a/../b?q#f", "http://example.org/b?q"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("ftp://example.org/", None),
        ("javascript:alert(1)", None),
        ("http://", None),
        ("http://a b/", None),
        ("http://x/\ud800", None),
        ("http://x/" + "a" * 3000, None),
        ("", None),
    ],
)
def test_web_address(given_text: str, expected: str | None) -> None:
    assert web_address(given_text) == expected


# ---------------------------------------------------------------------------------------------- the process and its end


def test_a_crash_is_reported_after_the_pages_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import os, sys; print('a library chatters'); sys.stdin.readline();"
        'os.write(int(sys.argv[1]), b\'{"page": {"url": "http://example.org/", "links": []}}\\n\');'
        "sys.exit('OSError: disk on fire')"
    )
    monkeypatch.setattr(crawl_module, "COMMAND", [sys.executable, "-c", program])
    pages = crawl(["example.org"], ReadReport())
    assert next(pages) == Page("http://example.org/")
    with pytest.raises(BadSource, match="The crawl failed: OSError: disk on fire"):
        next(pages)


def test_a_process_killed_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_module, "COMMAND", [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
    with pytest.raises(BadSource, match="ended with code -9"):
        next(crawl(["example.org"], ReadReport()))


def test_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_module, "COMMAND", ["/no/such/python"])
    with pytest.raises(BadSource, match="Cannot start the crawling process"):
        next(crawl(["example.org"], ReadReport()))


def test_interrupt_ends_the_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    note = tmp_path / "pid"
    program = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    monkeypatch.setattr(crawl_module, "COMMAND", [sys.executable, "-c", program])

    def interrupt() -> None:
        while not (note.exists() and note.read_text()):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            next(crawl(["example.org"], ReadReport()))
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_the_process_ends_with_the_one_that_reads() -> None:
    """Also when the reader is killed and can do nothing about it."""
    program = (
        "import os, sys; from cocite.sources.crawl import start as module\n"
        "from cocite.sources.records import ReadReport\n"
        "start = module._start\n"
        "def recording(*args):\n"
        "    process, messages = start(*args); print(process.pid, flush=True); return process, messages\n"
        "module._start = recording\n"
        "next(module.crawl([sys.argv[1]], ReadReport(), allow_private=True, delay=0)); os.kill(os.getpid(), 9)"
    )
    with serving(lambda site, host, path: links(*(f"/{n}" for n in range(500)))) as site:
        reader = subprocess.run([sys.executable, "-c", program, site.base], stdout=subprocess.PIPE, check=False)
        assert reader.returncode == -9
        child = int(reader.stdout)
        for _ in range(200):
            try:
                os.kill(child, 0)
            except ProcessLookupError:
                return
            time.sleep(0.05)
        pytest.fail("the crawling process lives on")


def test_without_scrapy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_module, "find_spec", lambda name: None)
    with pytest.raises(BadSource, match=r'pip install "cocite\[crawl\]"'):
        crawl(["example.org"], ReadReport())


def test_importing_crawl_does_not_import_scrapy() -> None:
    program = "import sys, cocite.sources.crawl.start; sys.exit('scrapy' in sys.modules or 'twisted' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    "options",
    [
        {"scope": "galaxy"},
        {"depth": -1},
        {"max_pages": 0},
        {"delay": -1},
        {"delay": float("nan")},
        {"timeout": 0},
        {"timeout": float("inf")},
        {"concurrency": 0},
        {"max_bytes": 0},
        {"user_agent": "a\r\nb: c"},
        {"user_agent": " "},
    ],
)
def test_parameters_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        crawl(["example.org"], ReadReport(), **options)


@pytest.mark.parametrize("seeds", [[], [""], ["mailto:x@example.org", "http://"]])
def test_no_seed_at_all(seeds: list[str]) -> None:
    with pytest.raises(BadSource, match="Nothing to crawl"):
        crawl(seeds, ReadReport())


# ----------------------------------------------------------------------------------------- frontier, bounds and robots


def fetch(host: int, page: int, depth: int = 0) -> Fetch:
    return Fetch(f"http://h{host}.example/{page}", f"h{host}.example/{page}", depth)


def never_full() -> bool:
    return False


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 3))),
    st.integers(1, 8),
    st.integers(1, 5),
)
def test_frontier_hands_out_each_page_once_lowest_depth_first(
    offers: list[tuple[int, int, int]], max_pages: int, concurrency: int
) -> None:
    frontier = Frontier(max_pages, concurrency, never_full)
    for offer in offers:
        frontier.offer(fetch(*offer))
    different = {offer[:2] for offer in offers}
    assert frontier.waiting == len(different)
    taken = []
    while (one := frontier.take()) is not None:
        taken.append(one)
        frontier.finish(one)
        frontier.pages += 1
    assert len(taken) == min(max_pages, len(different))
    assert len({one.key for one in taken}) == len(taken)
    assert [one.depth for one in taken] == sorted(one.depth for one in taken)
    assert frontier.waiting == len(different) - len(taken)


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1), st.data())
def test_frontier_never_has_more_out_than_may_still_become_pages(hosts: list[int], data: st.DataObject) -> None:
    frontier = Frontier(max_pages=5, concurrency=4, is_full=never_full)
    for page, host in enumerate(hosts):
        frontier.offer(fetch(host, page))
    out: list[Fetch] = []
    while frontier.waiting and not frontier.spent:
        one = frontier.take()
        if one is not None:
            out.append(one)
        assert frontier.pages + len(out) <= 5
        assert out  # there is always something under way: the crawl cannot stall
        if one is None or data.draw(st.booleans()):
            frontier.pages += data.draw(st.integers(0, 1))
            frontier.finish(out.pop(data.draw(st.integers(0, len(out) - 1))))


def test_frontier_shares_its_seats_among_hosts() -> None:
    frontier = Frontier(max_pages=100, concurrency=4, is_full=never_full)
    for page in range(10):
        frontier.offer(fetch(0, page))
    frontier.offer(fetch(1, 0))
    taken = []
    while (one := frontier.take()) is not None:
        taken.append(one.host)
    assert Counter(taken) == {"h0.example": 2, "h1.example": 1}


def test_frontier_is_bounded_and_waits_for_a_slow_reader() -> None:
    held = True
    frontier = Frontier(max_pages=1, concurrency=1, is_full=lambda: held)
    for page in range(2000):
        frontier.offer(fetch(0, page))
    assert (frontier.waiting, frontier.unfollowed) == (1010, 990)
    assert frontier.take() is None
    held = False
    for _ in range(1010):  # none of them becomes a page
        one = frontier.take()
        assert one is not None
        frontier.finish(one)
    assert frontier.spent and frontier.take() is None


def numbered(site: Site, host: str, path: str) -> Answer | None:
    """Pages /1 to /40 as a tree with five branches. /start has moved to /0; /7, which led to /36 to /40, is gone."""
    if path == "/start":
        return moved("/0")
    if path == "/7":
        return Answer(status=410)
    number = int(path[1:]) if path[1:].isdigit() else -1
    if not 0 <= number <= 40:
        return Answer(status=404)
    return links(
        *(f"/{child}" for child in range(5 * number + 1, min(5 * number + 6, 41))), "/0", "http://far.example/"
    )


def test_a_crawl_goes_on_where_it_stopped(place: Path) -> None:
    given: dict[str, Any] = {"allow_private": True, "delay": 0, "depth": 3}
    with serving(numbered) as site:
        whole = cocite.build([f"{site.base}/start"], place / "whole.cocite", **given)
        whole_hits, site.hits = site.hits, Counter()
        for max_pages in (9, 100):
            cocite.build(
                [f"{site.base}/start"], place / "web.cocite", adding=max_pages > 9, max_pages=max_pages, **given,
                **({"resume": True} if max_pages > 9 else {}),
            )  # fmt: skip
            assert sum(site.hits[f"/{number}"] for number in range(41)) == min(max_pages, 36)
        assert {path: count for path, count in site.hits.items() if path != "/robots.txt"} == {
            path: count for path, count in whole_hits.items() if path != "/robots.txt"
        }
    web, expected = Graph(place / "web.cocite"), Graph(place / "whole.cocite")
    assert web.pages == expected.pages == whole.pages

    def all_links(graph: Graph) -> dict[str, list[str]]:
        return {
            graph.address(page): [graph.address(target) for target in graph.links_from(page).targets.tolist()]
            for page in range(graph.pages)
        }

    assert all_links(web) == all_links(expected)  # pages that were added later have higher numbers


def test_scope() -> None:
    for scope, inside, outside in (
        ("host", "blog.example.org/x", "example.org/x"),
        ("site", "example.org/x", "example.com/x"),
    ):
        scope_of_crawl = Scoped(scope)  # type: ignore[arg-type]
        scope_of_crawl.include("blog.example.org/start")
        assert scope_of_crawl.contains(inside) and not scope_of_crawl.contains(outside)
    scope_of_crawl = Scoped("any")
    scope_of_crawl.include("example.org")
    assert scope_of_crawl.contains("whatever.example/")


def robots(text: str, delay: float = 0.5) -> tuple[Any, SimpleNamespace]:
    """The rules of a robots.txt, and the downloader's slot of its host."""
    from scrapy.http import Response
    from scrapy.settings import Settings

    from cocite.sources.crawl.robots import RobotsRules

    slot = SimpleNamespace(delay=delay)
    options = Settings({"USER_AGENT": crawl_module.USER_AGENT, "DOWNLOAD_DELAY": delay})
    downloader = SimpleNamespace(slots={"example.org": slot}, per_slot_settings={}, settings=options)
    crawler: Any = SimpleNamespace(settings=options, engine=SimpleNamespace(downloader=downloader))
    answer = Response("http://example.org/robots.txt", body=text.encode())
    return RobotsRules(crawler)._read("http://example.org", answer), slot


@pytest.mark.parametrize(
    ("lines", "tags"),
    [
        ([], set()),
        (["noindex, NoFollow"], {"noindex", "nofollow"}),
        (["noarchive", "nofollow"], {"nofollow"}),
        (["otherbot: noindex"], set()),
        (["cocite: noindex", "otherbot: none"], {"noindex"}),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST", "none"], {"noindex", "nofollow"}),
    ],
)
def test_x_robots_tag(lines: list[str], tags: set[str]) -> None:
    headers = {"x-robots-tag": ", ".join(lines)}
    page = read_response(b"<a href=x>x</a>", "https://e.example/", headers, True, ReadReport(), crawl_module.USER_AGENT)
    assert (page.noindex, page.links[0].rel == "nofollow") == ("noindex" in tags, "nofollow" in tags)


@pytest.mark.parametrize(("asked", "given_delay"), [("3", 3.0), ("0.1", 0.5), ("86400", 60.0), ("soon", 0.5)])
def test_crawl_delay_of_robots_txt(asked: str, given_delay: float) -> None:
    rules, slot = robots(f"User-agent: *\nCrawl-delay: {asked}\nDisallow: /x\n")
    assert slot.delay == given_delay
    assert not rules.can_fetch("http://example.org/x", crawl_module.USER_AGENT)


def test_robots_txt_that_would_fill_the_memory() -> None:
    rules, _ = robots("User-agent: a\n" * 15_000 + "Disallow: /\n" * 15_000)
    assert isinstance(rules, Refused)
