"""What stands around every view of the web page: head, the field to ask in, tabs, foot, and help for the keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cocite.http.assets import asset
from cocite.http.holding import Served
from cocite.http.markup import Markup, joined, tag, text, void
from cocite.http.state import OF_PAGES, OF_WORDS, PATHS, K, State
from cocite.related import methods
from cocite.results import COMPARED, DEFAULT_METHOD

NOTHING = Markup("")
TABS = {
    "related": "Related",
    "compare": "Compare",
    "picture": "Picture",
    "hubs": "Hubs",
    "search": "Pages",
    "communities": "Communities",
    "keywords": "Keywords",
}
KEYS = (
    ("/", "ask about something"),
    ("j, k", "next, previous answer"),
    ("Enter", "open it"),
    ("e", "why it is related"),
    ("r", "what is related to it"),
    ("a", "add it to the question"),
    ("x", "not like this"),
    ("1 … 5", "another view"),
    ("t", "light or dark"),
    ("?", "this help"),
)


class Content(NamedTuple):
    """What a view shows."""

    title: str
    body: Markup
    status: int = 200
    wide: bool = False
    above: Markup = NOTHING  # the field to ask in


def document(state: State, content: Content, web: Served | None = None) -> bytes:
    """A whole page."""
    title = f"{content.title[:100]} – cocite" if content.title else "cocite – related pages"
    return whole(
        title,
        tag("a", "To the answers", href="#answers", class_="skip"),
        tag("header", tag("div", brand(), tools(), class_="top"), content.above, asking(state), tabs(state)),
        tag("main", content.body, id="answers", tabindex="-1"),
        foot(web),
        keyboard(),
        look="first" if content.above else "wide" if content.wide else None,
    )


def whole(title: str, *parts: Markup, look: str | None = None) -> bytes:
    """Parts as one HTML document."""
    body = tag("body", *parts, class_=look)
    return f"<!doctype html>\n{tag('html', tag('head', head(title)), body, lang='en')}\n".encode()


def head(title: str) -> Markup:
    """The head of every page. The script is small and waited for, lest a chosen theme come after the first paint."""
    return joined(
        void("meta", charset="utf-8"),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        void("link", rel="stylesheet", href=asset("cocite.css")),
        void("link", rel="icon", href=asset("icon.svg"), type="image/svg+xml"),
        tag("script", src=asset("cocite.js")),
    )


def brand() -> Markup:
    """The name, which leads to the start."""
    return tag("a", joined("co", tag("span", "cite")), href="/", class_="brand")


def tools() -> Markup:
    """Buttons that need the script, and are not there without it."""
    return tag(
        "div",
        tag("button", "Copy address", type="button", id="share", class_="quiet", hidden=True),
        tag("button", "Theme", type="button", id="theme", class_="quiet", hidden=True),
        tag("button", "?", type="button", id="keys", class_="quiet", hidden=True, aria_label="Keyboard help"),
        class_="tools",
    )


def asking(state: State) -> Markup:
    """The field to ask in. An address is asked about, anything else is searched for."""
    words = state.view == "communities" or (state.view == "keywords" and not state.urls)
    view = "related" if state.view == "search" else state.view
    value = state.words if words or state.view == "search" else " ".join(state.urls)
    hint = "Words" if words else "Address, or words"
    label = "Words" if words else "Addresses of pages, or words"
    same = view in ("related", "picture") and state.view != "search"
    return tag(
        "form",
        tag("label", label, for_="url", class_="unseen"),
        void("input", type="search", id="url", name="q" if words else "url", value=value, required=True,
             autofocus=not state.asks, placeholder=hint, autocapitalize="none", autocomplete="off", spellcheck="false",
             maxlength=8192, data_words="1" if words else None),
        tag("button", "Search" if words or state.view == "search" else joined("Find", tag("span", " related pages"))),
        *(kept(state) if view == state.view else ()),
        options(state) if same and state.asks else NOTHING,
        class_="ask", action=PATHS[view], role="search",
    )  # fmt: skip


def kept(state: State) -> list[Markup]:
    """Parts of the state that a new question keeps."""
    pairs = [("method", method) for method in state.methods]
    pairs += [("not", url) for url in state.unwanted]
    pairs += [("authorities", "true")] if state.authorities else []
    pairs += (
        [("k", str(state.k))] if state.k not in (0, K[state.view]) and state.view not in ("related", "picture") else []
    )
    return [void("input", type="hidden", name=name, value=value) for name, value in pairs]


def options(state: State) -> Markup:
    """What answers must be like."""
    usual = K[state.view]
    fields = [
        field("How many", void("input", type="number", name="k", id="k", min=1, max=100, value=state.k or usual), "k"),
        field("At most from one site", void("input", type="number", name="per_site", id="per_site", min=0, max=100,
                                            value=state.per_site or None, placeholder="any number"), "per_site"),
        field("In language", void("input", name="lang", id="lang", value=state.lang or None, placeholder="any",
                                  maxlength=20), "lang"),
        field("Captured since", void("input", type="date", name="since", id="since", value=state.since or None),
              "since"),
        check("not_own_site", "Not from its own site", state.not_own_site),
    ]  # fmt: skip
    fields += [check("group", "In groups, by topic", state.group)] if state.view == "related" else []
    given = state.k not in (0, usual) or state.per_site or state.lang or state.since or state.not_own_site
    return tag(
        "details",
        tag("summary", "Options"),
        tag("div", *fields, tag("button", "Apply"), class_="fields"),
        class_="options",
        open=bool(given or state.group),
    )


def field(label: str, entry: Markup, name: str) -> Markup:
    """An entry with its label."""
    return tag("div", tag("label", label, for_=name), entry)


def check(name: str, label: str, checked: bool, value: str = "true") -> Markup:
    """Something to tick."""
    own = name if value == "true" else f"{name}-{value}"
    box = void("input", type="checkbox", name=name, id=own, value=value, checked=checked)
    return tag("div", box, tag("label", label, for_=own), class_="tick")


def tabs(state: State) -> Markup:
    """The views of what is asked."""
    if not state.asks:
        return NOTHING
    links = [
        tag("a", TABS[view], href=state.but(view=view).address(), aria_current="page" if view == state.view else None)
        for view in (OF_PAGES if state.urls else OF_WORDS)
    ]
    return tag("nav", *links, class_="tabs", aria_label="Views")


def method_choice(state: State) -> Markup:
    """Every method, one click away."""
    names = methods.names()
    chosen = state.method or DEFAULT_METHOD
    first = [name for name in dict.fromkeys((DEFAULT_METHOD, *COMPARED)) if name in names]
    first += [chosen] if chosen not in first else []
    rest = [name for name in names if name not in first]
    about = tag("a", "What are these?", href="/methods", class_="soft")
    return tag(
        "nav",
        *(pill(state, name, chosen) for name in first),
        tag("details", tag("summary", "more"), tag("div", *(pill(state, name, chosen) for name in rest), about)),
        class_="pills",
        aria_label="Method",
    )


def pill(state: State, name: str, chosen: str) -> Markup:
    """A method to switch to."""
    where = state.but(methods=() if name == DEFAULT_METHOD else (name,)).address()
    return tag("a", name, href=where, aria_current="true" if name == chosen else None)


def exports(*links: tuple[str, str, str]) -> Markup:
    """Links to the same as files: a name, an address, and what the file is called."""
    return joined(*(joined(" · ", tag("a", name, href=where, download=file)) for name, where, file in links))


def foot(web: Served | None) -> Markup:
    """What answers, and where else to go."""
    parts: list[Markup] = []
    if web is not None:
        built = str(web.graph.manifest.get("built", ""))[:10]
        parts = [tag("span", f"{web.graph.pages:,} pages, {web.graph.links:,} links, of {built}")]
    links = (("Methods", "/methods"), ("HTTP interface", "/docs"))
    parts += [tag("a", name, href=where) for name, where in links]
    return tag("footer", *parts)


def keyboard(keys: Sequence[tuple[str, str]] = KEYS) -> Markup:
    """Help for the keyboard, which the script shows."""
    rows = [joined(tag("dt", tag("kbd", key)), tag("dd", what)) for key, what in keys]
    close = tag("form", tag("button", "Close"), method="dialog")
    return tag("dialog", tag("h2", "Keyboard", id="help-title"), tag("dl", *rows), close, id="help",
               aria_labelledby="help-title")  # fmt: skip


def note(*words: str | Markup) -> Markup:
    """Something to know."""
    return tag("p", *words, class_="note")


def trouble(message: str) -> Markup:
    """Something that did not work, in one line."""
    return tag("p", text(message, 1000), class_="note wrong", role="alert")
