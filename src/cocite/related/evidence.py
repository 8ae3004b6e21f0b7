"""Evidence: what a method counted for a result, as data. A reason is its rendering for a person.

A method returns evidence for the results that are kept, strongest first. Pages are page numbers here; `Names` turns
them into addresses, titles and headings. `sentence` is the text that people read. `to_json` is the same as fields of
the public JSON format, whose `kind` values are fixed: other programs rely on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

MAX_SHOWN_WORDS = 5
"""Words that a sentence names; the JSON form has all that the evidence holds."""
MAX_SHOWN_PAGES = 3


class Names(Protocol):
    """What evidence needs to know about pages to be put into words."""

    def address(self, page: int) -> str:
        """The address of a page."""

    def title(self, page: int) -> str:
        """The page's own title, perhaps empty."""

    def label(self, page: int) -> str:
        """What to call a page in a sentence: one line, never empty."""

    def heading(self, page: int, section: int) -> str:
        """The heading of a section of a page, perhaps empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One thing that relates a result to a query page."""

    kind: ClassVar[str]
    """The value of `kind` in JSON."""
    query: int | None = None  # the query page that it is about; None if there is only one
    copy: int | None = None  # the near-duplicate of the result that it is about; None: the result itself

    def _statement(self, names: Names) -> str:
        """The sentence, without which query page or near-duplicate it is about."""
        raise NotImplementedError

    def _fields(self, names: Names) -> dict[str, Any]:
        """The JSON fields of this kind, beyond `kind`, `copy`, `query` and `text`."""
        return {}

    def sentence(self, names: Names) -> str:
        """One sentence that a person can check."""
        text = self._statement(names)
        if self.query is not None:
            text += f" (with {names.label(self.query)})"
        return text if self.copy is None else f"{text} (its near-duplicate {names.label(self.copy)})"

    def to_json(self, names: Names) -> dict[str, Any]:
        """The fields of a reason, with `text`; tuples are lists in JSON."""
        found = {"kind": self.kind, **self._fields(names)}
        if self.copy is not None:
            found["copy"] = names.address(self.copy)
        if self.query is not None:
            found["query"] = names.address(self.query)
        found["text"] = self.sentence(names)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Evidence):
    """One page links to both."""

    kind = "cited together"
    page: int  # the page that links to both
    section: int | None  # the section that has both; None: they are in different sections, or none is known
    distance: int | None  # links apart: 1 is next to each other; None: unknown

    def place(self, names: Names) -> str:
        """The page, and the heading of the section."""
        heading = "" if self.section is None else names.heading(self.page, self.section)
        return f'{names.label(self.page)} under "{heading}"' if heading else names.label(self.page)

    def _statement(self, names: Names) -> str:
        if self.distance == 1:
            return f"Listed next to each other on {self.place(names)}"
        apart = "" if self.distance is None else f", {self.distance:,} links apart"
        together = "Both listed" if self.section is None else "Listed in the same section"
        return f"{together} on {self.place(names)}{apart}"

    def _fields(self, names: Names) -> dict[str, Any]:
        found: dict[str, Any] = {"by": names.address(self.page)}
        if title := names.title(self.page):
            found["title"] = title
        if self.section is not None:
            found["block"] = names.heading(self.page, self.section)
        if self.distance is not None:
            found["distance"] = self.distance
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTogether(Evidence):
    """How many pages link to both."""

    kind = "cited together in all"
    lists: int  # pages that link to both
    of: int  # pages that link to the query page, as far as the method reads them
    groups: int  # as how many they count: near-duplicates, or pages of one site, count as one
    best: Listing

    def _statement(self, names: Names) -> str:
        place = self.best.place(names)
        if self.of == 1:
            return f"Listed together on {place}"
        count = f"Listed together on {self.lists:,} of {self.of:,} pages"
        if self.groups < self.lists:
            times = "once" if self.groups == 1 else f"as {self.groups:,}"
            count += f" (copies or pages of one site, counted {times})"
        return f"{count}: {place}" if self.lists == 1 else f"{count}, e.g. {place}"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"count": self.lists, "of": self.of, "voices": self.groups}


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLink(Evidence):
    """Both link to one page."""

    kind = "links to the same page"
    to: int

    def _statement(self, names: Names) -> str:
        return f"Both link to {names.label(self.to)}"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"to": names.address(self.to)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLinks(Evidence):
    """How many pages both link to."""

    kind = "links to the same pages in all"
    count: int
    of: int  # links of the query page, as far as they are read
    examples: tuple[int, ...]

    def _statement(self, names: Names) -> str:
        named = ", ".join(map(names.label, self.examples))
        return f"Both link to {named}" + (f" ({self.count:,} shared links)" if self.count > 1 else "")

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"count": self.count, "of": self.of}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFrom(Evidence):
    """The query page links to the result."""

    kind = "linked by the query"
    mutual: bool = False  # the result links to the query page, too

    def _statement(self, names: Names) -> str:
        return "They link to each other" if self.mutual else "Linked from the query page"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksTo(Evidence):
    """The result links to the query page."""

    kind = "links to the query"
    mutual: bool = False

    def _statement(self, names: Names) -> str:
        return "They link to each other" if self.mutual else "Links to the query page"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksThrough(Evidence):
    """The result links to a page that links to the query page."""

    kind = "links to a page that links to the query"
    through: int

    def _statement(self, names: Names) -> str:
        return f"Links to {names.label(self.through)}, which links to the query page"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"through": names.address(self.through)}


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicates(Evidence):
    """The result represents near-duplicates, whose links count as its own."""

    kind = "stands for near-duplicates"
    count: int
    examples: tuple[int, ...]

    def _statement(self, names: Names) -> str:
        named = ", ".join(map(names.label, self.examples[:MAX_SHOWN_PAGES]))
        return f"Counted together with {plural(self.count, 'near-duplicate')}: {named}"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"count": self.count, "pages": tuple(map(names.address, self.examples))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Path(Evidence):
    """A chain of pages from the query page to the result, each linked with the next."""

    kind = "reached by links"
    pages: tuple[int, ...]

    def _statement(self, names: Names) -> str:
        return f"{plural(len(self.pages) - 1, 'link')} away: {' – '.join(map(names.label, self.pages[:-1]))}"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"pages": tuple(map(names.address, self.pages))}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarSites(Evidence):
    """The sites of both are linked by similar sites."""

    kind = "sites cited alike"
    sites: tuple[str, ...]  # from the site of the query page to that of the result

    def _statement(self, names: Names) -> str:
        return f"Their sites have similar links: {' – '.join(self.sites)}"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"pages": self.sites}


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedKeywords(Evidence):
    """Keywords that both have."""

    kind = "keywords in common"
    words: tuple[str, ...]  # the rarest first
    count: int
    of: int  # keywords of the query page

    def _statement(self, names: Names) -> str:
        return f"Shared keywords: {shown(self.words)} ({self.count:,} of {self.of:,})"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"count": self.count, "of": self.of, "words": self.words}


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedKeywords(Evidence):
    """Pairs of keywords, one of each page, that often occur together."""

    kind = "keywords alike"
    pairs: tuple[str, ...]
    relevance: float  # of the first pair

    def _statement(self, names: Names) -> str:
        return f"Related keywords: {shown(self.pairs)}"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"share": self.relevance, "words": self.pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpposedKeywords(RelatedKeywords):
    """Pairs of keywords, one of each page, that never occur together, which is informative as well."""

    kind = "keywords apart"

    def _statement(self, names: Names) -> str:
        return f"Keywords that never occur together: {shown(self.pairs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarTargets(Evidence):
    """The query page and the result link to similar pages."""

    kind = "links to pages alike"
    pages: tuple[int, int]  # that the query page links to, and that the result links to; perhaps the same
    similarity: float

    def _statement(self, names: Names) -> str:
        one, other = map(names.label, self.pages)
        same = self.pages[0] == self.pages[1]
        return (
            f"Both link to {one}" if same else f"Links to {other}, which is similar to {one}, a link of the query page"
        )

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"pages": tuple(map(names.address, self.pages)), "share": self.similarity}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarSources(SimilarTargets):
    """The query page and the result are linked from similar pages."""

    kind = "linked by pages alike"

    def _statement(self, names: Names) -> str:
        one, other = map(names.label, self.pages)
        if self.pages[0] == self.pages[1]:
            return f"Both linked from {one}"
        return f"Linked from {other}, which is similar to {one}, which links to the query page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Evidence):
    """Evidence that gives a part of the score, where a method adds up several kinds."""

    share: float  # of the score by this query page

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"share": self.share}


