"""One HTML page of a site → its words, and its links to other pages of the site.

A lighter pass than `sources/html_walk.py`, which tells blocks and contexts of every link: here it is words that count,
and what is content and what is navigation. 38 kB of HTML take 3.7 ms in place of 4.8, words included.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from html import unescape
from posixpath import dirname, normpath
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from cocite.site.stamps import without_related
from cocite.sources.html.blocks import is_boilerplate
from cocite.sources.html.encoding import decode
from cocite.sources.html.tokens import attributes, raw_content, tokens
from cocite.words.tokens import words_of

MOST_TEXT = 24_000
"""Characters of a page that are read for words: what a long page is about, its first 24,000 and its headings tell."""
MOST_WORDS = 400
"""Different words of a page that are kept, the most frequent."""
MOST_LINKS = 2000
IN_TITLE, IN_HEADING = 8, 3
"""What a word in the title, or in a heading, counts beside one in the text."""
ENOUGH = 200
"""Characters in <main> from which on what stands outside of it does not count."""
LONGEST_TITLE = 300
LONGEST_TEXT = 40
"""Characters of the text of a link by which it is known again on other pages."""
NAVIGATION, ELSEWHERE, MAIN = range(3)
_REGIONS = (
    "div", "section", "article", "main", "nav", "header", "footer", "aside", "ul", "ol", "dl", "table", "form", "td",
    "noscript", "template", "dialog", "svg",
)  # fmt: skip
_NEVER = frozenset(("nav", "footer", "aside", "noscript", "template", "dialog", "svg"))
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_GROUPS = frozenset(("p", "ul", "ol", "dl", "table", *_HEADINGS))
_SPACES = ("li", "br", "tr", "th", "dt", "dd", "pre", "blockquote", "option", "figcaption")
_ABOUT = ("html", "base", "meta", "link")
_MAIN = re.compile(r"""\brole\s*=\s*["']?main\b|\bid\s*=\s*["']?(?:main|content|main-content)["'\s>]""", re.IGNORECASE)
_ELSEWHERE = re.compile(r"(?i)(?!https?:)[a-z][a-z0-9+.-]*:")
OWN = "cocite:"
"""The names of <meta> by which a page says what its owner wants begin so."""


class Read(NamedTuple):
    """What was read of a page. Paths are those of addresses, from the root of the host: `/docs/a.html`."""

    title: str = ""
    heading: str = ""  # the first <h1>, else <h2>
    lang: str = ""
    words: dict[str, int] = {}  # noqa: RUF012 - never changed
    links: list[tuple[str, str, int]] = []  # noqa: RUF012 - path, text, group
    linked: float = 0.0  # the part of its words that stand in links
    leads_to: str = ""  # where it redirects to, or what it says is its proper address
    noindex: bool = False
    said: dict[str, str] = {}  # noqa: RUF012 - by <meta name="cocite:…">


def read_page(content: bytes, address: str) -> Read:
    """Read a page that will be at `address`; of a broken one it gives what there is."""
    walk = _Walk()
    for parts in tokens(decode(without_related(content), None).replace("\0", "")):
        walk.read(parts)
    return walk.result(address)


class _Walk:
    """One pass over the tags of a page."""

    def __init__(self) -> None:
        self.texts: tuple[list[str], list[str], list[str]] = ([], [], [])
        self.links: list[tuple[str, str, int, int]] = []  # href, text, group, region
        self.headings: dict[str, list[str]] = {}
        self.title, self.about = "", list[dict[str, str]]()
        self._stack: list[tuple[str, int]] = []  # open elements that may be regions, and the region around each
        self._region = ELSEWHERE
        self._group = 0
        self._heading: tuple[str, int] | None = None  # name, and where its text begins in the text of the region
        self._link: tuple[str, int] | None = None

    def read(self, parts: list[str | None]) -> None:
        """Read a list of tokens."""
        take, step_for, texts = iter(parts), _STEPS.get, self.texts
        text = next(take)
        texts[self._region].append(text or "")
        for href, _, label, raw, name, source, text in zip(*[take] * 7, strict=True):
            if name is not None:
                step = step_for(name)
                if step is not None:
                    step(self, name, source or "")
            elif href is not None:
                if len(self.links) < MOST_LINKS:
                    self.links.append((href, label or "", self._group, self._region))
                texts[self._region].append(label or "")
            elif raw is not None and raw[:5].lower() == "title" and not self.title:
                self.title = " ".join(raw_content(raw[:2000]).split())[:LONGEST_TITLE]
            if text:
                texts[self._region].append(text)

    def _words_since(self, start: int) -> str:
        return " ".join(unescape("".join(self.texts[self._region][start:])).split())[:LONGEST_TITLE]

    def _space(self, name: str = "", source: str = "") -> None:
        self.texts[self._region].append(" ")

    def _begin_group(self, name: str, source: str) -> None:
        self._group += 1
        self._end_heading()
        self.texts[self._region].append(" ")

    def _begin_heading(self, name: str, source: str) -> None:
        self._begin_group(name, source)
        self._heading = name.lower(), len(self.texts[self._region])

    def _begin_link(self, name: str, source: str) -> None:
        self._end_link()
        href = attributes(source).get("href", "")
        self._link = (href, len(self.texts[self._region])) if href else None

    def _note(self, name: str, source: str) -> None:
        if len(self.about) < MOST_LINKS:
            self.about.append({"": name.lower(), **attributes(source)})

    def _enter(self, name: str, source: str) -> None:
        name = name.lower()
        self._end_link()
        if name in _GROUPS:
            self._group += 1
        self._end_heading()
        self.texts[self._region].append(" ")
        self._stack.append((name, self._region))
        if self._region == NAVIGATION:
            return
        if name in _NEVER or (name == "header" and self._region != MAIN) or (source and is_boilerplate(source)):
            self._region = NAVIGATION
        elif name in ("main", "article") or (source and _MAIN.search(source)):
            self._region = MAIN

    def _leave(self, name: str, source: str) -> None:
        name = name[1:].lower()
        if name in _GROUPS:
            self._group += 1
        for at in range(len(self._stack) - 1, max(-1, len(self._stack) - 50), -1):
            if self._stack[at][0] == name:
                self._end_link()
                self._end_heading()
                self._region = self._stack[at][1]
                self.texts[self._region].append(" ")
                del self._stack[at:]
                return

    def _end_heading(self, name: str = "", source: str = "") -> None:
        if self._heading is not None:
            level, start = self._heading
            words = self._words_since(start).rstrip("¶#§ ")  # signs by which generators link a heading to itself
            if self._region != NAVIGATION and words:
                self.headings.setdefault(level, []).append(words)
            self._heading = None

    def _end_link(self, name: str = "", source: str = "") -> None:
        if self._link is not None:
            href, start = self._link
            if len(self.links) < MOST_LINKS:
                self.links.append((href, self._words_since(start), self._group, self._region))
            self._link = None

    def result(self, address: str) -> Read:
        """All of it."""
        self._end_link()
        self._end_heading()
        joined = [" ".join(unescape("".join(pieces)).split()) for pieces in self.texts]
        least = MAIN if len(joined[MAIN]) >= ENOUGH else ELSEWHERE
        if least == ELSEWHERE and not (joined[ELSEWHERE] or joined[MAIN]):
            least = NAVIGATION
        text = " ".join(joined[least:])[:MOST_TEXT]
        links = [(href, words, group) for href, words, group, region in self.links if region >= least]
        headings = [heading for name in sorted(self.headings) for heading in self.headings[name]]
        first = next((self.headings[name][0] for name in ("h1", "h2") if name in self.headings), "")
        counts = Counter(words_of(text))
        share = sum(len(words) for _, words, _ in links) / max(1, len(text))
        for words, times in (([self.title or first], IN_TITLE), (headings[:50], IN_HEADING)):
            for word in set(words_of(" ".join(words))):
                counts[word] += times
        kept = [(word, times) for word, times in counts.items() if len(word) > 1 and not word.isdigit()]
        if len(kept) > MOST_WORDS:
            kept = sorted(kept, key=lambda item: (-item[1], item[0]))[:MOST_WORDS]
        return Read(
            title=self.title,
            heading=first,
            words=dict(kept),
            links=_in_site(links, self._base(address), address),
            linked=round(min(1.0, share), 3),
            **self._head(address),
        )

    def _base(self, address: str) -> str:
        """From where references are resolved: the page's own address, unless a <base> says otherwise."""
        href = next((said["href"] for said in self.about if said[""] == "base" and said.get("href")), "")
        with suppress(ValueError):  # such as http://[
            found = urlsplit(urljoin(address, href.strip()))
            if found.scheme in ("http", "https") and found.netloc:
                return found.geturl()
        return address

    def _head(self, address: str) -> dict[str, Any]:
        """What the head says: language, whether it is to be found at all, where it leads, what the owner wants."""
        found: dict[str, Any] = {"said": {}}
        for said in self.about:
            name, content = said.get("name", "").lower(), said.get("content", "")
            if said[""] == "html":
                found.setdefault("lang", said.get("lang", "").lower().partition("-")[0][:8])
            elif name == "robots" and "noindex" in content.lower():
                found["noindex"] = True
            elif name.startswith(OWN) and len(content) < 10_000:
                found["said"][name.removeprefix(OWN)[:50]] = content
            elif said.get("http-equiv", "").lower() == "refresh" and "url=" in content.lower():
                target = content[content.lower().index("url=") + 4 :].strip(" \"'")
                found["leads_to"] = path_of(target, address) or ""
            elif said[""] == "link" and "canonical" in said.get("rel", "").lower().split():
                found.setdefault("leads_to", path_of(said.get("href", ""), address) or "")
        return found


