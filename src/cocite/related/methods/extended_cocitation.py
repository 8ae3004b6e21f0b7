"""Extended Cocitation: merged parents and merged children in common (Hou & Zhang 2003, §3).

Of up to B parents (200) the BF links around (40) are the siblings; of the first F children (40) the FB parents of
highest in-degree (200) are the spouses, but for those of the page's own unit. Parents on one unit, or near-duplicates,
are one that has the links of all; likewise children. b(p, u) is the number of merged parents that p and u have in
common, f(p, u) that of merged children; p is relevant if b or f is at least delta. `unit=none` is the variant for
pages inside one site (§2.2).

Answers are ordered by max(b, f), then by b + f; the paper has no order. Of several query pages each counts for itself,
and the values add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocite.parameters import parameter
from cocite.related.neighbourhood.link_evidence import LinkEvidence
from cocite.related.neighbourhood.page_source import Limits, gather, weave
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.start import begin
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params(Limits):
    """The limits of the page source, and the threshold."""

    delta: float = parameter(1.0, "δ: merged parents, or merged children, in common at least", minimum=0)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Siblings and spouses by merged parents and children in common."""
    start, source = begin(web.graph, seeds, params, lambda view, pages: gather(view, pages, params))
    pages, b, f = weave(source, source.back.shared(), source.forward.shared())
    each = np.maximum(b, f)  # for every query page by itself
    each[each < params.delta] = 0
    reached = (each > 0).sum(axis=0, dtype=np.int32) if len(start.used) > 1 else None
    facts = {"merged parents": source.back.groups, "merged children": source.forward.groups}
    evidence = LinkEvidence(start.view, start.used, params.parents, params.children)
    return Scores(
        pages, each.sum(axis=0), start.used, start.never, (b + f).sum(axis=0), reached, facts, evidence=evidence
    )
