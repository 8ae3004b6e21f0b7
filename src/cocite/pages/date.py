"""Dates as users give them: a day, a month or a year."""

import re
from calendar import monthrange
from datetime import UTC, datetime

from cocite.errors import BadParameter

DAY_SECONDS = 86_400
_DAY = "(0[1-9]|1[0-2])(-(0[1-9]|1[0-9]|2[0-8]))?|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31"
_DATE = f"[12][0-9]{{3}}(-({_DAY}))?"
DATE_PATTERN = f"^({_DATE})?$"
"""For schemas; days after the 28th are checked against the calendar."""


def seconds(name: str, text: str, last: bool) -> float:
    """A date in seconds since 1970: the first moment that it covers, or the last one; 0 if it is empty."""
    if not text:
        return 0.0
    try:
        short = re.fullmatch(r"(\d{4})(?:-(\d\d))?", text)
        year, month = (int(short[1]), int(short[2] or (12 if last else 1))) if short else (0, 0)
        day = monthrange(year, month)[1] if short and last else 1
        given = datetime(year, month, day) if short else datetime.fromisoformat(text)
    except ValueError:
        raise BadParameter(f"{name} must be a date such as 2020-05-17, not {text!r:.100}") from None
    if last and (short or re.fullmatch(r"\d{4}-?\d\d-?\d\d", text)):
        given = given.replace(hour=23, minute=59, second=59)
    return (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