_Step = Callable[[_Walk, str, str], None]
_STEPS: dict[str, _Step] = {"a": _Walk._begin_link, "/a": _Walk._end_link, "p": _Walk._begin_group, "/p": _Walk._space}
"""What to do for a tag; for one that is not here, which most are, there is nothing to do."""
_STEPS |= dict.fromkeys(_SPACES, _Walk._space) | dict.fromkeys(_ABOUT, _Walk._note)
_STEPS |= dict.fromkeys(_HEADINGS, _Walk._begin_heading) | {f"/{name}": _Walk._end_heading for name in _HEADINGS}
_STEPS |= dict.fromkeys(_REGIONS, _Walk._enter) | {f"/{name}": _Walk._leave for name in _REGIONS}
_STEPS |= {name.upper(): step for name, step in _STEPS.items()}


def _in_site(links: list[tuple[str, str, int]], base: str, address: str) -> list[tuple[str, str, int]]:
    """The links that stay on the host, by path; those to the page itself left out."""
    own, there = path_of(address, address), urlsplit(base)
    host, folder = there.netloc.lower(), there.path if there.path.endswith("/") else dirname(there.path) + "/"
    known: dict[str, str | None] = {}
    kept: dict[tuple[str, str, int], None] = {}
    for href, text, group in links:
        if href not in known:
            known[href] = _path(unescape(href), host, folder)
        path = known[href]
        if path is not None and path != own:
            kept[path, " ".join(unescape(text).split())[:LONGEST_TEXT].lower(), group] = None
    return list(kept)


def path_of(href: str, address: str) -> str | None:
    """The path on its host to which a reference on a page leads; None if it leads to another host or to no page."""
    own = urlsplit(address)
    return _path(href, own.netloc.lower(), own.path if own.path.endswith("/") else dirname(own.path) + "/")


def _path(href: str, host: str, folder: str) -> str | None:
    href = href.strip().partition("#")[0].partition("?")[0]
    if not href or _ELSEWHERE.match(href):
        return None
    if href.startswith("//") or href[:5].lower() in ("http:", "https"):
        try:
            there = urlsplit(href)
        except ValueError:
            return None
        if there.netloc.lower() != host:
            return None
        path = there.path or "/"
    else:
        path = href if href[0] == "/" else folder + href
    return normal(unquote(path))


def normal(path: str) -> str:
    """A path in one spelling: no dots, one slash, `…/` for `…/index.html`."""
    slash = path.endswith(("/", "/.", "/.."))
    path = "/" + normpath("/" + path).lstrip("/")
    path += "/" if slash and path != "/" else ""
    head, _, name = path.rpartition("/")
    return head + "/" if name.lower() in ("index.html", "index.htm", "index.xhtml") else path
