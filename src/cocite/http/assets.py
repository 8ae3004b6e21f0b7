"""The files of the web page: read once, served from memory by exact name, so that no path leads anywhere else.

A page names a file with a digest of its content (`/static/cocite.css?v=1f2e3d4c`), so browsers keep it for good.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

from cocite.http.replies import KEPT, Reply

MEDIA = {
    "css": b"text/css; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "svg": b"image/svg+xml",
    "txt": b"text/plain; charset=utf-8",
}


@cache
def assets() -> dict[str, Reply]:
    """Every file by its name."""
    found = {}
    for file in resources.files("cocite.http").joinpath("static").iterdir():
        media = MEDIA.get(file.name.rpartition(".")[2])
        if media is not None:
            body = file.read_bytes()
            digest = hashlib.blake2b(body, digest_size=4).hexdigest()
            found[file.name] = Reply(200, body, media, f'"{digest}"'.encode(), keep=KEPT)
            found[file.name].pack()
    return found


@cache
def asset(name: str) -> str:
    """The address of a file."""
    digest = assets()[name].etag.decode().strip('"')
    return f"/static/{name}?v={digest}"
