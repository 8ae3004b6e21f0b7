"""The slow truth: every published method as its paper and the rules of methods.md say, and nothing for speed.

The fast methods are compared with these on small random webs. They share no code with them; of `cocite` they read a
`Graph` at most. Where the papers are silent or contradict themselves, docs/decisions/0020 to 0024 say what was chosen.
"""

from tests.related.methods.naive_auto import auto
from tests.related.methods.naive_cited import cocitation, proximity
from tests.related.methods.naive_community import community
from tests.related.methods.naive_hits import companion, kleinberg
from tests.related.methods.naive_latent import densities, extended_cocitation, lli
from tests.related.methods.naive_web import Link, NaiveWeb, Ranking, View, hash64

__all__ = [
    "Link",
    "NaiveWeb",
    "Ranking",
    "View",
    "auto",
    "cocitation",
    "community",
    "companion",
    "densities",
    "extended_cocitation",
    "hash64",
    "kleinberg",
    "lli",
    "proximity",
]
