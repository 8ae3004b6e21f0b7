"""Download files: from named hosts only, within a size limit, going on where an earlier download was cut.

`NAME.part` is what has come so far, and `NAME.json` has the validator of the server (ETag, else Last-Modified). A
download goes on with `Range` and `If-Range`: if the file has changed meanwhile, the server sends it from the start. A
complete file is asked for with `If-None-Match`, and isn't sent again unless it has changed.

The addresses of hosts are checked when a connection is opened, as by the crawler (`crawl/guard.py`). Proxies are not
used: they look up names themselves, unchecked.
"""

import contextlib
import hashlib
import json
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import TypeVar
from urllib.parse import SplitResult, urljoin, urlsplit

from cocite import __version__
from cocite.errors import BadSource
from cocite.sources.crawl.guard import refusal
from cocite.sources.json_items import as_object
from cocite.sources.records import shorten

USER_AGENT = f"cocite/{__version__} (downloads public webs to find related pages)"
TIMEOUT_SECONDS = 60.0
MAX_REDIRECTS = 5
MAX_SMALL_BYTES = 16_000_000  # of a list of checksums or releases
MAX_TRIES = 5  # attempts without a new byte
PIECE_BYTES = 256 << 10

_REDIRECTS = (301, 302, 303, 307, 308)
_BUSY = (429, 500, 502, 503, 504)

Result = TypeVar("Result")
Progress = Callable[[str, int, int | None], None]


class _Cut(Exception):
    """A transfer that ended too early, or a server that is busy: worth another attempt."""


@dataclass(frozen=True)
class Fetcher:
    """Downloads from the hosts that a recipe names, or from a mirror that has the files under HOST/PATH."""

    hosts: frozenset[str]
    mirror: str = ""
    allow_private: bool = False
    progress: Progress = lambda stage, done, total: None
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)

    def small(self, url: str) -> bytes:
        """The content of a small file, such as a list of checksums."""

        def attempt() -> bytes:
            with self._get(url, {}) as response:
                content = b""
                while piece := _read(response):
                    content += piece
                    if len(content) > MAX_SMALL_BYTES:
                        raise BadSource(f"{url} has over {megabytes(MAX_SMALL_BYTES)}: not what the recipe expects")
                if response.length:
                    raise _Cut(f"{response.length:,} bytes are missing")
                return content

        return self._retried(url, attempt, lambda: 0)

    def download(self, url: str, path: Path, limit: int, stage: str) -> int:
        """Download a file of at most `limit` bytes; returns its size. What has come stays if it is interrupted."""
        part = path.with_name(f"{path.name}.part")
        return self._retried(url, lambda: self._transfer(url, path, part, limit, stage), lambda: _size(part))

    def _retried(self, url: str, attempt: Callable[[], Result], come: Callable[[], int]) -> Result:
        """The result of an attempt; tries again after it was cut, unless no new byte came several times."""
        failures = 0
        while True:
            before = come()
            try:
                return attempt()
            except _Cut as error:
                failures = 1 if come() > before else failures + 1
                if failures == MAX_TRIES:
                    kept = f"{megabytes(come())} are kept; " if come() else ""
                    raise BadSource(f"{url} broke off ({error}): {kept}run the command again to go on") from error
            self.pause(min(30.0, 2.0**failures))

    def _transfer(self, url: str, path: Path, part: Path, limit: int, stage: str) -> int:
        about, known, done = path.with_name(f"{path.name}.json"), {}, _size(part)
        with contextlib.suppress(ValueError, FileNotFoundError):
            known = as_object(json.loads(about.read_text("utf-8")))
        validator = known.get("validator", "") if known.get("url") == url else ""
        headers = {}
        if not validator:
            part.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            done = 0
        elif path.exists():
            headers = {"If-None-Match" if validator.startswith('"') else "If-Modified-Since": validator}
        elif done:
            headers = {"Range": f"bytes={done}-", "If-Range": validator}
        with self._get(url, headers, (206, 304, 416)) as response:
            if response.status == 304 and path.exists():
                return path.stat().st_size
            if response.status == 416 and response.headers.get("Content-Range") == f"bytes */{done}":
                part.replace(path)
                return done
            total = response.length
            given = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
            if response.status == 206 and given and int(given[1]) == done:
                total = int(given[2])  # the size of the whole file
            elif response.status == 200:
                done = 0
            else:  # a part that the server doesn't have: from the start
                part.unlink(missing_ok=True)
                about.unlink(missing_ok=True)
                raise _Cut("the file has changed")
            if total is not None and total > limit:
                raise BadSource(f"{url} has {megabytes(total)}: the recipe allows {megabytes(limit)}; not fetched")
            path.unlink(missing_ok=True)
            with part.open("ab" if done else "wb") as file:
                # What tells versions of a file apart: a strong ETag, or else the time of its last change.
                tag, changed = (response.headers.get(name, "") for name in ("ETag", "Last-Modified"))
                validator = tag if tag.startswith('"') else changed
                about.write_text(json.dumps({"url": url, "validator": validator}), "utf-8")
                self.progress(stage, done, total)
                while piece := _read(response):
                    done += len(piece)
                    if done > limit:
                        raise BadSource(f"{url} sends more than {megabytes(limit)}, which the recipe allows: stopped")
                    file.write(piece)
                    self.progress(stage, len(piece), total)
        if total is not None and done != total:
            raise _Cut(f"{done:,} of {total:,} bytes")
        part.replace(path)
        return done

    @contextlib.contextmanager
    def _get(self, url: str, headers: dict[str, str], allowed: tuple[int, ...] = ()) -> Iterator[HTTPResponse]:
        """Ask for a file, following redirects within the hosts. Network errors become `_Cut`, refusals `BadSource`."""
        first = urlsplit(url)
        if self.mirror:
            first = urlsplit(f"{self.mirror.rstrip('/')}/{first.netloc}{first.path}")
        hosts = frozenset([first.netloc]) if self.mirror else self.hosts
        parts = first
        for _ in range(MAX_REDIRECTS + 1):
            if parts.netloc not in hosts or parts.scheme not in ("https", first.scheme):
                there = f"{parts.scheme}://{parts.netloc}"
                raise BadSource(f"{url} redirects to {shorten(there)}, which the recipe doesn't name: not fetched")
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
            connection._create_connection = self._connect  # type: ignore[attr-defined]
            try:
                try:
                    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                    own = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity"}
                    connection.request("GET", target, headers=own | headers)
                    response = connection.getresponse()
                except ssl.SSLCertVerificationError as error:
                    raise BadSource(f"{url}: invalid certificate ({error.verify_message}); not fetched") from error
                except socket.gaierror as error:
                    raise BadSource(f"Cannot find {parts.hostname} ({error.strerror}): check the connection") from error
                except (OSError, HTTPException) as error:
                    raise _Cut(str(error) or type(error).__name__) from error
                if response.status in _REDIRECTS:
                    parts = _redirected(parts, response)
                    continue
                if response.status in _BUSY:
                    raise _Cut(f"HTTP status {response.status}")
                if response.status not in (200, *allowed):
                    raise BadSource(f"{url}: HTTP status {response.status}; the recipe may be out of date")
                yield response
                return
            finally:
                connection.close()
        raise BadSource(f"{url} redirects more than {MAX_REDIRECTS} times: not fetched")

    def _connect(self, place: tuple[str, int], timeout: float, source: object = None) -> socket.socket:
        """Open a connection to the first IP address of a host that may be reached."""
        host, port = place
        refused, failed = "", None
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            if why := refusal(str(address[0]), port, self.allow_private):
                refused = why
                continue
            opened = socket.socket(family, kind, protocol)
            opened.settimeout(timeout)
            try:
                opened.connect(address)
                return opened
            except OSError as error:
                opened.close()
                failed = error
        if failed is None:
            raise BadSource(f"{host}: {refused or 'no address'}")
        raise failed


