"""Words typed by a person → a query of tantivy.

There are words and "phrases"; nothing else is syntax, so no input is an error. Several words written without spaces
between them (`node.js`, `wi-fi`, a run of Han characters) are a phrase.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import tantivy
from tantivy import Occur, Query

from cocite.words.tokens import words_of

MAX_CHARACTERS = 2000
MAX_CLAUSES = 32
WEIGHTS = {"title": 4.0, "anchors": 3.0, "around": 2.5, "headings": 2.0, "text": 1.0, "address": 0.3}
"""Weight of each field (docs/decisions/0030)."""
OTHER_FIELDS = 0.6
"""Weight of the fields other than the one that matches best."""
OTHER_FORM = 0.9
"""Weight of a word with a plural s added or removed."""
MIN_PLURAL_LETTERS = 3
"""Shorter words have no other form."""
_PIECE = re.compile(r'"([^"]*)"|“([^”]*)”|([^\s"“]+)')

Clause = tuple[str, ...]
"""A word, or the words of a phrase."""


def clauses_of(text: str) -> list[Clause]:
    """The different words and phrases of a search text."""
    pieces = (tuple(words_of(next(filter(None, found), ""))) for found in _PIECE.findall(text[:MAX_CHARACTERS]))
    return list(dict.fromkeys(piece for piece in pieces if piece))[:MAX_CLAUSES]


def query_of(schema: tantivy.Schema, clauses: Sequence[Clause], minimum: int) -> Query:
    """Match pages with at least `minimum` of the clauses; those that have them side by side score higher."""
    main = Query.boolean_query([(Occur.Should, anywhere(schema, forms(clause))) for clause in clauses], minimum)
    if len(clauses) == 1:
        return main
    *before, last = (word for clause in clauses for word in clause)
    adjacent = [(*before, *form) for form in forms((last,))]
    return Query.boolean_query([(Occur.Must, main), (Occur.Should, anywhere(schema, adjacent))])


def forms(clause: Clause) -> list[Clause]:
    """A word and its form with or without a plural s; a phrase has one form."""
    (word, *more) = clause
    if more or len(word) < MIN_PLURAL_LETTERS or not word.isascii() or not word.isalpha() or word.endswith("ss"):
        return [clause]
    return [clause, (word.removesuffix("s") if word.endswith("s") else word + "s",)]


def anywhere(schema: tantivy.Schema, clauses: Sequence[Clause]) -> Query:
    """Match a word or phrase in any field: the best field counts in full, the others a little.

    Clauses after the first are other forms of it.
    """

    def match(field: str, clause: Clause, weight: float) -> Query:
        one = len(clause) == 1
        query = Query.term_query(schema, field, clause[0]) if one else Query.phrase_query(schema, field, list(clause))
        return Query.boost_query(query, weight if clause is clauses[0] else weight * OTHER_FORM)

    found = [match(field, clause, weight) for field, weight in WEIGHTS.items() for clause in clauses]
    return Query.disjunction_max_query(found, OTHER_FIELDS)
