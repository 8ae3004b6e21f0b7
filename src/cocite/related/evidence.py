"""Evidence: what a method counted for a result, as data. A reason is its rendering for a person.

A method returns evidence for the results that are kept, strongest first. Pages are page numbers here; `PageLabels`
turns them into addresses, titles and headings. `sentence` is the text that people read. `to_json` is the same as fields
of the public JSON format, whose `kind` values are fixed: other programs rely on them. `Reason` has these fields.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import Any, ClassVar, Protocol, Self, dataclass_transform

from cocite.budget import spend
from cocite.text import clean, count, last_headings

MAX_SHOWN_WORDS = 5
"""Words that a sentence names; the JSON form has all that the evidence holds."""
MAX_SHOWN_PAGES = 3
PAGE_KEYS = frozenset({"by", "to", "through", "pages", "copy", "query"})
"""JSON fields that have addresses where evidence has page numbers."""
LABELLED = ("to", "through")


@dataclass(kw_only=True)
class Reason:
    """One reason why a page is related. `text` is the sentence; fields that don't belong to its kind are empty."""

    kind: str
    by: str = ""  # the page that links to both
    title: str = ""  # of that page
    block: str | None = None  # the heading of the section in which it does, perhaps empty; None: not in one section
    distance: int | None = None  # links apart on that page: 1 is next to each other; None: unknown
    to: str = ""  # the page that both link to
    through: str = ""  # the page in between
    count: int | None = None  # how many there are in all
    of: int | None = None  # of how many that were read
    voices: int | None = None  # as how many they count: near-duplicates, or pages of one site, count as one
    copy: str = ""  # the near-duplicate of the result that it is about, if not the result itself
    pages: tuple[str, ...] = ()  # near-duplicates, or the pages or sites of a path
    share: float | None = None  # the part of the score that this kind of evidence gives
    words: tuple[str, ...] = ()
    back: int | None = None  # clicks from the result to the query page, beside `count` the other way
    together: int | None = None  # sessions in which both were visited, not one from the other
    query: str = ""  # the query page that it is about, if there are several
    text: str = ""

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Self:
        """A reason of the fields that belong to its kind, in order: the others are the defaults of the class."""
        made = cls.__new__(cls)
        made.__dict__ = found  # calling the class would set all fields, for each of some eighty reasons of a question
        return made

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the fields that belong to its kind."""
        found: dict[str, Any] = {}
        for name, value in vars(self).items():
            if type(value) is tuple:
                value = list(value)
            if value or value == 0 or (name == "block" and value is not None):  # a heading may be empty
                found[name] = value
        return found


REASON_FIELDS = tuple(each.name for each in fields(Reason))


class PageLabels(Protocol):
    """What evidence needs to know about pages to be put into words; `results.naming.Titles` has it."""

    def address(self, page: int, /) -> str: ...
    def title(self, page: int, /) -> str: ...
    def label(self, page: int, /) -> str: ...
    def heading(self, page: int, section: int, /) -> str: ...


@dataclass_transform(kw_only_default=True)
@dataclass(kw_only=True, unsafe_hash=True)
class Evidence:
    """One thing that relates a result to a query page. Subclasses become dataclasses with keyword fields.

    Nothing changes them; frozen ones would take three times as long to create.
    """

    kind: ClassVar[str]
    """The value of `kind` in JSON."""
    template: ClassVar[str] = ""
    """The sentence of a kind that needs no more than the label of the page `to` or `through`."""
    json: ClassVar[Mapping[str, str]] = {}
    """The JSON fields of this kind, and the attributes that they show."""
    names_query: ClassVar[bool] = False
    """Whether the statement itself names the query page, where there are several."""
    own_fields: ClassVar[tuple[tuple[str, str, bool], ...]]
    """JSON field, attribute, and whether it is a page or pages; in the order of the fields of a reason."""
    labelled: ClassVar[tuple[str, ...]]
    """Attributes whose labels the template has."""
    query: int | None = None  # the query page that it is about; None if there is only one
    copy: int | None = None  # the near-duplicate of the result that it is about; None: the result itself

    def __init_subclass__(cls) -> None:
        dataclass(kw_only=True, unsafe_hash=True)(cls)
        shown = {"copy": "copy", "query": "query", **cls.json}
        cls.own_fields = tuple((key, shown[key], key in PAGE_KEYS) for key in REASON_FIELDS if key in shown)
        cls.labelled = tuple(key for key in cls.json if key in LABELLED)

    def statement(self, names: PageLabels) -> str:
        """The sentence, without which query page or near-duplicate it is about."""
        labels = {key: names.label(getattr(self, key)) for key in self.labelled}
        return self.template.format(**labels) if labels else self.template

    def sentence(self, names: PageLabels) -> str:
        """One sentence that a person can check, printable on one line."""
        text = self.statement(names)
        if self.query is not None and not self.names_query:
            text += f" (with {names.label(self.query)})"
        if self.copy is not None:
            text += f" (its near-duplicate {names.label(self.copy)})"
        return text if text.isprintable() else clean(text)

    def to_json(self, names: PageLabels) -> dict[str, Any]:
        """The fields of a reason, in order; tuples are lists in JSON."""
        found: dict[str, Any] = {"kind": self.kind}
        for key, name, is_page in self.own_fields:
            value = getattr(self, name)
            if value is None:
                continue
            if is_page:
                several, address = type(value) is tuple, names.address
                value = tuple([v if type(v) is str else address(v) for v in value]) if several else address(value)
            found[key] = value
        found["text"] = self.sentence(names)
        return found


class BecauseRead(Evidence):
    """The pages of a reading history that gave most of the score."""

    kind = "read"
    json: ClassVar = {"pages": "pages"}
    pages: tuple[int, ...]

    def statement(self, names: PageLabels) -> str:
        return f"Because you read {' and '.join(map(names.label, self.pages))}"


class Listing(Evidence):
    """One page links to both."""

    kind = "cited together"
    json: ClassVar = {"by": "page", "distance": "distance"}
    page: int  # the page that links to both
    section: int | None  # the section that has both; None: they are in different sections, or none is known
    distance: int | None  # links apart: 1 is next to each other; None: unknown

    def place(self, names: PageLabels) -> str:
        """The page, and the heading of the section."""
        heading = "" if self.section is None else names.heading(self.page, self.section)
        return f'{names.label(self.page)} under "{last_headings(heading)}"' if heading else names.label(self.page)

    def statement(self, names: PageLabels) -> str:
        if self.distance == 1:
            return f"Listed next to each other on {self.place(names)}"
        apart = "" if self.distance is None else f", {self.distance:,} links apart"
        together = "Both listed" if self.section is None else "Listed in the same section"
        return f"{together} on {self.place(names)}{apart}"

    def to_json(self, names: PageLabels) -> dict[str, Any]:
        """The fields of a reason, with the title of the page and the heading of the section."""
        found: dict[str, Any] = {"kind": self.kind, "by": names.address(self.page)}
        if title := names.title(self.page):
            found["title"] = title
        if self.section is not None:
            found["block"] = names.heading(self.page, self.section)
        if self.distance is not None:
            found["distance"] = self.distance
        if self.copy is not None:
            found["copy"] = names.address(self.copy)
        if self.query is not None:
            found["query"] = names.address(self.query)
        found["text"] = self.sentence(names)
        return found


class ListedTogether(Evidence):
    """How many pages link to both."""

    kind = "cited together in all"
    json: ClassVar = {"count": "lists", "of": "of", "voices": "groups"}
    lists: int  # pages that link to both
    of: int  # pages that link to the query page, as far as the method reads them
    originals: int  # how many they are without copies of others
    groups: int  # as how many they count: copies, or pages of one site, count as one
    best: Listing

    def statement(self, names: PageLabels) -> str:
        place = self.best.place(names)
        if self.of == 1:
            return f"Listed together on {place}"
        count = f"Listed together on {self.lists:,} of {self.of:,} pages"
        if self.groups < self.lists:
            times = "once" if self.groups == 1 else f"as {self.groups:,}"
            same = "copies of each other" if self.groups == self.originals else "copies or pages of one site"
            same = "pages of one site" if self.originals == self.lists else same
            count += f" ({same}, counted {times})"
        return f"{count}: {place}" if self.lists == 1 else f"{count}, e.g. {place}"


class SharedLink(Evidence):
    """Both link to one page."""

    kind = "links to the same page"
    template = "Both link to {to}"
    json: ClassVar = {"to": "to"}
    to: int


class SharedLinks(Evidence):
    """How many pages both link to."""

    kind = "links to the same pages in all"
    json: ClassVar = {"count": "count", "of": "of"}
    count: int
    of: int  # links of the query page, as far as they are read
    examples: tuple[int, ...]

    def statement(self, names: PageLabels) -> str:
        named = ", ".join(map(names.label, self.examples))
        return f"Both link to {named}" + (f" ({self.count:,} shared links)" if self.count > 1 else "")


class LinkedFrom(Evidence):
    """The query page links to the result."""

    kind = "linked by the query"
    names_query = True
    mutual: bool = False  # both link to each other

    def statement(self, names: PageLabels) -> str:
        return mutual_link(self, names) if self.mutual else f"Linked from {query_name(self, names)}"


class LinksTo(Evidence):
    """The result links to the query page."""

    kind = "links to the query"
    names_query = True
    mutual: bool = False

    def statement(self, names: PageLabels) -> str:
        return mutual_link(self, names) if self.mutual else f"Links to {query_name(self, names)}"


def query_name(evidence: Evidence, names: PageLabels) -> str:
    """The label of the query page, which needs none if it is the only one."""
    return "the query page" if evidence.query is None else names.label(evidence.query)


def mutual_link(evidence: Evidence, names: PageLabels) -> str:
    """That the result and the query page link to each other."""
    subject = "They" if evidence.query is None else f"It and {query_name(evidence, names)}"
    return f"{subject} link to each other"


class LinksThrough(Evidence):
    """The result links to a page that links to the query page."""

    kind = "links to a page that links to the query"
    template = "Links to {through}, which links to the query page"
    json: ClassVar = {"through": "through"}
    through: int


class MergedDuplicates(Evidence):
    """The result represents near-duplicates, whose links count as its own."""

    kind = "stands for near-duplicates"
    json: ClassVar = {"count": "count", "pages": "examples"}
    count: int
    examples: tuple[int, ...]

    def statement(self, names: PageLabels) -> str:
        named = ", ".join(map(names.label, self.examples[:MAX_SHOWN_PAGES]))
        return f"Counted together with {count(self.count, 'near-duplicate')}: {named}"


class Path(Evidence):
    """A chain of pages from the query page to the result, each linked with the next."""

    kind = "reached by links"
    json: ClassVar = {"pages": "pages"}
    pages: tuple[int, ...]

    def statement(self, names: PageLabels) -> str:
        return f"{count(len(self.pages) - 1, 'link')} away: {' – '.join(map(names.label, self.pages[:-1]))}"


class LikeRelated(Evidence):
    """The result is related by links to a page that is related to the query page."""

    kind = "like a related page"
    template = "Related by links to {through}, which is related to the query page"
    json: ClassVar = {"through": "through"}
    through: int


class SimilarSites(Evidence):
    """The sites of both, or the user's blocks, are linked by similar ones."""

    kind = "sites cited alike"
    json: ClassVar = {"pages": "sites"}
    sites: tuple[str, ...]  # from the site of the query page to that of the result
    what: str = "sites"

    def statement(self, names: PageLabels) -> str:
        return f"Their {self.what} have similar links: {' – '.join(self.sites)}"


