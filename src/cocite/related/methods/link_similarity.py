"""Link similarity: pages that are linked with semantically similar pages (Zhao et al. 2016, §4.2).

    Sim_side(P1, P2) = (Σ_{l in L1} max_{l' in L2} Sim_s(l, l') + Σ_{l' in L2} max_{l in L1} Sim_s(l, l')) / (m + n)
    Sim_l(P1, P2)    = (Sim_ins + Sim_outs) / 2

where L1 and L2 are the m and n pages that link to P1 and P2 (link-ins), or to which they link (link-outs), and Sim_s is
that of `semantic`; Sim_s(l, l) = 1, also for a page without keywords. A side on which neither page has links is not
part of the mean; a side on which only one page has links is 0.

Ignored links: those of a page to itself, those to dead pages (captured with status 404 or 410), and weak ones. A link
from P to Q is weak if the greatest r_l(w → w') over keywords w of P and w' of Q is below theta. Here r_l = beta ·
support + (1 - beta) · confidence, without the link itself as evidence, and r_l(w, w) = 1; with beside=information,
mutual information replaces support. With theta above 0, all links of the store are read once, and the strong ones kept
in memory.

Pages that are compared get their exact scores, for at most `links` linked pages on each side, chosen by hash after
ignored links are dropped. In a store of more pages than `candidates`, the pages compared are linked with one of the
`alike` pages most similar to each page linked with the query page.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from cocite.related.neighbourhood import page_similarity
from cocite.related.neighbourhood.scores import Scores, Values
from cocite.related.neighbourhood.view import Pages
from cocite.web import Web

Params = page_similarity.LinkParams


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by the similarity of the pages linked with them."""
    data = page_similarity.similarity_data(web, params)

    def score(page: int) -> tuple[Pages, Values]:
        others = page_similarity.linked_alike(data, page, params)
        return others, page_similarity.link_likeness(data, page, others)

    return page_similarity.relate_each(seeds, score, partial(page_similarity.linked_evidence, data))


def similarity_of(web: Web, page: int, other: int, params: Params) -> tuple[float, float]:
    """Sim_l of two pages, and its maximum error for the linked pages that are compared."""
    data = page_similarity.similarity_data(web, params)
    return float(page_similarity.link_likeness(data, page, np.array([other], np.uint32))[0]), page_similarity.MAX_ERROR
