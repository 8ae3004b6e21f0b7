"""A slow truth for semantic, link and integrated similarity: sets, and every pair of words and pages looked at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tests.words import naive_relevance as naive


@dataclass
class NaiveZhao:
    """Pages as sets of words and sets of pages that they link to."""

    pages: list[set[int]]
    links: list[set[int]]
    alpha: float = 0.5
    beta: float = 0.5
    theta: float = 0.0
    beside: str = "support"
    least_pages: int = 5
    dead: frozenset[int] = frozenset()  # links to these count in confidence only

    @cached_property
    def alike(self) -> naive.Table:
        """r_s of different words."""
        return naive.mixed(naive.support(self.pages), naive.mutual(self.pages), self.alpha)

    def r_s(self, a: int, b: int) -> float:
        return 1.0 if a == b else self.alike[a, b]

    def semantic(self, p: int, q: int) -> float:
        if p == q:
            return 1.0
        one, other = self.pages[p], self.pages[q]
        if not one or not other:
            return 0.0
        forth = sum(max(self.r_s(a, b) for b in other) for a in one)
        back = sum(max(self.r_s(a, b) for a in one) for b in other)
        return (forth + back) / (len(one) + len(other))

    @cached_property
    def strong(self) -> list[set[int]]:
        """The links that are not weak."""
        return [
            {q for q in targets - self.dead if self.theta == 0 or self.strength(p, q) >= self.theta}
            for p, targets in enumerate(self.links)
        ]

    @cached_property
    def ranges(self) -> tuple[tuple[float, float], tuple[float, float], naive.Table]:
        """Least and greatest support (or information) and confidence, and support."""
        support = (naive.mutual if self.beside == "information" else naive.support)(self.pages)
        confidence = naive.confidence(self.pages, self.links, self.least_pages)
        (low, high), (least, most) = (
            (min(each.values(), default=0.0), max(each.values(), default=0.0)) for each in (support, confidence)
        )
        return (low, high), (least, most), support

    def strength(self, p: int, q: int) -> float:
        """The greatest r_l of a link's keywords, the link itself left out of the confidence."""
        supports, confidences, support = self.ranges
        best = 0.0
        for a in self.pages[p]:
            for b in self.pages[q]:
                if a == b:
                    return 1.0
                having = [page for page, words in enumerate(self.pages) if a in words]
                leading = sum(
                    any(b in self.pages[t] for t in self.links[page] if (page, t) != (p, q)) for page in having
                )
                confidence = leading / len(having) if len(having) >= self.least_pages else 0.0
                r_l = self.beta * scaled(support[a, b], supports) + (1 - self.beta) * scaled(confidence, confidences)
                best = max(best, r_l)
        return best

    def link(self, p: int, q: int) -> float:
        if p == q:
            return 1.0
        outs = self.strong
        ins = [{p for p, targets in enumerate(outs) if q in targets} for q in range(len(outs))]
        sides = []
        for side in (ins, outs):
            one, other = side[p], side[q]
            if one or other:
                forth = sum(max((self.semantic(a, b) for b in other), default=0.0) for a in one)
                back = sum(max((self.semantic(a, b) for a in one), default=0.0) for b in other)
                sides.append((forth + back) / (len(one) + len(other)))
        return sum(sides) / len(sides) if sides else 0.0

    def integrated(self, p: int, q: int, mix: float) -> float:
        return mix * self.semantic(p, q) + (1 - mix) * self.link(p, q)


def scaled(value: float, limits: tuple[float, float]) -> float:
    low, high = limits
    if high - low <= 1e-12:
        return float(value > 1e-12)
    return max(0.0, (value - low) / (high - low))
