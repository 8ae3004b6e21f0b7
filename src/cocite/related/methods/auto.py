"""Auto, the default: what links, blocks, words, names and popularity say together, by what is known of the page.

With parents q of the page u, each counting c_q, children x that u and s share, and rarity r(n) = 1 / ln(2 + n):

    together(s) = Σ c_q · (r(links in the block) + near / √d if both stand in one block, and elsewhere · r(links of q))
    links(s)    = in_degree(s)^popularity · together(s)      parents with blocks: somebody has sorted these links
                + Σ c_q · r(links of q)                      parents without
                + Σ c_x · r(links into x) / √children
                + 0.05 for a link from u to s, 0.05 for one from s to u, and 0.9 more if there are both
    score(s)    = links(s) / √(max of links) + 0.15 · (together of s's same-name pages) / (max of that)
                + weight · cosine(words of u, words of s)
                + context · in_degree(s)^popularity · cosine(context words of u, context words of s)
                + 0.25 if s is on u's host, and 0.2 if it is the first page of its own      where blocks list u
    weight      = words + 0.003 · (different words of u's text, at most 100)²

Parents of u's same-name pages, which links call by the same name (words/context.py), are parents too; they count
`names` times how alike the names are. A parent that has s or u again in another block has them together there, too,
without `near` and `elsewhere`: in at most three blocks that have u again, and not on lists of more than 4,096 links.
The context words of a page are those of the sections that list it (words/context.py). k parents of one site, and k
blocks of one parent, count as √k, and pages of u's own site a quarter: their links are often one template. So links
count most for pages that many cite, and words count more the more text a page has. A page without links or without
text is answered from what there is. One with neither gets the addresses beside it on its host, by 0.25 times the part
of its path that they share. Several query pages: scores add up, after the number reached.

Weights were chosen on some lists and tested on others: docs/decisions/0050, which also tells what did not help.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cocite.related.neighbourhood.blend import BlendParams, blend
from cocite.related.neighbourhood.blend_evidence import BlendEvidence
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.start import begin
from cocite.web import Web

Params = BlendParams


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by the sum of all parts."""
    start, found = begin(web.graph, seeds, params, lambda view, pages: blend(web, view, pages, params))
    rows = found.links + found.named + found.words + found.context + found.place
    reached = (rows > 0).sum(axis=0, dtype=np.int32) if len(start.used) > 1 else None
    evidence = BlendEvidence(web, start.view, start.used, found, params)
    return Scores(found.pages.pages, rows.sum(axis=0), start.used, start.never, reached=reached, evidence=evidence)
