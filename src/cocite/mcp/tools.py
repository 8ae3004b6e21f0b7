"""Tools made from operations: a schema from the parameters, and a short form of each result for assistants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter as Argument
from inspect import Signature
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult
from pydantic import BaseModel, BeforeValidator, Field

from cocite.mcp import shapes
from cocite.mcp.shapes import MAX_REASON_CHARS, MAX_URL_CHARS, quoted
from cocite.operations.bounds import bounded
from cocite.operations.declare import Operation, operations_by_name, parameters_on
from cocite.operations.pages.compare import Comparison
from cocite.operations.words.communities import CommunitiesFound
from cocite.parameters import Parameter
from cocite.results.answer import Answer, Answers
from cocite.results.naming import title_of
from cocite.results.reasons import brief, sentences
from cocite.snapshot import Snapshot

MAX_REASONS = 3
"""Reasons for each page, the best: more would make results long."""
Shape = Callable[[Snapshot, Any, Any, str], BaseModel]


def tools() -> dict[str, type[Operation]]:
    """The operations that assistants have, by the name of the tool."""
    return {each.about.tool: each for each in operations_by_name().values() if each.about.tool}


def signature(operation: type[Operation]) -> Signature:
    """The parameters of a tool, from which the SDK makes its schema, and the type of its result."""
    arguments = [
        Argument(
            each.name,
            Argument.KEYWORD_ONLY,
            annotation=_annotation(each),
            default=Argument.empty if each.required else [] if each.many else each.default,
        )
        for _, each in parameters_on(operation, "mcp")
    ]
    arguments.sort(key=lambda each: each.default is not Argument.empty)
    return Signature(arguments, return_annotation=Annotated[CallToolResult, SHAPES[operation.about.name][0]])


def _annotation(each: Parameter) -> Any:
    """A parameter with its bounds, as Pydantic takes them. One text is accepted where several may be given."""
    kind: Any = Literal[each.choices] if each.choices else each.type
    bounds: dict[str, Any] = {}
    if each.type in (int, float):
        bounds = {"ge": each.minimum, "le": each.maximum}
    elif each.type is str and not each.choices:
        bounds = {"max_length": each.max_length, "pattern": each.pattern or None}
    about: dict[str, Any] = {"description": f"{each.help}."}
    if not each.many:
        return Annotated[kind, Field(**bounds, **about)]
    item = Annotated[kind, Field(min_length=1, **bounds)]
    return Annotated[
        list[item],
        BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
        Field(min_length=1 if each.required else None, max_length=each.max_items, **about),
    ]


def run(web: Snapshot, asked: Operation) -> BaseModel:
    """The result of an operation in its short form. Methods are bounded: strangers' texts may ask for them."""
    asked = bounded(asked)
    result = asked.run(web)
    return SHAPES[asked.about.name][1](web, asked, result, asked.why_empty(web, result))


def _pages(web: Snapshot, asked: Any, answers: Answers, note: str) -> shapes.Found:
    own = {web.graph.canonical(web.graph.find(url)).removeprefix("name:") for url in asked.urls}
    return shapes.Found(
        query=_urls(asked.urls),
        asked_instead=[_url(page) for page in answers.used if page not in own],
        method=answers.method,
        pages=[
            shapes.Answer(url=_url(each.url), title=quoted(each.title), score=each.score, why=_why(each))
            for each in answers
        ],
        note=note,
    )


def _why(answer: Answer) -> list[str]:
    """The strongest reasons."""
    found = dict.fromkeys((*brief(answer.reasons), *sentences(answer.reasons)))
    return [quoted(text, MAX_REASON_CHARS) for text in found][:MAX_REASONS]


def _comparison(web: Snapshot, asked: Any, result: Comparison, note: str) -> shapes.Comparison:
    titles = {answer.url: answer.title for answers in result.by_method.values() for answer in answers}
    ranks = {name: {answer.url: answer.rank for answer in answers} for name, answers in result.by_method.items()}
    pages = [
        shapes.Compared(url=_url(url), title=quoted(titles[url]), ranks={name: ranks[name][url] for name in names})
        for url, names in result.votes()
    ]
    return shapes.Comparison(query=_urls(asked.urls), methods=list(result.by_method), pages=pages, note=note)


def _communities(web: Snapshot, asked: Any, result: CommunitiesFound, note: str) -> shapes.Communities:
    found = [
        shapes.Community(
            about=[quoted(word) for word in each.keywords],
            pages=each.pages,
            authorities=_members(each.authorities),
            hubs=_members(each.hubs),
        )
        for each in result
    ]
    query = ", ".join([*([quoted(asked.query)] if asked.query.strip() else []), *_urls(asked.urls)])
    return shapes.Communities(query=query, communities=found, left_out=result.eliminated, note=note)


def _keywords(web: Snapshot, asked: Any, result: Any, note: str) -> shapes.Keywords:
    if asked.page:
        main, words = [quoted(word) for word in result.main], _words(result.keywords[: asked.k])
        return shapes.Keywords(asked=[_url(result.page)], main=main, of_page=words, similar=[], logical=[], note=note)
    return shapes.Keywords(
        asked=[quoted(word) for word in result.words],
        main=[],
        of_page=[],
        similar=_words(result.similar),
        logical=_words(result.logical),
        note=note,
    )


def _links(web: Snapshot, asked: Any, result: Any, note: str) -> shapes.Links:
    out = [
        shapes.LinkOut(url=_url(link.url), title=quoted(link.text or link.title), section=quoted(section.heading))
        for section in result.blocks
        for link in section.links
    ]
    cited = [
        shapes.LinkIn(
            url=_url(each.url), title=quoted(each.title), section=quoted(each.heading), text=quoted(each.text)
        )
        for each in result.cited_by
    ]
    page = result.page
    note = note or ("" if page["read"] else "The page itself wasn't fetched: only links to it are known.")
    return shapes.Links(
        page=shapes.Page(url=_url(page["url"]), title=quoted(title_of(web.graph, web.graph.find(page["url"])))),
        links_out=page["links_out"],
        links_in=page["links_in"],
        out=out,
        cited_by=cited,
        note=note,
    )


SHAPES: dict[str, tuple[type[BaseModel], Shape]] = {
    "related": (shapes.Found, _pages),
    "hubs": (shapes.Found, _pages),
    "search": (shapes.Found, _pages),
    "recommend": (shapes.Found, _pages),
    "compare": (shapes.Comparison, _comparison),
    "communities": (shapes.Communities, _communities),
    "keywords": (shapes.Keywords, _keywords),
    "links": (shapes.Links, _links),
}
"""The short form of each operation's result: its type, and how it is made."""


def _members(members: Sequence[Any]) -> list[shapes.Page]:
    return [shapes.Page(url=_url(each.url), title=quoted(each.title)) for each in members]


def _words(found: Sequence[Any]) -> list[shapes.Keyword]:
    return [shapes.Keyword(word=quoted(each.word), relevance=each.relevance, pages=each.pages) for each in found]


def _url(url: str) -> str:
    return quoted(url, MAX_URL_CHARS)


def _urls(urls: Sequence[str]) -> list[str]:
    return [_url(url) for url in urls]