class SharedKeywords(Evidence):
    """Keywords that both have."""

    kind = "keywords in common"
    json: ClassVar = {"count": "count", "of": "of", "words": "words"}
    words: tuple[str, ...]  # the rarest first
    count: int
    of: int  # keywords of the query page

    def statement(self, names: PageLabels) -> str:
        return f"Shared keywords: {shown_words(self.words)} ({self.count:,} of {self.of:,})"


class RelatedKeywords(Evidence):
    """Pairs of keywords, one of each page, that often occur together."""

    kind = "keywords alike"
    template = "Related keywords"
    json: ClassVar = {"share": "relevance", "words": "pairs"}
    pairs: tuple[str, ...]
    relevance: float  # of the first pair

    def statement(self, names: PageLabels) -> str:
        return f"{self.template}: {shown_words(self.pairs)}"


class OpposedKeywords(RelatedKeywords):
    """Pairs of keywords, one of each page, that never occur together, which is informative as well."""

    kind = "keywords apart"
    template = "Keywords that never occur together"


class SimilarTargets(Evidence):
    """The query page and the result link to similar pages."""

    kind = "links to pages alike"
    template = "Links to {1}, which is similar to {0}, a link of the query page"
    same: ClassVar = "Both link to {0}"
    json: ClassVar = {"pages": "pages", "share": "similarity"}
    pages: tuple[int, int]  # linked with the query page, and with the result; perhaps the same
    similarity: float

    def statement(self, names: PageLabels) -> str:
        return (self.same if self.pages[0] == self.pages[1] else self.template).format(*map(names.label, self.pages))


