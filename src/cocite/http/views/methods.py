"""Every method: what it does, whose it is, what it takes."""

from __future__ import annotations

from cocite.http.frame import Content
from cocite.http.markup import Markup, joined, tag, verbatim
from cocite.registry import About
from cocite.related import methods
from cocite.results import DEFAULT_METHOD


def show() -> Content:
    """The list."""
    names = [DEFAULT_METHOD, *(name for name in methods.names() if name != DEFAULT_METHOD)]
    how = tag("p", "A method takes parameters in its name, also in the address of a page: ",
              tag("code", "method=companion(parents=500)"), ".", class_="lead")  # fmt: skip
    return Content("Methods", joined(tag("h1", "Methods"), how, *(told(methods.about(name)) for name in names)))


def told(about: About) -> Markup:
    """One method."""
    rows = [
        tag("tr", tag("th", tag("code", each.name), scope="row"), tag("td", each.help),
            tag("td", tag("code", spelled(each.default))))
        for each in about.parameters
    ]  # fmt: skip
    head = tag("tr", *(tag("th", name, scope="col") for name in ("parameter", "meaning", "usually")))
    table = tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_="scroll") if rows else ""
    more = [tag("pre", verbatim(about.description), tabindex="0")] if about.description else []
    return tag("section", tag("h2", about.name, id=about.name), tag("p", verbatim(about.summary)),
               tag("details", tag("summary", "How, and its parameters"), *more, table))  # fmt: skip


def spelled(value: object) -> str:
    """A default as it is written."""
    return str(value).lower() if isinstance(value, bool) else "" if value == () else str(value)