def check_sum(path: Path, sums: bytes, name: str, progress: Progress) -> bool:
    """Compare a file with the SHA-1 checksum that a list has under its name; returns whether the list has one.

    Lists of Wikimedia's `latest` files have the date in place of that word. A file that differs is deleted.
    """
    dated = re.escape(name).replace("latest", r"(?:latest|\d{8})")
    found = re.search(rf"^([0-9a-f]{{40}}) [ *]{dated}\r?$", sums.decode("ascii", "replace"), re.MULTILINE)
    if not found:
        return False
    digest = hashlib.sha1(usedforsecurity=False)
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
            progress(f"checksum of {name}", len(piece), path.stat().st_size)
    if digest.hexdigest() != found[1]:
        path.unlink()
        raise BadSource(f"{name} differs from its SHA-1 checksum and was deleted: run the command again")
    return True


def megabytes(number: int) -> str:
    """A size in megabytes, as publishers count them."""
    return f"{number / 1e6:,.1f} MB" if number < 100e6 else f"{number / 1e6:,.0f} MB"


def _read(response: HTTPResponse) -> bytes:
    """What has come, without waiting for more: it is kept if the download is interrupted."""
    try:
        return response.read1(PIECE_BYTES)
    except (OSError, HTTPException) as error:
        raise _Cut(str(error) or type(error).__name__) from error


def _redirected(parts: SplitResult, response: HTTPResponse) -> SplitResult:
    try:
        return urlsplit(urljoin(parts.geturl(), response.headers.get("Location", "")))
    except ValueError as error:
        raise BadSource(f"{parts.geturl()} redirects to an invalid address: not fetched") from error


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