class SimilarSources(SimilarTargets):
    """The query page and the result are linked from similar pages."""

    kind = "linked by pages alike"
    template = "Linked from {1}, which is similar to {0}, which links to the query page"
    same: ClassVar = "Both linked from {0}"


class PartOfScore(Evidence):
    """Evidence that gives a part of the score, where a method adds up several kinds."""

    json: ClassVar = {"share": "share"}
    share: float  # of the score by this query page


class ByLinks(PartOfScore):
    """Links give a part of the score; the links themselves are evidence of their own."""

    kind = "links"
    template = "Related by links"


class SimilarText(PartOfScore):
    """Terms that both pages have; a page with little text also has those of pages that it exchanges links with."""

    kind = "words"
    json: ClassVar = {"count": "shared", "of": "of", "share": "share", "words": "terms"}
    terms: tuple[str, ...]  # those that count most
    shared: int
    of: int  # terms of the query page
    linked: bool = False  # whether one of them has terms of such pages

    def statement(self, names: PageLabels) -> str:
        with_others = ", with that of linked pages" if self.linked else ""
        named = f": {shown_words(self.terms)}" if self.terms else ""
        return f"Similar text{with_others}{named} ({count(self.shared, 'shared term')})"


class ContextWords(PartOfScore):
    """Words of the sections that list the one page and of those that list the other."""

    kind = "company"
    json: ClassVar = {"share": "share", "words": "terms"}
    terms: tuple[str, ...]

    def statement(self, names: PageLabels) -> str:
        return f"Listed in sections about {shown_words(self.terms)}"


