"""A slow truth for keyword relevance: sets of words, every pair looked at, nothing shared with what it judges."""

from __future__ import annotations

import math

Table = dict[tuple[int, int], float]


def support(pages: list[set[int]]) -> Table:
    """S of every two different words."""
    total = sum(1 for words in pages if words)
    return {
        (a, b): sum(a in words and b in words for words in pages) / total
        for a in vocabulary(pages)
        for b in vocabulary(pages)
        if a != b
    }


def mutual(pages: list[set[int]]) -> Table:
    """M of every two different words."""
    described = [words for words in pages if words]
    total, table = len(described), {}
    for a in vocabulary(pages):
        for b in vocabulary(pages):
            if a == b:
                continue
            value = 0.0
            for has_a in (True, False):
                for has_b in (True, False):
                    both = sum((a in words) == has_a and (b in words) == has_b for words in described) / total
                    one = sum((a in words) == has_a for words in described) / total
                    other = sum((b in words) == has_b for words in described) / total
                    if both:
                        value += both * math.log(both / (one * other))
            table[a, b] = value
    return table


def confidence(pages: list[set[int]], links: list[set[int]], least: int = 5) -> Table:
    """C from every word to every other."""
    table = {}
    for a in vocabulary(pages):
        having = [page for page, words in enumerate(pages) if a in words]
        for b in vocabulary(pages):
            if a != b:
                leading = [page for page in having if any(b in pages[target] for target in links[page])]
                table[a, b] = len(leading) / len(having) if len(having) >= least else 0.0
    return table


def normalised(table: Table) -> Table:
    """Every value as a part of the range of all."""
    if not table:
        return {}
    least, most = min(table.values()), max(table.values())
    if most - least <= 1e-12:
        return {pair: float(value > 1e-12) for pair, value in table.items()}
    return {pair: (value - least) / (most - least) for pair, value in table.items()}


def mixed(first: Table, second: Table, share: float) -> Table:
    """share · first + (1 - share) · second, both normalised; 1 for a word with itself."""
    one, two = normalised(first), normalised(second)
    return {pair: share * one[pair] + (1 - share) * two[pair] for pair in one}


def vocabulary(pages: list[set[int]]) -> list[int]:
    """All words."""
    return sorted(set().union(*pages))
