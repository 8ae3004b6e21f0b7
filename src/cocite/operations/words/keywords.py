"""Find keywords related to some words, or the keywords of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter
from cocite.operations import shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.parameters import parameter

if TYPE_CHECKING:
    from cocite.results.keywords import KeywordsFound, PageKeywords
    from cocite.web import Web


@operation(
    name="keywords",
    group="words",
    examples=[
        "cocite keywords password manager",
        "cocite keywords --page nodejs.org",
        "cocite keywords --make --per-page 30 -i web.cocite",
    ],
    route="/api/keywords",
    tool="keywords",
    slow=True,
)
class FindKeywords(Operation):
    """Find keywords related to some words, or the keywords of a page.

    Similar keywords occur on the same pages as the words. Logically related ones occur on pages that these pages link
    to. The keywords of a page are its most frequent words without stop words; if the page wasn't fetched, those of
    links to it. Its main keywords are most relevant to the others (Zhao et al. 2016).

    Keywords and their relevance are computed when they are first needed, and kept with the store.
    """

    words: tuple[str, ...] = parameter(
        (), "A keyword; may be repeated", metavar="WORDS", positional=True, example=["password"],
        on={
            "http": {"name": "q", "max_items": 50, **shared_parameters.TEXT_BOUNDS},
            "mcp": {"max_items": 20, **shared_parameters.TEXT_BOUNDS},
        },
    )  # fmt: skip
    page: str = parameter(
        "", "Find the keywords of this page instead", metavar="URL",
        on={
            "http": {"name": "url", **shared_parameters.ADDRESS_BOUNDS},
            "mcp": {"name": "url", **shared_parameters.ADDRESS_BOUNDS},
        },
    )  # fmt: skip
    k: int = shared_parameters.k(help="Maximum number of keywords of each kind")
    alpha: float = parameter(
        0.5, "Similar keywords: weight of support; the rest is mutual information", metavar="SHARE", minimum=0,
        maximum=1, surfaces=("cli", "http", "python"),
    )  # fmt: skip
    beta: float = parameter(
        0.5, "Logically related keywords: weight of support; the rest is confidence over links", metavar="SHARE",
        minimum=0, maximum=1, surfaces=("cli", "http", "python"),
    )  # fmt: skip
    beside: str = parameter(
        "support", "Logically related keywords: combine confidence with support or with (mutual) information",
        metavar="support|information", choices=("support", "information"), surfaces=("cli", "python"),
    )  # fmt: skip

    def validate(self) -> None:
        """Check that there are either words or a page."""
        if bool(self.words) == bool(self.page):
            raise BadParameter(
                "Give either words or a page, not both" if self.page else "Nothing to ask about: give words, or a page"
            )

    def run(self, web: Web) -> KeywordsFound | PageKeywords:
        """Related keywords, or those of the page."""
        from cocite.results.keywords import keywords_for, keywords_of_page

        if self.page:
            return keywords_of_page(web, self.page)
        return keywords_for(web, self.words, self.k, self.alpha, self.beta, self.beside)

    def why_empty(self, web: Web, result: Any) -> str:
        """Why there are no keywords, and what to try."""
        if self.page:
            return "" if result.keywords else f"No words are known for {result.page[:200]}, so it has no keywords"
        if result.similar or result.logical or not self.k:
            return ""
        return f"No other keyword is related to {' '.join(result.words)[:200]}; try others"
