"""A question in words → a query of tantivy.

Words and "phrases"; nothing else is syntax, so no question is an error. What stands together without spaces but is
several words (`node.js`, `wi-fi`, a run of Han characters) is a phrase.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import tantivy
from tantivy import Occur, Query

from cocite.words.tokens import words_of

LONGEST = 2000
"""Characters of a question that are read."""
MOST = 32
"""Words and phrases of a question that are asked for."""
WEIGHTS = {"title": 4.0, "anchors": 3.0, "around": 2.5, "headings": 2.0, "text": 1.0, "address": 0.3}
"""How much a field counts (docs/decisions/0030)."""
BESIDE = 0.6
"""How much the fields count that do not have the word best."""
OTHER_FORM = 0.9
"""How much a word counts with a plural s that the question does not have, or without one that it has."""
SHORTEST = 3
"""Letters of a word that may have another form."""
_PIECE = re.compile(r'"([^"]*)"|“([^”]*)”|([^\s"“]+)')

Clause = tuple[str, ...]
"""A word, or the words of a phrase."""


def clauses_of(question: str) -> list[Clause]:
    """The words and phrases of a question, each once."""
    pieces = (tuple(words_of(next(filter(None, found), ""))) for found in _PIECE.findall(question[:LONGEST]))
    return list(dict.fromkeys(piece for piece in pieces if piece))[:MOST]


def query_of(schema: tantivy.Schema, clauses: Sequence[Clause], least: int) -> Query:
    """Pages that have at least `least` of the clauses; better if they have them one after the other."""
    main = Query.boolean_query([(Occur.Should, anywhere(schema, forms(clause))) for clause in clauses], least)
    if len(clauses) == 1:
        return main
    *before, last = (word for clause in clauses for word in clause)
    beside = [(*before, *form) for form in forms((last,))]
    return Query.boolean_query([(Occur.Must, main), (Occur.Should, anywhere(schema, beside))])


def forms(clause: Clause) -> list[Clause]:
    """A word, and with a plural s or without; phrases stay as they are."""
    (word, *more) = clause
    if more or len(word) < SHORTEST or not word.isascii() or not word.isalpha() or word.endswith("ss"):
        return [clause]
    return [clause, (word.removesuffix("s") if word.endswith("s") else word + "s",)]


def anywhere(schema: tantivy.Schema, clauses: Sequence[Clause]) -> Query:
    """Pages that have a word or a phrase in any field: the field that has it best, and a little of the others.

    Of several clauses the further ones are other forms of the first.
    """
    found = [
        Query.boost_query(one_field(schema, field, clause), weight * (1.0 if clause is clauses[0] else OTHER_FORM))
        for field, weight in WEIGHTS.items()
        for clause in clauses
    ]
    return Query.disjunction_max_query(found, BESIDE)


def one_field(schema: tantivy.Schema, field: str, clause: Clause) -> Query:
    """Pages that have a word or a phrase in this field."""
    if len(clause) == 1:
        return Query.term_query(schema, field, clause[0])
    return Query.phrase_query(schema, field, list(clause))
