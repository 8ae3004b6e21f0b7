"""Parameters that several operations have, with the bounds of each surface."""

from collections.abc import Mapping
from typing import Any

from cocite.operations import DEFAULT_METHOD
from cocite.pages.date import DATE_PATTERN
from cocite.parameters import parameter

MAX_RESULTS = 100_000
MAX_METHOD_LENGTH = 1 << 28  # with the lists of pages that it takes, such as those of a file
MAX_PAGES = 1000
MAX_ADDRESS_LENGTH = 4096
TEXT: dict[str, dict[str, Any]] = {surface: {"max_length": 1000} for surface in ("http", "mcp")}
ADDRESS: dict[str, dict[str, Any]] = {surface: {"max_length": MAX_ADDRESS_LENGTH} for surface in ("http", "mcp")}
ADDRESSES = {surface: ADDRESS[surface] | {"max_items": most} for surface, most in (("http", 50), ("mcp", 20))}
"""Bounds of a text, of an address, and of a list of addresses that strangers send."""
ADDRESS_HELP = "Address of a page, in any spelling"


def on_surfaces(bounds: Mapping[str, Mapping[str, Any]] = {}, **names: str) -> dict[str, dict[str, Any]]:
    """What surfaces call a parameter, and its bounds there."""
    of_name = {surface: {"name": name} for surface, name in names.items()}
    return {each: {**bounds.get(each, {}), **of_name.get(each, {})} for each in (*bounds, *names)}


def urls(
    help: str = f"{ADDRESS_HELP}; with several, pages related to all of them", required: bool = True,
    python: str = "pages",
) -> Any:  # fmt: skip
    """The pages that a question is about."""
    on_servers = {surface: bounds | {"required": True} for surface, bounds in ADDRESSES.items()}
    return parameter(
        (), help, metavar="URL", positional=True, required=required, max_items=MAX_PAGES, example=["nytimes.com"],
        on=on_surfaces(on_servers, http="url", python=python),
    )  # fmt: skip


def url() -> Any:
    """The one page that a question is about."""
    return parameter("", ADDRESS_HELP, metavar="URL", positional=True, required=True, example="nytimes.com", on=ADDRESS)


def some_pages(help: str, maximum: int = MAX_PAGES) -> Any:
    """Pages beside the words of a topic."""
    on = on_surfaces(ADDRESSES, cli="page", http="url", python="pages")
    return parameter((), help, metavar="URL", max_items=maximum, on=on)


def topic() -> Any:
    """The words that a root set is found by."""
    return parameter(
        "", "Words of a topic; the best pages for them are the root set", metavar="QUERY", positional=True, joined=True,
        example="password manager", on=on_surfaces(TEXT, http="q"),
    )  # fmt: skip


def exclude() -> Any:
    """Pages that results should be unlike."""
    return parameter(
        (), "Exclude this page and pages closer to it than to the query; may be repeated", metavar="URL",
        max_items=MAX_PAGES, on=on_surfaces(ADDRESSES, cli="not", http="not", mcp="not_urls", python="unwanted"),
    )  # fmt: skip


def method(
    default: str = DEFAULT_METHOD,
    help: str = "How to relate pages, with parameters in the name: companion(parents=500)",
    **about: Any,
) -> Any:
    """The method, with its parameters."""
    return parameter(
        default, help, max_length=MAX_METHOD_LENGTH, **{
            "metavar": "METHOD", "flags": ("--method", "-m"), "example": "companion", "calls": True,
            "on": TEXT, **about,
        },
    )  # fmt: skip


def k(
    default: int = 10, help: str = "Maximum number of results", mcp_default: int | None = None, minimum: int = 1
) -> Any:
    """How many results."""
    mcp = {"minimum": 1, "maximum": 50, "default": default if mcp_default is None else mcp_default}
    return parameter(
        default, help, flags=("-k",), minimum=minimum, maximum=MAX_RESULTS,
        on={"http": {"maximum": 1000}, "mcp": mcp},
    )  # fmt: skip


def max_tokens() -> Any:
    """How long the answer for an assistant may be."""
    help = "Maximum length of the answer's text in tokens; snippets, then the last results, are dropped"
    return parameter(1200, help, minimum=100, maximum=20_000, surfaces=("mcp",))


def as_of(help: str = "Answer from the captures up to this date, such as 2009-06; needs a store with history") -> Any:
    """The date that a question is about."""
    return parameter("", help, metavar="DATE", max_length=40, pattern=DATE_PATTERN, label="As of", example="2009-06")


def group_by(**about: Any) -> Any:
    """What groups of pages are made by."""
    return parameter(
        "lli", "Group pages that are listed in the same sections (lli) or have similar words and links (integrated)",
        metavar="lli|integrated", choices=("lli", "integrated"), **about,
    )  # fmt: skip


def command_option(default: Any, help: str, **about: Any) -> Any:
    """A parameter that only the command line has."""
    return parameter(default, help, surfaces=("cli",), **about)


def store() -> Any:
    """The store, by its path instead of an option."""
    return command_option("", "The store to use, instead of -i", metavar="STORE", positional=True)


def quiet(help: str = "Don't show progress") -> Any:
    """Whether to say less."""
    return command_option(False, help, flags=("--quiet", "-q"))


def address_file() -> Any:
    """A file of addresses."""
    return command_option("", "More addresses: a file, one per line", metavar="FILE", flags=("--file", "-f"))
