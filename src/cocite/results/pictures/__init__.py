"""Pictures of results for the web page, notebooks and graph programs. Markup is in the templates beside these files."""

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cocite.text import clean, count

if TYPE_CHECKING:
    from jinja2 import Environment


def is_web_address(url: str) -> bool:
    """Whether a browser may follow it: neither an opaque name nor a scheme that could run something."""
    return url.lower().startswith(("http://", "https://"))


def host_of(url: str) -> str:
    """The host of a web address without www; empty for an opaque name."""
    try:
        return clean(urlsplit(url).netloc.removeprefix("www.")) if is_web_address(url) else ""
    except ValueError:  # a name that only begins like an address
        return ""


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(loader=PackageLoader(__name__, "."), autoescape=True, undefined=StrictUndefined)
    made.filters |= {"clean": clean, "host": host_of, "count": count, "is_web_address": is_web_address}
    return made


def render(template: str, **values: Any) -> str:
    """A template with values, which it escapes: titles and addresses are strangers' texts."""
    return _environment().get_template(template).render(values)