@dataclass(frozen=True, slots=True, kw_only=True)
class ByLinks(Part):
    """Links give a part of the score; the links themselves are evidence of their own."""

    kind = "links"

    def _statement(self, names: Names) -> str:
        return "Related by links"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarText(Part):
    """Terms that both pages have."""

    kind = "words"
    terms: tuple[str, ...]  # those that count most, without stop words
    shared: int
    of: int  # terms of the query page

    def _statement(self, names: Names) -> str:
        named = f": {shown(self.terms)}" if self.terms else ""
        return f"Similar text{named} ({plural(self.shared, 'shared term')})"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"count": self.shared, "of": self.of, "share": self.share, "words": self.terms}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWords(Part):
    """Words of the sections that list the one page and of those that list the other."""

    kind = "company"
    terms: tuple[str, ...]

    def _statement(self, names: Names) -> str:
        return f"Listed in sections about {shown(self.terms) or 'the same things'}"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"share": self.share, "words": self.terms}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Part):
    """How often people went from one page to the other."""

    kind = "usage"
    forward: int  # clicks from the query page to the result
    of: int  # clicks from the query page
    back: int  # clicks from the result to the query page
    sessions: int  # times that both were visited in one session, but not one from the other

    def _statement(self, names: Names) -> str:
        clicks, sessions = self.forward + self.back, plural(self.sessions, "session")
        went = f"People went from one to the other {plural(clicks, 'time')}"
        if not self.sessions:
            return went
        return f"{went}, and visited both in {sessions}" if clicks else f"People visited both in {sessions}"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"count": self.forward, "of": self.of, "share": self.share, "back": self.back, "together": self.sessions}


