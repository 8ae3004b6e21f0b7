"""Answers as text, tables and HTML for people. Titles come from strangers: escaped, and never markup."""

import csv
import io
from collections.abc import Sequence

from cocite.related.evidence import (
    BecauseRead,
    ByLinks,
    HomePage,
    ListedTogether,
    Listing,
    Reason,
    SameHost,
    SharedLink,
    SharedLinks,
)
from cocite.results.answer import Answer, Answers
from cocite.text import clean

FORMULA_STARTS = ("=", "+", "-", "@")
MIN_BRIEF_SHARE = 0.05
TOTALS = {Listing.kind: ListedTogether.kind, SharedLink.kind: SharedLinks.kind}
"""Examples, and the kind that counts them."""
ADDRESS_KINDS = frozenset((SameHost.kind, HomePage.kind))
"""What an address says. It makes no page related, so a few reasons have it only where there is nothing else."""


def sentences(reasons: Sequence[Reason]) -> list[str]:
    """Every sentence once, without the remark that links count where links themselves are named.

    A single shared link is skipped where all shared links are named together.
    """
    together = {each.query for each in reasons if each.kind == SharedLinks.kind}
    found = dict.fromkeys(
        each.text
        for each in reasons
        if each.kind != ByLinks.kind and (each.kind != SharedLink.kind or each.copy or each.query not in together)
    )
    return list(found) or [each.text for each in reasons[:1]]


def brief(reasons: Sequence[Reason], limit: int = 3) -> list[str]:
    """The sentences of the strongest reasons: counts instead of their examples, no small parts of the score."""
    totals = {(each.kind, each.query): each for each in reasons if each.kind in TOTALS.values()}
    chosen = [totals.get((TOTALS.get(each.kind, ""), each.query), each) for each in reasons]
    chosen = [each for each in chosen if each.kind not in ADDRESS_KINDS] or chosen
    strong = [each for each in chosen if each.share is None or each.share >= MIN_BRIEF_SHARE]
    found = sentences(strong or chosen)[:limit]
    if len(found) > 1 and reasons[0].kind == BecauseRead.kind:
        found[:2] = [f"{found[0]}: {found[1][:1].lower()}{found[1][1:]}"]
    return found


def briefly(answer: Answer) -> str:
    """The strongest reasons on one line."""
    return " · ".join(brief(answer.reasons))


def lines(answer: Answer) -> list[str]:
    """Every reason, on a line of its own."""
    return sentences(answer.reasons)


def separated(answers: Answers, separator: str) -> str:
    """Rows with a header line: rank, score, url, title, why. By commas for spreadsheets, by tabs without quoting.

    Spreadsheets run a text that begins with = + - or @ as a formula, and titles are strangers' texts. Such a text gets
    an apostrophe before it, as is usual.
    """
    rows = [["rank", "score", "url", "title", "why"]]
    for answer in answers:
        texts = (clean(text) for text in (answer.url, answer.title, briefly(answer)))
        harmless = (f"'{text}" if text.startswith(FORMULA_STARTS) else text for text in texts)
        rows.append([str(answer.rank), f"{answer.score:g}", *harmless])
    if separator == "\t":
        return "".join("\t".join(row) + "\n" for row in rows)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
