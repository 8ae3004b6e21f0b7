"""What the documentation of the routes shows: an answer of each, and the shape of errors."""

from __future__ import annotations

from typing import Any

ABOUT = """Related pages, hubs, communities and keywords of one store of web links.

Addresses may be spelled as people do: `nytimes.com` is enough. Answers carry an `ETag`; asking again with
`If-None-Match` costs nothing as long as the store is the same. When the server is busy, limits that were not asked for
by name are lowered: `limits` in the answer then says which. If it is too busy it answers 503 with `Retry-After`.
"""
STORE_EXAMPLE = {"id": "5f0c8d3e9a41b726", "built": "2026-11-15T21:40:12+00:00", "pages": 182842, "links": 217633}
RELATED_EXAMPLE: dict[str, Any] = {
    "query": ["https://www.nytimes.com/"],
    "method": "companion",
    "params": {"parents": 2000, "window": 8},
    "used": ["nytimes.com"],
    "answers": [
        {
            "rank": 1,
            "url": "https://www.washingtonpost.com/",
            "title": "The Washington Post",
            "score": 0.41,
            "reasons": [
                {"kind": "cited together", "by": "https://example.org/list", "block": "Dailies", "distance": 1},
                {"kind": "cited together in all", "count": 17, "of": 60, "voices": 15},
            ],
        }
    ],
    "store": STORE_EXAMPLE,
    "milliseconds": 1.9,
}
ANSWERS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["query", "method", "params", "used", "answers", "store", "milliseconds"],
    "properties": {
        "query": {"type": "array", "items": {"type": "string"}},
        "method": {"type": "string"},
        "params": {"type": "object"},
        "used": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Differs from `query` where an address was chopped or led elsewhere.",
        },
        "answers": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["rank", "url", "title", "score", "reasons"],
                "properties": {
                    "rank": {"type": "integer"},
                    "url": {"type": "string"},
                    "title": {"type": "string"},
                    "score": {"type": "number", "description": "Comparable within one answer only."},
                    "why": {"type": "string", "description": "With `words`: the reasons in short."},
                    "reasons": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["kind"],
                            "properties": {"kind": {"type": "string"}, "says": {"type": "string"}},
                        },
                    },
                },
            },
        },
        "groups": {"type": "array", "items": {"type": "object"}},
        "limits": {"type": "object", "description": "In what the load made this answer differ from the usual one."},
        "note": {"type": "string", "description": "Why there are no answers."},
        "skipped": {"type": "object", "description": "What of a record could not be used."},
        "store": {"type": "object"},
        "milliseconds": {"type": "number"},
    },
}  # fmt: skip
ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message", "hint"],
            "properties": {
                "kind": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": "string"},
                "nearest": {"type": "array", "items": {"type": "string"}},
            },
        }
    },
}


def _error(description: str, kind: str, message: str, hint: str, **more: Any) -> dict[str, Any]:
    example = {"error": {"kind": kind, "message": message, "hint": hint, **more}}
    return {"description": description, "content": {"application/json": {"schema": ERROR_SCHEMA, "example": example}}}


ERRORS: dict[int | str, dict[str, Any]] = {
    400: _error("No address, or a request that is too large.", "BadAddress",
                "ftp address, not a web page: give one that begins with https:// instead of 'ftp://example.org/'",
                "give the address of a web page, such as nytimes.com or https://example.org/list"),
    404: _error("The store does not know this page, or word.", "UnknownPage",
                "'nytime.com' is not in this store; did you mean https://www.nytimes.com/?",
                "try one of the nearest known addresses, or POST a page record to /api/related",
                nearest=["https://www.nytimes.com/"]),
    422: _error("A parameter is unknown, of the wrong type or out of range.", "BadParameter",
                "k must be a whole number from 0 to 1000, not '5000'", "/docs says what may be given"),
    503: _error("Too busy, too slow, or without what the question needs; `Retry-After` says when to ask again.", "Busy",
                "too many questions are waiting", "try again in 2 s"),
}  # fmt: skip


def _answer(description: str, example: Any, schema: dict[str, Any] | None = None) -> dict[int | str, dict[str, Any]]:
    content = {"application/json": {"schema": schema or {"type": "object"}, "example": example}}
    return {200: {"description": description, "content": content}}


