"""What assistants may give: types with bounds, which become the schemas that they read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from cocite.http.settings import LONGEST_ADDRESS, LONGEST_TEXT
from cocite.results import COMPARED, DEFAULT_METHOD

MOST_URLS = 20
MOST_METHODS = 8
MOST_WORDS = 20
MOST = 50
NONE: list[str] = []
"""Nothing given: the default that schemas show."""


def _listed(given: Any) -> Any:
    """A single text as a list of one: assistants often give one address where several may stand."""
    return [given] if isinstance(given, str) else given


Address = Annotated[str, Field(min_length=1, max_length=LONGEST_ADDRESS)]
Word = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]

Urls = Annotated[
    list[Address],
    BeforeValidator(_listed),
    Field(
        min_length=1,
        max_length=MOST_URLS,
        description="Addresses of pages, in any spelling (nytimes.com will do). Of several, related to all of them.",
    ),
]
NotUrls = Annotated[
    list[Address],
    BeforeValidator(_listed),
    Field(max_length=MOST_URLS, description="Pages that are not wanted, nor what is nearer to them."),
]
Url = Annotated[Address, Field(description="Address of a page, in any spelling: nytimes.com will do.")]
K = Annotated[int, Field(ge=1, le=MOST, description="So many pages at most.")]
KEach = Annotated[int, Field(ge=1, le=MOST, description="So many of each kind at most.")]
Method = Annotated[
    str,
    Field(
        max_length=LONGEST_TEXT,
        description=f"How to relate pages; {DEFAULT_METHOD} joins links, sections and words, and is best for most "
        "questions. Others: companion, cocitation, proximity, extended_cocitation, lli, walk, semantic.",
    ),
]
Methods = Annotated[
    list[Word],
    BeforeValidator(_listed),
    Field(max_length=MOST_METHODS, description=f"Methods to compare; none: {', '.join(COMPARED)}."),
]
PerSite = Annotated[int, Field(ge=0, le=MOST, description="At most so many pages of one site; 0: any number.")]
NotOwnSite = Annotated[bool, Field(description="No pages of the site that was asked about.")]
Kind = Annotated[
    Literal["hubs", "authorities"],
    Field(description="hubs: pages of good links on the topic; authorities: pages that many hubs link to."),
]
Query = Annotated[str, Field(max_length=LONGEST_TEXT, description="Words of a topic, such as static site generator.")]
AroundUrls = Annotated[
    list[Address],
    BeforeValidator(_listed),
    Field(max_length=MOST_URLS, description="Pages to start from, instead of words or beside them."),
]
Words = Annotated[
    list[Word],
    BeforeValidator(_listed),
    Field(max_length=MOST_WORDS, description="Words to go on from; leave them out to ask about a page by url."),
]
OfUrl = Annotated[
    str, Field(max_length=LONGEST_ADDRESS, description="Ask for the keywords of this page instead of giving words.")
]
