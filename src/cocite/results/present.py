"""Answers as text, tables and HTML for people. Titles come from strangers: escaped, and never markup."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from html import escape

from cocite.results.answer import (
    BESIDE_NAME,
    BEYOND,
    BY_COMPANY,
    BY_LINKS,
    BY_USAGE,
    BY_WORDS,
    FIRST_PAGE,
    INS_ALIKE,
    KEYWORDS,
    LINKED,
    LINKS,
    NAME_BESIDE,
    OUTS_ALIKE,
    REACHED,
    SAME_HOST,
    SAME_NAME,
    SHARED,
    SHARED_IN_ALL,
    SITES_ALIKE,
    STANDS_FOR,
    TOGETHER,
    TOGETHER_IN_ALL,
    WORDS_ALIKE,
    WORDS_APART,
    Answer,
    Answers,
    Reason,
)

WORDS = 8
"""Words in common that are named."""
FORMULA = ("=", "+", "-", "@")


def say(reason: Reason) -> str:
    """A reason in words."""
    about = f" (with {reason.query})" if reason.query else ""
    about += f" (its near-duplicate {reason.copy})" if reason.copy else ""
    if reason.kind == TOGETHER:
        return f"beside it {_where(reason)}{about}"
    if reason.kind == TOGETHER_IN_ALL:
        return f"cited together by {reason.count:,} of {_count(reason.of or 0, 'page')}{_counted(reason)}{about}"
    if reason.kind == SHARED_IN_ALL:
        return f"{_count(reason.count or 0, 'link')} in common, of {reason.of:,}{about}"
    if reason.kind == STANDS_FOR:
        named = ", ".join(reason.pages)
        return f"counted with {_count(reason.count or 0, 'near-duplicate')}: {named}"
    if reason.kind == REACHED:
        return f"{_count(len(reason.pages) - 1, 'link')} away: {' – '.join(reason.pages[:-1])}"
    if reason.kind == SITES_ALIKE:
        return f"its site is cited like the page's: {' – '.join(reason.pages)}{about}"
    if reason.kind in (BY_LINKS, BY_WORDS, BY_COMPANY, BY_USAGE):
        return f"{_spoke(reason)}{about}"
    if reason.kind in (KEYWORDS, WORDS_ALIKE, WORDS_APART, OUTS_ALIKE, INS_ALIKE):
        return f"{_alike(reason)}{about}"
    if reason.kind == NAME_BESIDE:
        beside = f"cited together with the page is {reason.through}, which links call by its name"
        return f"{beside}: {_part(reason)}{about}"
    if reason.kind in (SAME_HOST, FIRST_PAGE):
        where = "on the same host" if reason.kind == SAME_HOST else "the first page of its host"
        return f"{where}, which gives {_part(reason)}{about}"
    words = {
        SHARED: f"both link to {reason.to}",
        LINKED: "the page links to it",
        LINKS: "it links to the page",
        BEYOND: f"it links to {reason.through}, which links to the page",
        SAME_NAME: "links call it by the same name",
        BESIDE_NAME: f"cited together with {reason.through}, which links call by the same name as the page",
    }
    return words.get(reason.kind, reason.kind) + about


def _spoke(reason: Reason) -> str:
    """What one of several kinds of evidence said."""
    part = _part(reason)
    if reason.kind == BY_LINKS:
        return f"links give {part}"
    named = ", ".join(reason.words[:WORDS]) + (" …" if len(reason.words) > WORDS else "")
    if reason.kind == BY_COMPANY:
        return f"lists about the same things give {part}: {named}"
    if reason.kind == BY_WORDS:
        return f"words give {part}: {reason.count} of {_count(reason.of or 0, 'telling word')}: {named}"
    went = [f"{reason.count:,} of {_count(reason.of or 0, 'click')} from the page went to it"] if reason.count else []
    went += [f"{_count(reason.back, 'click')} from it to the page"] if reason.back else []
    went += [f"both seen in one session {_count(reason.together, 'time')}"] if reason.together else []
    return f"usage gives {part}: {', '.join(went)}"


def _part(reason: Reason) -> str:
    """How much of a score it is."""
    part = "under 1 %" if (reason.share or 0) < 0.01 else f"{100 * (reason.share or 0):.0f} %"
    return f"{part} of its score"


def _alike(reason: Reason) -> str:
    """What is alike, of words or of linked pages."""
    if reason.kind == KEYWORDS:
        return f"{reason.count} of {_count(reason.of or 0, 'keyword')} in common: {', '.join(reason.words)}"
    if reason.kind == WORDS_ALIKE:
        return f"keywords that go together: {', '.join(reason.words)}"
    if reason.kind == WORDS_APART:
        return f"keywords that avoid each other, which tells something too: {', '.join(reason.words)}"
    one, other = reason.pages
    if reason.kind == OUTS_ALIKE:
        return (
            f"both link to {one}"
            if one == other
            else f"it links to {other}, which is like {one}, to which the page does"
        )
    return (
        f"{one} links to both" if one == other else f"{other} links to it, and is like {one}, which links to the page"
    )


def _where(reason: Reason) -> str:
    under = f" under “{reason.block}”" if reason.block else ", in one block" if reason.block is not None else ""
    who = reason.title or reason.by
    return f"on {who}{under}{apart(reason)}"


def apart(reason: Reason) -> str:
    """How far apart two links are, after a comma; nothing where one of them is of a block that has the page again."""
    if reason.distance is None:
        return ""
    return ", next to each other" if reason.distance == 1 else f", {reason.distance:,} links apart"


def _counted(reason: Reason) -> str:
    """Said where citing pages are not all independent: copies of one another, or of one site."""
    fewer = reason.voices is not None and reason.voices != reason.count
    return f", counted as {reason.voices:,}" if fewer else ""


def _count(number: int, what: str) -> str:
    return f"{number:,} {what if number == 1 else what + 's'}"


def briefly(answer: Answer) -> str:
    """The whole evidence in a few words, for one line: how many cite both, and the best of them."""
    counts = [reason for reason in answer.reasons if reason.kind in (TOGETHER_IN_ALL, SHARED_IN_ALL)]
    best = answer.reasons[0] if answer.reasons else None
    if best is None:
        return ""
    if best.kind != TOGETHER or not counts or counts[0].kind != TOGETHER_IN_ALL:
        return say(counts[0]) if counts and best.kind == SHARED else say(best)
    under = f" under “{best.block}”" if best.block else ""
    cite = "cites" if counts[0].count == 1 else "cite"
    many = f"{counts[0].count:,} of {_count(counts[0].of or 0, 'page')} {cite} both{_counted(counts[0])}"
    return f"{many}, such as {best.title or best.by}{under}"


def lines(answer: Answer) -> Iterator[str]:
    """Every reason on a line of its own."""
    return map(say, answer.reasons)


def text(answers: Answers) -> str:
    """A plain list, for a Python prompt."""
    head = f"related to {', '.join(answers.query)} by {answers.method}"
    rows = [f"{answer.rank:3d}  {answer.score:<11g} {one_line(f'{answer.url}  {answer.title}')}" for answer in answers]
    return "\n".join([one_line(head), *(rows or ["  nothing"])])


def separated(answers: Answers, separator: str) -> str:
    """Rows with a header line: rank, score, url, title, why. By commas for spreadsheets, by tabs without quoting.

    Spreadsheets take a text that begins with = + - or @ for a formula, and titles are strangers': by commas, such a
    text gets an apostrophe before it, as is usual.
    """
    found = [[str(answer.rank), f"{answer.score:g}", answer.url, answer.title, briefly(answer)] for answer in answers]
    rows = [["rank", "score", "url", "title", "why"], *([one_line(text) for text in row] for row in found)]
    if separator == "\t":
        return "".join("\t".join(row) + "\n" for row in rows)
    out = io.StringIO()
    harmless = ([f"'{text}" if text.startswith(FORMULA) else text for text in row] for row in rows)
    csv.writer(out, lineterminator="\n").writerows(harmless)
    return out.getvalue()


def one_line(text: str) -> str:
    """Text on one line, of printable characters and those that join letters: none that steers a terminal."""
    return " ".join("".join(c if c.isprintable() or c in "\u200c\u200d" else " " for c in text).split())


def linked(url: str, label: str) -> str:
    """A label, which is HTML already, as a link if an address is one that a browser may be given."""
    if not url.lower().startswith(("http://", "https://")):
        return label  # an opaque name, or a scheme that a browser might run
    return f'<a href="{escape(url, quote=True)}" rel="noreferrer noopener">{label}</a>'