@dataclass(frozen=True, slots=True, kw_only=True)
class SameName(Evidence):
    """Links call both by the same name."""

    kind = "same name"

    def _statement(self, names: Names) -> str:
        return "Links give both the same name"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedWithSameName(Evidence):
    """The result is listed with a page that has the name of the query page."""

    kind = "beside the same name"
    through: int

    def _statement(self, names: Names) -> str:
        return f"Listed with {names.label(self.through)}, which has the name of the query page"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"through": names.address(self.through)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SameNameListed(Part):
    """The query page is listed with a page that has the name of the result."""

    kind = "its name beside"
    through: int

    def _statement(self, names: Names) -> str:
        return f"The query page is listed with {names.label(self.through)}, which has the same name"

    def _fields(self, names: Names) -> dict[str, Any]:
        return {"through": names.address(self.through), "share": self.share}


@dataclass(frozen=True, slots=True, kw_only=True)
class SameHost(Part):
    """Both are on one host."""

    kind = "same host"

    def _statement(self, names: Names) -> str:
        return "On the same host"


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePage(Part):
    """The result is the home page of its host, as entries of lists often are."""

    kind = "first page of its host"

    def _statement(self, names: Names) -> str:
        return "Home page of its host"


def shown(words: tuple[str, ...]) -> str:
    """The first words, with commas."""
    return ", ".join(words[:MAX_SHOWN_WORDS])


def plural(number: int, noun: str) -> str:
    """`1 link`, `2,000 links`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"