class Usage(PartOfScore):
    """How often people went from one page to the other."""

    kind = "usage"
    json: ClassVar = {"count": "forward", "of": "of", "share": "share", "back": "back", "together": "sessions"}
    forward: int  # clicks from the query page to the result
    of: int  # clicks from the query page
    back: int  # clicks from the result to the query page
    sessions: int  # times that both were visited in one session, but not one from the other

    def statement(self, names: PageLabels) -> str:
        clicks, sessions = self.forward + self.back, count(self.sessions, "session")
        went = f"People went from one to the other {count(clicks, 'time')}"
        if not self.sessions:
            return went
        return f"{went}, and visited both in {sessions}" if clicks else f"People visited both in {sessions}"


class SameName(Evidence):
    """Links call both by the same name."""

    kind = "same name"
    template = "Links give both the same name"


class ListedWithSameName(Evidence):
    """The result is listed with a page that has the name of the query page."""

    kind = "beside the same name"
    template = "Listed with {through}, which has the name of the query page"
    json: ClassVar = {"through": "through"}
    through: int


class SameNameListed(PartOfScore):
    """The query page is listed with a page that has the name of the result."""

    kind = "its name beside"
    template = "The query page is listed with {through}, which has the same name"
    json: ClassVar = {"through": "through", "share": "share"}
    through: int


class SameHost(PartOfScore):
    """Both are on one host."""

    kind = "same host"
    template = "On the same host"


class HomePage(PartOfScore):
    """The result is the home page of its host, as entries of lists often are."""

    kind = "first page of its host"
    template = "It is a home page, as pages on lists often are"


def shown_words(words: tuple[str, ...]) -> str:
    """The first words, with commas."""
    return ", ".join(words[:MAX_SHOWN_WORDS])


def reasons_of(names: PageLabels, evidence: Iterable[Evidence]) -> tuple[Reason, ...]:
    """The reasons for one result, each once, in the order of its evidence; the strongest query page first."""
    spend()
    found: dict[tuple[str, str], Reason] = {}
    for each in evidence:
        reason = Reason.from_json(each.to_json(names))
        found.setdefault((reason.kind, reason.text), reason)
    reasons, queries = tuple(found.values()), dict[str, list[Reason]]()
    for reason in reasons:
        if reason.query:
            queries.setdefault(reason.query, []).append(reason)
    if len(queries) < 2:
        return reasons
    turns = zip_longest(*sorted(queries.values(), key=lambda some: max(map(strength, some)), reverse=True))
    in_turns = (reason for turn in turns for reason in turn if reason)
    return tuple([next(in_turns) if reason.query else reason for reason in reasons])


def strength(reason: Reason) -> tuple[float, ...]:
    """How strong a reason is: lists that count, then shared links, then how near two links are."""
    count = float(reason.voices or reason.count or 0)
    return count * (reason.kind == ListedTogether.kind), count, -float(reason.distance or 1 << 30)
