"""Bounds on what strangers may ask of a method, over HTTP and through assistants: no question takes minutes.

A method may declare bounds of its own for servers, as `on={SERVERS: {"minimum": 1e-6}}` of a parameter. Other whole
numbers are bounded by their defaults. What the bounds still allow, times the number of pages, has a budget of links
(`budget.py`). On the command line a method does what its owner wants.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from cocite.errors import BadAddress, BadParameter
from cocite.operations.declare import Operation
from cocite.operations.shared import MAX_ADDRESS_LENGTH
from cocite.parameters import MAX_NUMBER, SERVERS, Parameter, parameters_of, parse

if TYPE_CHECKING:
    from cocite.related.methods import Method

Op = TypeVar("Op", bound=Operation)
MAX_ADDRESSES = 50
DEFAULT_FACTOR, ALWAYS_ALLOWED = 4, 200  # a whole number may be this many times its default, and this large in any case
FREE_NUMBERS = frozenset({"seed", "stop_degree"})  # numbers that cost nothing however large


def bounded(operation: Op) -> Op:
    """An operation within the bounds for strangers; raises UnknownMethod, BadParameter, BadAddress."""
    check_addresses([url for name in ("urls", "exclude", "more_like") for url in getattr(operation, name, ())])
    given: dict[str, Any] = {}
    if method := getattr(operation, "method", ""):
        given["method"] = str(bounded_method(method)[0])
    if methods := getattr(operation, "methods", ()):
        given["methods"] = tuple(str(bounded_method(each)[0]) for each in methods)
    same = all(getattr(operation, name) == value for name, value in given.items())
    return operation if same else replace(operation, **given)


@lru_cache(maxsize=512)
def bounded_method(call: str) -> "tuple[Method, frozenset[str]]":
    """A method as a stranger writes it, and the parameters that were given. Raises UnknownMethod, BadParameter."""
    from cocite.related import methods

    method, given = methods.method(call), frozenset(parse(call)[1])
    for each in parameters_of(type(method.params)):
        value = getattr(method.params, each.name)
        least, most = ends(each)
        if isinstance(value, int | float) and not least <= value <= most:
            bound = f"at most {most:,.10g}" if value > most else f"at least {least:,.10g}"
            raise BadParameter(f"{each.name} must be {bound} here, not {value:,}")
        if isinstance(value, tuple) and len(value) > MAX_ADDRESSES:
            raise BadParameter(f"{each.name} may have at most {MAX_ADDRESSES} addresses here, not {len(value):,}")
    return method, given


def ends(parameter: Parameter) -> tuple[float, float]:
    """The smallest and the largest number that a stranger may give."""
    own, declared = replace(parameter, **parameter.on.get(SERVERS, {})), parameter.on.get(SERVERS, {})
    least = -MAX_NUMBER if own.minimum is None else own.minimum
    most = MAX_NUMBER if own.maximum is None else own.maximum
    if own.type is int and own.name not in FREE_NUMBERS and "maximum" not in declared:
        most = min(most, float(max(DEFAULT_FACTOR * own.default, ALWAYS_ALLOWED)))
    return least, most


def check_addresses(urls: Sequence[str]) -> None:
    """Neither too many addresses, nor too long ones."""
    if len(urls) > MAX_ADDRESSES:
        raise BadParameter(f"More than {MAX_ADDRESSES} addresses; ask about fewer at once")
    for url in urls:
        if len(url) > MAX_ADDRESS_LENGTH:
            raise BadAddress(f"Address longer than {MAX_ADDRESS_LENGTH:,} characters; give a shorter one")
