"""Who may ask: the host names that this server answers to, read keys, and requests per second of each client."""

import base64
import binascii
import hmac
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from ipaddress import ip_address
from math import ceil
from pathlib import Path

from cocite.errors import BadParameter
from cocite.http.responses import Reply, error_reply
from cocite.http.settings import Settings
from cocite.serving.connections import Rate

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
OPEN_PATHS = frozenset({"/healthz"})
"""Paths that need no key and have no rate: whoever checks a server has none."""
WRITE_PATHS = frozenset({"/api/pages", "/api/clicks"})
"""Paths that only the write key may post to, or delete."""
SIMILAR_PATH = "/findSimilar"
MIN_KEY_LENGTH, MAX_KEY_LENGTH = 16, 1024
BURST_SECONDS = 4.0
"""A client that was quiet may send the requests of this long at once."""
CHALLENGE = ((b"www-authenticate", b'Basic realm="cocite", charset="UTF-8"'),)
NO_KEY = error_reply(
    401, "NoKey", "This server needs a key", "Send 'Authorization: Bearer KEY'; a browser asks for it as a password",
    CHALLENGE,
)  # fmt: skip
READ_ONLY = error_reply(403, "ReadOnly", "This server is read-only", "The operator can set a key with --write-key")
NO_WRITE_KEY = error_reply(401, "NoKey", "Writing needs the write key", "Send 'Authorization: Bearer KEY'")
NO_METRICS = error_reply(404, "NotFound", "Nothing at this address", "Metrics have a port of their own")


class Access:
    """Decides about requests before anything else looks at them."""

    def __init__(self, settings: Settings) -> None:
        names = {name.lower() for name in (*LOOPBACK_HOSTS, settings.host, *settings.names)}
        self.is_known = lru_cache(maxsize=1024)(lambda host: is_known_host(host, names))
        self._metrics_port = settings.metrics_port
        self._keys = read_keys(settings.read_keys) if settings.read_keys else {}
        self._write_key = sha256(checked_key(settings.write_key).encode()).digest() if settings.write_key else b""
        self._rate = Rate(settings.rate, BURST_SECONDS) if settings.rate else None

    def refusal(self, path: str, method: str, headers: dict[bytes, bytes], port: int, client: str) -> Reply | None:
        """The reply to a request that isn't answered, or None."""
        host = headers.get(b"host")
        if host is not None and not self.is_known(host):
            message = f"This server doesn't answer to the name {host[:100].decode('latin-1')!r}"
            hint = "Ask it by its address; the operator can add names with --name"
            return error_reply(400, "UnknownHost", message, hint)
        if self._metrics_port and path not in OPEN_PATHS and (port == self._metrics_port) != (path == "/metrics"):
            return NO_METRICS
        if path in OPEN_PATHS or port == self._metrics_port or method == "OPTIONS":  # browsers ask that without a key
            return None
        if path in WRITE_PATHS and method not in ("GET", "HEAD"):
            if not self._write_key:
                return READ_ONLY
            scheme, _, given = headers.get(b"authorization", b"").partition(b" ")  # browsers remember Basic: not here
            if scheme.lower() != b"bearer" or not hmac.compare_digest(sha256(given.strip()).digest(), self._write_key):
                return NO_WRITE_KEY
        elif self._keys:
            sent = headers.get(b"authorization", b"")
            if path == SIMILAR_PATH and not sent:  # its clients have a header of their own
                sent = b"Bearer " + headers.get(b"x-api-key", b"")
            name = self._name_of(sent)
            if name is None:
                return NO_KEY
            client = f"key {name}"
        if self._rate is not None and (seconds := self._rate.wait(client, time.monotonic())):
            after = ceil(seconds)
            hint = f"Try again in {after} s"
            extra = ((b"retry-after", b"%d" % after),)
            return error_reply(429, "TooManyRequests", "Too many requests from this client", hint, extra)
        return None

    def _name_of(self, authorization: bytes) -> str | None:
        """The name of a key, sent as `Bearer KEY` or as the password of `Basic`."""
        scheme, _, given = authorization.partition(b" ")
        if scheme.lower() == b"basic":
            try:
                given = base64.b64decode(given.strip(), validate=True).partition(b":")[2]
            except binascii.Error:
                return None
        return holder_of(given.strip(), self._keys)


def holder_of(secret: bytes, digests: Mapping[str, bytes]) -> str | None:
    """The name of who holds a secret, by the digests of all; None if nobody does. Any wrong secret takes as long."""
    found, digest = None, sha256(secret).digest()
    for name, known in digests.items():
        if hmac.compare_digest(known, digest):
            found = name
    return found


def is_known_host(host: bytes, names: set[str]) -> bool:
    """Whether a Host header is one of our names, or an IP address.

    A stranger's web page can make its own name lead to this machine, and ask through its reader's browser (DNS
    rebinding). The Host header has that name. An address can't be made to lead elsewhere.
    """
    text = host.decode("latin-1").lower()
    name = text.partition("]")[0][1:] if text.startswith("[") else text.partition(":")[0]
    name = name.removesuffix(".")
    if name in names or "*" in names:
        return True
    with suppress(ValueError):
        ip_address(name)
        return True
    return False


def checked_key(key: str) -> str:
    """A write key of a fair length; raises BadParameter, without the key."""
    if not MIN_KEY_LENGTH <= len(key) <= MAX_KEY_LENGTH or not key.isascii() or not key.isprintable() or " " in key:
        raise BadParameter(
            f"The write key must have {MIN_KEY_LENGTH} to {MAX_KEY_LENGTH:,} letters and digits; "
            "`openssl rand -hex 16` makes one"
        )
    return key


def read_keys(path: Path) -> dict[str, bytes]:
    """Digests of the keys in a file, by name. A line has a key, or a name and a key."""
    found: dict[str, bytes] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"{path} can't be read as a file of keys: give a text file with one key per line") from error
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts or line.lstrip().startswith("#"):
            continue
        name, key = parts if len(parts) == 2 else (str(number), parts[0])
        if len(parts) > 2 or len(key) < MIN_KEY_LENGTH:
            raise BadParameter(
                f"{path}, line {number}: give a key of at least {MIN_KEY_LENGTH} characters, or a name and a key; "
                "`openssl rand -hex 16` makes a key"
            )
        found[name] = sha256(key.encode()).digest()
    if not found:
        raise BadParameter(f"{path} has no key: give one per line")
    return found
