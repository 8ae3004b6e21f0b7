"""Link similarity: pages that are linked with semantically similar pages (Zhao et al. 2016, section 4.2).

    Sim_side(P1, P2) = (Σ_{l in L1} max_{l' in L2} Sim_s(l, l') + Σ_{l' in L2} max_{l in L1} Sim_s(l, l')) / (m + n)
    Sim_l(P1, P2)    = (Sim_ins + Sim_outs) / 2

where L1 and L2 are the m and n pages that link to P1 and P2 (link-ins), or to which they link (link-outs), and Sim_s is
that of `semantic`; Sim_s(l, l) = 1, also for a page without keywords. A side on which neither page has links is left
out of the mean; one on which only one of them has is 0.

Links that do not count: a page's to itself, those to dead pages (captured with status 404 or 410), and weak ones. A
link from P to Q is weak if the greatest r_l(w → w') over keywords w of P and w' of Q is below theta, where r_l = beta ·
support + (1 - beta) · confidence, the link itself not counted as evidence, and r_l(w, w) = 1; with beside=information,
mutual information takes the place of support. With theta above 0 all links of the store are looked at once, and the
strong ones held in memory.

Every page that is compared gets its exact score, of at most `links` pages linked on each side, chosen by hash. In a
store of more pages than `candidates`, those compared are linked with the `alike` pages most like each page linked with
the query page.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from cocite.related.neighbourhood.likenesses import (
    EXACT,
    LinkParams,
    Values,
    around,
    link_likeness,
    linked_alike,
    relate_each,
)
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import Pages
from cocite.related.neighbourhood.word_evidence import by_links, for_each
from cocite.web import Web

Params = LinkParams


def relate(web: Web, seeds: Sequence[int], params: LinkParams) -> Scores:
    """Pages by the likeness of the pages linked with them."""
    known, seeds = around(web, params), list(dict.fromkeys(seeds))

    def score(page: int) -> tuple[Pages, Values]:
        others = linked_alike(known, page, params)
        return others, link_likeness(known, page, others)

    return relate_each(seeds, score, for_each(seeds, partial(by_links, known)))


def similarity_of(web: Web, page: int, other: int, params: LinkParams) -> tuple[float, float]:
    """Sim_l of two pages, and how wrong it may be, of the linked pages that are compared."""
    return float(link_likeness(around(web, params), page, np.array([other], np.uint32))[0]), EXACT
