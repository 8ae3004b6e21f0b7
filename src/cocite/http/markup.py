"""HTML from texts of strangers: everything is escaped, and only http and https become links."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from cocite.cli.terminal import clean

LONGEST = 300
"""Characters of a text that are shown."""


class Markup(str):
    """HTML that is safe as it is."""

    __slots__ = ()


def text(value: object, most: int = LONGEST) -> Markup:
    """A text, escaped, without what is invisible or turns it round; cut if it is too long."""
    given = str(value)
    plain = clean(given)
    before, after = (" " if each.isspace() else "" for each in (given[:1], given[-1:]))  # parts are put together
    plain = plain if len(plain) <= most else plain[: most - 1] + "…"
    return Markup(escape(f"{before}{plain}{after}" if plain else before, quote=True))


def verbatim(value: str) -> Markup:
    """A text of our own with its spaces and line ends, escaped."""
    return Markup(escape(value))


def tag(kind: str, /, *inside: str | Iterable[str], **attributes: object) -> Markup:
    """An element; what is inside is escaped unless it is markup. `class_` is class; None leaves an attribute out."""
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{_attribute(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{kind}{given}>{joined(*inside)}</{kind}>")


def void(kind: str, /, **attributes: object) -> Markup:
    """An element that holds nothing."""
    return Markup(tag(kind, **attributes).removesuffix(f"</{kind}>"))


def joined(*parts: str | Iterable[str]) -> Markup:
    """Parts one after another."""
    flat = (each for part in parts for each in ([part] if isinstance(part, str) else part))
    return Markup("".join(each if isinstance(each, Markup) else text(each) for each in flat))


def _attribute(value: object) -> str:
    return escape(str(value).encode("utf-8", "replace").decode(), quote=True)


def link_out(url: str, label: str | Markup, **attributes: object) -> Markup:
    """A link to a page of a stranger, which learns nothing of where one comes from; plain if it is no web address."""
    where = outside(url)
    shown = tag("bdi", label)
    return tag("a", shown, href=where, rel="noopener noreferrer nofollow", **attributes) if where else shown


def outside(url: str) -> str | None:
    """An address that a browser may follow, None if it is another kind of thing."""
    return url if url.lower().startswith(("http://", "https://")) else None


def shown_address(url: str) -> str:
    """An address as people read it: without scheme, `www.` and the last slash.

    It may be any text of a stranger: `urlsplit` would raise an error for some.
    """
    if outside(url) is None:
        return url
    place, _, query = url.partition("://")[2].partition("#")[0].partition("?")
    return place.removeprefix("www.").rstrip("/") + (f"?{query}" if query else "")
