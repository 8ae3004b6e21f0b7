"""How good answers are, and the papers' experiments on any web. Markup is in templates/."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(__name__)
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    # XML allows no control characters and lone surrogates.
    other = "\N{REPLACEMENT CHARACTER}"
    made.filters["printable"] = lambda text: "".join(c if c.isprintable() else other for c in text)
    return made


def render(template: str, **values: Any) -> str:
    """A template with values, which it escapes: titles and addresses are strangers' texts."""
    return _environment().get_template(template).render(values)
