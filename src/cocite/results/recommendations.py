"""What is recommended to somebody who has read some pages: pages in groups, and keywords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocite.results.groups import GroupedAnswers

if TYPE_CHECKING:
    from cocite.operations.words.keywords import KeywordsFound


@dataclass(frozen=True, repr=False)
class Recommendations(GroupedAnswers):
    """Pages, the groups that they form, and keywords; none if the store has no keywords."""

    keywords: KeywordsFound | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**super().to_dict(), "keywords": self.keywords.to_dict() if self.keywords else None}
