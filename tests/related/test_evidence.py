"""Every type of evidence as a sentence and as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from cocite.related import evidence
from cocite.related.evidence import (
    BecauseRead,
    ByLinks,
    ContextWords,
    Evidence,
    HomePage,
    LikeRelated,
    LinkedFrom,
    LinksThrough,
    LinksTo,
    ListedTogether,
    ListedWithSameName,
    Listing,
    MergedDuplicates,
    OpposedKeywords,
    Path,
    RelatedKeywords,
    SameHost,
    SameName,
    SameNameListed,
    SharedKeywords,
    SharedLink,
    SharedLinks,
    SimilarSites,
    SimilarSources,
    SimilarTargets,
    SimilarText,
    Usage,
)


class Numbers:
    """Page 7 is at u7, its title is T7, and its sections have the headings S0, "", S2."""

    def address(self, page: int) -> str:
        return f"u{page}"

    def title(self, page: int) -> str:
        return f"T{page}" if page else ""

    def label(self, page: int) -> str:
        return self.title(page) or self.address(page)

    def heading(self, page: int, section: int) -> str:
        return ["S0", "", "S2"][section]


NEXT = Listing(page=7, section=0, distance=1)
TEXTS: list[tuple[Evidence, str, dict[str, Any]]] = [
    (NEXT, 'Listed next to each other on T7 under "S0"', {"by": "u7", "title": "T7", "block": "S0", "distance": 1}),
    (Listing(page=0, section=1, distance=1200), "Listed in the same section on u0, 1,200 links apart",
     {"by": "u0", "block": "", "distance": 1200}),
    (Listing(page=7, section=2, distance=None), 'Listed in the same section on T7 under "S2"',
     {"by": "u7", "title": "T7", "block": "S2"}),
    (Listing(page=7, section=None, distance=3, copy=4), "Both listed on T7, 3 links apart (its near-duplicate T4)",
     {"by": "u7", "title": "T7", "distance": 3, "copy": "u4"}),
    (ListedTogether(lists=6, of=13, originals=6, groups=6, best=NEXT),
     'Listed together on 6 of 13 pages, e.g. T7 under "S0"',
     {"count": 6, "of": 13, "voices": 6}),
    (ListedTogether(lists=1, of=2000, originals=1, groups=1, best=NEXT),
     'Listed together on 1 of 2,000 pages: T7 under "S0"',
     {"count": 1, "of": 2000, "voices": 1}),
    (ListedTogether(lists=1, of=1, originals=1, groups=1, best=NEXT), 'Listed together on T7 under "S0"',
     {"count": 1, "of": 1, "voices": 1}),
    (ListedTogether(lists=2, of=5, originals=1, groups=1, best=NEXT, query=3),
     'Listed together on 2 of 5 pages (copies of each other, counted once), e.g. T7 under "S0" (with T3)',
     {"count": 2, "of": 5, "voices": 1, "query": "u3"}),
    (ListedTogether(lists=3, of=5, originals=3, groups=2, best=NEXT),
     'Listed together on 3 of 5 pages (pages of one site, counted as 2), e.g. T7 under "S0"',
     {"count": 3, "of": 5, "voices": 2}),
    (ListedTogether(lists=9, of=9, originals=6, groups=4, best=NEXT),
     'Listed together on 9 of 9 pages (copies or pages of one site, counted as 4), e.g. T7 under "S0"',
     {"count": 9, "of": 9, "voices": 4}),
    (SharedLink(to=5, query=3), "Both link to T5 (with T3)", {"to": "u5", "query": "u3"}),
    (SharedLinks(count=5, of=40, examples=(5, 6)), "Both link to T5, T6 (5 shared links)", {"count": 5, "of": 40}),
    (SharedLinks(count=1, of=40, examples=(5,)), "Both link to T5", {"count": 1, "of": 40}),
    (LinkedFrom(), "Linked from the query page", {}),
    (LinksTo(copy=4), "Links to the query page (its near-duplicate T4)", {"copy": "u4"}),
    (LinkedFrom(mutual=True), "They link to each other", {}),
    (LinksTo(query=3), "Links to T3", {"query": "u3"}),
    (LinkedFrom(query=3, copy=4), "Linked from T3 (its near-duplicate T4)", {"query": "u3", "copy": "u4"}),
    (LinksTo(mutual=True, query=3), "It and T3 link to each other", {"query": "u3"}),
    (LinksTo(mutual=True), "They link to each other", {}),
    (LinksThrough(through=2), "Links to T2, which links to the query page", {"through": "u2"}),
    (MergedDuplicates(count=9, examples=(1, 2, 3, 4)), "Counted together with 9 near-duplicates: T1, T2, T3",
     {"count": 9, "pages": ("u1", "u2", "u3", "u4")}),
    (Path(pages=(1, 2, 3)), "2 links away: T1 – T2", {"pages": ("u1", "u2", "u3")}),
    (LikeRelated(through=2), "Related by links to T2, which is related to the query page", {"through": "u2"}),
    (SimilarSites(sites=("a.com", "b.com")), "Their sites have similar links: a.com – b.com",
     {"pages": ("a.com", "b.com")}),
    (SharedKeywords(words=("a", "b"), count=2, of=5), "Shared keywords: a, b (2 of 5)",
     {"count": 2, "of": 5, "words": ("a", "b")}),
    (RelatedKeywords(pairs=("a – b", "c – d"), relevance=0.5), "Related keywords: a – b, c – d",
     {"share": 0.5, "words": ("a – b", "c – d")}),
    (OpposedKeywords(pairs=("a – b",), relevance=0.5), "Keywords that never occur together: a – b",
     {"share": 0.5, "words": ("a – b",)}),
    (SimilarTargets(pages=(1, 1), similarity=1.0), "Both link to T1", {"pages": ("u1", "u1"), "share": 1.0}),
    (SimilarTargets(pages=(1, 2), similarity=0.5), "Links to T2, which is similar to T1, a link of the query page",
     {"pages": ("u1", "u2"), "share": 0.5}),
    (SimilarSources(pages=(1, 1), similarity=1.0), "Both linked from T1", {"pages": ("u1", "u1"), "share": 1.0}),
    (SimilarSources(pages=(1, 2), similarity=0.5),
     "Linked from T2, which is similar to T1, which links to the query page", {"pages": ("u1", "u2"), "share": 0.5}),
    (ByLinks(share=0.5), "Related by links", {"share": 0.5}),
    (SimilarText(terms=("json", "dumps", "loads", "a", "b", "c"), shared=47, of=128, share=0.83),
     "Similar text: json, dumps, loads, a, b (47 shared terms)",
     {"count": 47, "of": 128, "share": 0.83, "words": ("json", "dumps", "loads", "a", "b", "c")}),
    (SimilarText(terms=("json",), shared=1, of=2, linked=True, share=1.0),
     "Similar text, with that of linked pages: json (1 shared term)",
     {"count": 1, "of": 2, "share": 1.0, "words": ("json",)}),
    (SimilarText(terms=("json",), shared=1, of=2, share=1.0), "Similar text: json (1 shared term)",
     {"count": 1, "of": 2, "share": 1.0, "words": ("json",)}),
    (SimilarText(terms=(), shared=2, of=2, share=1.0), "Similar text (2 shared terms)",
     {"count": 2, "of": 2, "share": 1.0, "words": ()}),
    (ContextWords(terms=("password",), share=0.38), "Listed in sections about password",
     {"share": 0.38, "words": ("password",)}),
    (Usage(forward=30, of=60, back=1, sessions=0, share=0.2), "People went from one to the other 31 times",
     {"count": 30, "of": 60, "back": 1, "together": 0, "share": 0.2}),
    (Usage(forward=1, of=60, back=0, sessions=2, share=0.2),
     "People went from one to the other 1 time, and visited both in 2 sessions",
     {"count": 1, "of": 60, "back": 0, "together": 2, "share": 0.2}),
    (Usage(forward=0, of=60, back=0, sessions=1, share=0.2), "People visited both in 1 session",
     {"count": 0, "of": 60, "back": 0, "together": 1, "share": 0.2}),
    (SameName(), "Links give both the same name", {}),
    (ListedWithSameName(through=2), "Listed with T2, which has the name of the query page", {"through": "u2"}),
    (SameNameListed(through=2, share=0.1), "The query page is listed with T2, which has the same name",
     {"through": "u2", "share": 0.1}),
    (SameHost(share=1.0), "On the same host", {"share": 1.0}),
    (BecauseRead(pages=(2, 0)), "Because you read T2 and u0", {"pages": ("u2", "u0")}),
    (HomePage(share=0.1), "It is a home page, as pages on lists often are", {"share": 0.1}),
]  # fmt: skip


@pytest.mark.parametrize(("given", "text", "fields"), TEXTS)
def test_sentence_and_json(given: Evidence, text: str, fields: dict[str, Any]) -> None:
    assert given.sentence(Numbers()) == text
    assert given.to_json(Numbers()) == {"kind": given.kind, **fields, "text": text}


def test_every_type_is_here() -> None:
    """And the kinds of the JSON format are those that programs rely on."""
    types = {each for each in vars(evidence).values() if isinstance(each, type) and issubclass(each, Evidence)}
    assert types - {Evidence, evidence.PartOfScore} == {type(given) for given, _, _ in TEXTS}
    assert {given.kind for given, _, _ in TEXTS} == {
        "cited together", "cited together in all", "links to the same page", "links to the same pages in all",
        "linked by the query", "links to the query", "links to a page that links to the query",
        "stands for near-duplicates", "reached by links", "like a related page", "sites cited alike",
        "keywords in common", "keywords alike", "keywords apart", "links to pages alike", "linked by pages alike",
        "same name", "beside the same name", "its name beside", "same host", "first page of its host",
        "links", "words", "company", "usage", "read",
    }  # fmt: skip


def test_reasons_are_there_once_and_the_strongest_query_page_first() -> None:
    """Copies of a list have the same title and heading: one sentence is enough."""
    one, two = (Listing(page=1, section=0, distance=distance, query=query) for distance, query in ((3, 0), (1, 2)))
    few, many = (
        ListedTogether(lists=lists, of=9, originals=lists, groups=lists, best=one, query=query)
        for lists, query in ((2, 0), (7, 2))
    )
    reasons = evidence.reasons_of(Numbers(), [one, one, two, few, many])
    assert [(each.kind, each.distance or each.count) for each in reasons] == [
        (Listing.kind, 1), (Listing.kind, 3), (ListedTogether.kind, 7), (ListedTogether.kind, 2),
    ]  # fmt: skip
