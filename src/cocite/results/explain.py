"""Why is a page related? Recomputed from the links, the same way for every method.

Evidence is what a reader can look up: pages that link to both, in which block and how far apart; pages that both link
to; links from one to the other; near-duplicates that were counted together. Only links that the method counts are
evidence, and of many parents those that it looks at. The best three pieces come first, then how many there are in all,
and as how many independent voices they count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.related.neighbourhood.view import NO_PAGES, Switches, View, stop_pages
from cocite.results.answer import (
    BEYOND,
    BY_LINKS,
    LINKED,
    LINKS,
    REACHED,
    SHARED,
    SHARED_IN_ALL,
    STANDS_FOR,
    TOGETHER,
    TOGETHER_IN_ALL,
    Reason,
)
from cocite.results.around import UNKNOWN, Around, Subject
from cocite.web import Web

Path = Callable[[int], Sequence[int]] | None
Evidence = Callable[[int], Sequence[Mapping[str, Any]]] | None
BEST = 3
PARENTS, CHILDREN = 2000, 4096
"""What is looked at, unless the method says otherwise."""
NAMED = 5
"""So many near-duplicates are named."""


class Explainer:
    """Gives the reasons for answers to one question."""

    def __init__(
        self, web: Web, used: Sequence[int], params: Any, path: Path = None, evidence: Evidence = None
    ) -> None:
        """`used` are the pages that the method started from, `params` its parameters.

        `path` gives the pages through which an answer was reached: all there is to say of one that is further away.
        `evidence` gives what a method heard beside links: links are a reason where it says that they spoke.
        """
        graph = web.graph
        self._graph, self._path, self._evidence = graph, path, evidence
        # A method without these switches puts nothing together.
        switches = params if isinstance(params, Switches) else Switches(merge=False, unit="none")
        self._merge = switches.merge
        view = View(graph, used, switches, stop_pages(graph, switches.stop))
        parents = int(getattr(params, "parents", PARENTS))
        children = max(CHILDREN, int(getattr(params, "children", 0)))
        repeats = int(getattr(params, "repeats", 0)), int(getattr(params, "window", 0))
        self._around = [Around(view, page, parents, children, *repeats) for page in used]

    def reasons(self, page: int) -> tuple[Reason, ...]:
        """The reasons for one answer, best first."""
        said = self._evidence(page) if self._evidence is not None else ()
        return self._heard(page, said) if said else self._linked(page)

    def _heard(self, page: int, said: Sequence[Mapping[str, Any]]) -> tuple[Reason, ...]:
        """What spoke, in its order; the links themselves before the word that they did."""
        found: list[Reason] = []
        spoke = False
        for each in said:
            about = {name: value for name, value in each.items() if name != "page"}
            query = self._graph.address(each["page"]) if len(self._around) > 1 else ""
            if each["kind"] == BY_LINKS and not spoke:
                spoke = True
                found += self._linked(page)
            found.append(Reason(**about, query=query))
        return tuple(found)

    def _linked(self, page: int) -> tuple[Reason, ...]:
        """Reasons from the links."""
        most = max(1, BEST // max(1, len(self._around)))
        subject = Subject(page, self._graph.facts.near_duplicates(page) if self._merge else NO_PAGES)
        found = [_reasons(around, subject, most) for around in self._around]
        if len(found) > 1:
            queries = [around.address for around in self._around]
            found = [[replace(r, query=q) for r in rs] for q, rs in zip(queries, found, strict=True)]
            found = [[each[i] for each in found if i < len(each)] for i in range(max(map(len, found)))]
        reasons = (*(reason for each in found for reason in each), *self._stands_for(subject))
        if not reasons and self._path is not None:
            way = tuple(self._graph.address(each) for each in self._path(page))
            return (Reason(kind=REACHED, pages=way),)
        return reasons

    def _stands_for(self, subject: Subject) -> list[Reason]:
        named = tuple(self._graph.address(int(copy)) for copy in subject.copies[:NAMED])
        return [Reason(kind=STANDS_FOR, count=len(subject.copies), pages=named)] if named else []


def _reasons(around: Around, subject: Subject, most: int) -> list[Reason]:
    """The best pieces of evidence that a subject is related to one page, then the counts."""
    together, together_counts = _cited_together(around, subject)
    linking = _linking(around, subject)
    shared, shared_counts = _shared(around, subject, linking)
    direct = _direct(around, subject, linking)
    best = together + direct + shared
    if together and shared:
        best = together[:2] + shared[:1] + direct + together[2:] + shared[1:]
    return (best or _beyond(around, subject))[:most] + together_counts + shared_counts


def _cited_together(around: Around, subject: Subject) -> tuple[list[Reason], list[Reason]]:
    """The parents that link to both, nearest first and each of a voice of its own as far as there are; how many."""
    found, parents = around.together(subject), around.parents.pages
    if not len(found.owners):
        return [], []
    first: dict[int, int] = {}
    for at, owner in enumerate(found.owners):
        first.setdefault(around.voices[owner], at)
    shown = list(islice(first.values(), BEST))
    others = (i for i in range(len(found.owners)) if i not in shown)
    best = []
    for i in [*shown, *islice(others, BEST - len(shown))]:
        address, title, headings = around.about(int(parents[found.owners[i]]))
        block = found.block[i]
        best.append(
            Reason(
                kind=TOGETHER,
                by=address,
                title=title,
                block=None if block < 0 else headings[block] if block < len(headings) else "",
                distance=None if found.distance[i] == UNKNOWN else found.distance[i],
                copy=_copy(around, subject, found.subjects[i]),
            )
        )
    in_all = Reason(kind=TOGETHER_IN_ALL, count=len(found.owners), of=len(parents), voices=len(first))
    return best, [in_all]


def _copy(around: Around, subject: Subject, page: int) -> str:
    """The near-duplicate of which a reason speaks; empty if of the answer itself."""
    return "" if page == subject.page else around.graph.address(page)


def _linking(around: Around, subject: Subject) -> NDArray[np.bool_] | None:
    """A row for each page of the subject: to which children of the query page, and to the page itself, it links.

    None if it links to nothing at all, as most pages of a link graph, which were never fetched.
    """
    degrees, tried = around.graph.out_degree, subject.tried
    if not any(degrees[page] for page in tried):
        return None
    return np.array([around.links_to(each, around.children_and_page) for each in tried])


def _shared(around: Around, subject: Subject, linking: NDArray[np.bool_] | None) -> tuple[list[Reason], list[Reason]]:
    """The children that both have, in the order of the query page, and how many there are."""
    if linking is None:
        return [], []
    shared = np.flatnonzero(linking[:, :-1].any(axis=0))
    best = [
        Reason(
            kind=SHARED,
            to=around.graph.address(int(around.children[i])),
            copy=_copy(around, subject, subject.tried[int(linking[:, i].argmax())]),
        )
        for i in shared[:BEST].tolist()
    ]
    return best, [Reason(kind=SHARED_IN_ALL, count=len(shared), of=len(around.children))] if best else []


def _direct(around: Around, subject: Subject, linking: NDArray[np.bool_] | None) -> list[Reason]:
    """Links from one to the other."""
    linked = around.linked(subject)
    found = [] if linked is None else [Reason(kind=LINKED, copy=_copy(around, subject, linked))]
    if linking is not None and (links := linking[:, -1]).any():
        found.append(Reason(kind=LINKS, copy=_copy(around, subject, subject.tried[int(links.argmax())])))
    return found


def _beyond(around: Around, subject: Subject) -> list[Reason]:
    """A page that the answer links to and that links to the query page."""
    for page in subject.tried:
        between = around.parents.pages[around.links_to(page, around.parents.pages)]
        if len(between):
            through = around.graph.address(int(between.min()))
            return [Reason(kind=BEYOND, through=through, copy=_copy(around, subject, page))]
    return []