def _text(description: str, media: str, example: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": {media: {"schema": {"type": "string"}, "example": example}}}}


_TABLE = (
    "rank,score,url,title,why\n"
    "1,0.41,https://www.washingtonpost.com/,The Washington Post,Listed together on 17 of 60 pages\n"
)
RELATED = _answer("The answers, best first.", RELATED_EXAMPLE, ANSWERS_SCHEMA)
RELATED[200]["content"]["text/csv"] = {"schema": {"type": "string"}, "example": _TABLE}
RELATED[200]["content"]["text/tab-separated-values"] = {
    "schema": {"type": "string"}, "example": _TABLE.replace(",", "\t")
}  # fmt: skip
_FOUND = {"rank": 1, "url": "https://gohugo.io/", "title": "Hugo", "score": 31.2, "reasons": []}
SEARCH = _answer(
    "The pages that suit the words best.",
    {"query": ["static site generator"], "method": "search", "params": {}, "used": [], "answers": [_FOUND],
     "store": STORE_EXAMPLE, "milliseconds": 1.2},
    ANSWERS_SCHEMA,
)  # fmt: skip
COMPARE = _answer(
    "The answers of each method, and how many each two have in common.",
    {"methods": {"companion": RELATED_EXAMPLE}, "overlaps": [{"methods": ["companion", "cocitation"], "common": 6}]},
)
HUBS = _answer("The hubs, best first.", {**RELATED_EXAMPLE, "method": "hubfinder"}, ANSWERS_SCHEMA)
COMMUNITIES = _answer(
    "The communities, each with its hubs and authorities.",
    {"query": "password manager", "method": "community", "params": {"delta": 0.5},
     "base_set": {"root": 200, "pages": 2210, "links": 5120, "eliminated": 730, "threshold": 0.21, "k": 12, "rank": 118,
                  "noise": []},
     "communities": [{"name": "principal", "vector": 1, "end": "positive", "singular_value": 12.7, "pages": 310,
                      "keywords": ["password", "manager"],
                      "hubs": [{"url": "https://example.org/list", "title": "A list", "score": 0.3}],
                      "authorities": [{"url": "https://bitwarden.com/", "title": "Bitwarden", "score": 0.4}],
                      "eliminated": [], "eliminated_in_all": 0}],
     "store": STORE_EXAMPLE, "milliseconds": 48.0},
)  # fmt: skip
KEYWORDS = _answer(
    "Keywords, the most relevant first.",
    {"words": ["password"], "similar": [{"word": "manager", "relevance": 0.61, "pages": 120}],
     "logical": [{"word": "encryption", "relevance": 0.22, "pages": 310}]},
)  # fmt: skip
LINKS = _answer(
    "The links around the page.",
    {"query": "nytimes.com", "page": {"url": "https://www.nytimes.com/", "title": "", "links_out": 0, "links_in": 60},
     "blocks": [], "cited_by": [{"url": "https://example.org/list", "title": "Newspapers", "heading": "Dailies"}]},
)  # fmt: skip
METHODS = _answer(
    "The methods.",
    [{"name": "companion", "summary": "Companion: authorities of the vicinity graph of a page.", "description": "…",
      "parameters": [{"name": "parents", "type": "int", "default": 2000, "meaning": "B", "allowed": "a number"}]}],
    {"type": "array", "items": {"type": "object"}},
)  # fmt: skip
STORE = _answer(
    "The store.", {**STORE_EXAMPLE, "generation": 1, "search": True, "keywords": True, "ranks": ["hubrank"]}
)
HEALTH = _answer("It answers.", {"status": "ok", "version": "0.1.0", "store": {"id": "5f0c8d3e9a41b726"}})
METRICS = _text("Counts.", "text/plain", 'cocite_requests_total{route="related",status="200"} 1027\n')
RECORD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["url"],
                    "properties": {
                        "url": {"type": "string", "minLength": 1},
                        "title": {"type": "string"},
                        "text": {"type": "string"},
                        "headings": {"type": "array", "items": {"type": "string"}},
                        "links": {
                            "type": "array",
                            "items": {
                                "anyOf": [
                                    {"type": "string"},
                                    {
                                        "type": "object",
                                        "required": ["url"],
                                        "properties": {
                                            "url": {"type": "string"},
                                            "text": {"type": "string"},
                                            "block": {"type": "integer", "minimum": 0},
                                            "weight": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                                            "boilerplate": {"type": "boolean"},
                                        },
                                    },
                                ]
                            },
                        },
                    },
                },
                "example": {
                    "url": "https://example.org/my-new-list",
                    "title": "Newspapers",
                    "links": [{"url": "https://www.nytimes.com/", "text": "The New York Times", "block": 0}],
                    "headings": ["Dailies"],
                },
            }
        },
    }
}
