"""HTML from the templates in templates/.

Titles, addresses and words are strangers' text. Autoescape makes sure that none of it becomes markup, `finalize` drops
characters that are invisible or change the direction of text, and only http and https addresses become links.
"""

import hashlib
import json
import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, Undefined
from markupsafe import Markup

from cocite.http.page.state import MAX_SHOWN, PATHS, WITH_DATE, WITH_METHOD, State
from cocite.http.responses import FOREVER, Reply
from cocite.operations import COMPARED_METHODS, DEFAULT_METHOD
from cocite.related import methods
from cocite.related.evidence import ListedTogether
from cocite.results import present
from cocite.results.answer import Answer
from cocite.results.pictures import is_web_address
from cocite.results.strips import GAP, NEIGHBOUR, QUERY_LINK, RESULT_LINK
from cocite.text import clean, count

MAX_SHOWN_LENGTH = 300
"""Characters of a stranger's text."""
MEDIA_TYPES = {"css": b"text/css; charset=utf-8", "js": b"text/javascript; charset=utf-8", "svg": b"image/svg+xml"}
MARKS = {QUERY_LINK: "i", RESULT_LINK: "b", NEIGHBOUR: "span", GAP: "small"}
"""The elements of a strip."""
_SCHEME = re.compile(r"\bhttps?://(?:www\.)?")


@cache
def assets() -> dict[str, Reply]:
    """The static files by name: read once and served from memory, so that no path leads anywhere else."""
    found = {}
    for file in resources.files("cocite.http.page").joinpath("static").iterdir():
        if media := MEDIA_TYPES.get(file.name.rpartition(".")[2]):
            body = file.read_bytes()
            digest = hashlib.blake2b(body, digest_size=4).hexdigest()
            found[file.name] = Reply(200, body, media, f'"{digest}"'.encode(), cache_control=FOREVER)
            found[file.name].compress()
    return found


def asset(name: str) -> str:
    """The address of a static file, with a digest of its content: browsers may keep it forever."""
    return f"/static/{name}?v={assets()[name].etag[1:-1].decode()}"


def render(template: str, **values: Any) -> bytes:
    """A page."""
    return environment().get_template(template).render(values).encode("utf-8", "replace")


@cache
def environment() -> Environment:
    """The templates, and what all of them may use."""
    loader = PackageLoader("cocite.http.page")
    env = Environment(loader=loader, autoescape=True, finalize=visible, trim_blocks=True, lstrip_blocks=True)
    env.filters |= {
        "address": lambda url: cut(shown_address(url)),
        "briefly": lambda answer: shorter(present.briefly(answer)),
        "clean": clean,
        "commas": "{:,}".format,
        "count": count,
        "cut": cut,
        "is_web": is_web_address,
        "kind": lambda kind: kind.__name__,
        "pretty": lambda value: json.dumps(value, indent=1, ensure_ascii=False),
        "last_part": lambda heading: cut(heading.rpartition(" / ")[2] or heading, 70),
        "lists": lists,
        "reasons": lambda answer: [shorter(line) for line in present.lines(answer)],
        "sentence": sentence,
        "without": lambda urls, url: tuple(each for each in urls if each != url),
    }
    env.globals |= {
        "DEFAULT_METHOD": DEFAULT_METHOD,
        "MAX_SHOWN": MAX_SHOWN,
        "PATHS": PATHS,
        "START": State(),
        "MARKS": MARKS,
        "WITH_DATE": WITH_DATE,
        "WITH_METHOD": WITH_METHOD,
        "about": lambda url: State(urls=(url,)).address(),
        "asset": asset,
        "at": lambda view, words: State(view, words=words).address(),
        "method_names": method_names,
        "name_of": name_of,
        "recording": False,
    }
    env.globals["parts"] = env.get_template("parts.html").module
    return env


def method_names(chosen: str = "") -> list[str]:
    """The methods in the order in which they are offered, with one that is chosen."""
    return list(dict.fromkeys((DEFAULT_METHOD, *COMPARED_METHODS, *methods.names(), *([chosen] if chosen else ()))))


def lists(answer: Answer) -> str:
    """On how many lists a result is beside the page asked about; empty if that isn't known."""
    found = next((each for each in answer.reasons if each.kind == ListedTogether.kind), None)
    return f"{found.count:,} of {count(found.of, 'list')}" if found and found.count and found.of else ""


def visible(value: Any) -> Any:
    """Text without invisible characters; a space at either end stays, since parts are put together."""
    if isinstance(value, Markup | int | float | Undefined):
        return value
    text = str(value)
    before, after = (" " if each.isspace() else "" for each in (text[:1], text[-1:]))
    plain = clean(text)
    return f"{before}{plain}{after}" if plain else before


def cut(text: str, length: int = MAX_SHOWN_LENGTH) -> str:
    """Text of a limited length."""
    plain = clean(text)
    return plain if len(plain) <= length else plain[: length - 1] + "…"


def shown_address(url: str) -> str:
    """An address as people read it: without scheme, `www.`, fragment and the last slash.

    It may be any text of a stranger: `urlsplit` would raise an error for some.
    """
    if not is_web_address(url):
        return url
    place, _, query = url.partition("://")[2].partition("#")[0].partition("?")
    return place.removeprefix("www.").rstrip("/") + (f"?{query}" if query else "")


def name_of(url: str, title: str) -> str:
    """What to call a page: its title or, without one, its address."""
    return cut(title) or cut(shown_address(url))


def shorter(reason: str) -> str:
    """A reason with addresses as people read them."""
    return cut(_SCHEME.sub("", reason))


def sentence(text: str) -> str:
    """A message as a sentence; one that begins with an address stays as it is."""
    first = text if "." in text.partition(" ")[0] else f"{text[:1].upper()}{text[1:]}"
    return f"{first.rstrip('.')}."
