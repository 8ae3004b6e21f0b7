"""Bounds on what strangers may ask of a method, over HTTP and through assistants: no question takes minutes.

On the command line a method does what its owner wants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from cocite.errors import BadAddress, BadParameter
from cocite.operations.declare import Operation
from cocite.operations.shared import ADDRESS_BOUNDS
from cocite.parameters import Parameter, parameters_of, parse

if TYPE_CHECKING:
    from cocite.related.methods import Method

Op = TypeVar("Op", bound=Operation)
MAX_ADDRESSES = 50
MAX_ADDRESS_LENGTH = ADDRESS_BOUNDS["max_length"]
DEFAULT_FACTOR, ALWAYS_ALLOWED = 4, 200  # a whole number may be this many times its default, and this large in any case
FREE_NUMBERS = frozenset({"seed", "stop_degree"})  # numbers that cost nothing however large


def bounded(operation: Op) -> Op:
    """An operation within the bounds for strangers; raises UnknownMethod, BadParameter, BadAddress."""
    check_addresses((*getattr(operation, "urls", ()), *getattr(operation, "exclude", ())))
    given: dict[str, Any] = {}
    if method := getattr(operation, "method", ""):
        given["method"] = str(bounded_method(method)[0])
    if methods := getattr(operation, "methods", ()):
        given["methods"] = tuple(str(bounded_method(each)[0]) for each in methods)
    same = all(getattr(operation, name) == value for name, value in given.items())
    return operation if same else replace(operation, **given)


@lru_cache(maxsize=512)
def bounded_method(call: str) -> tuple[Method, frozenset[str]]:
    """A method as a stranger writes it, and the parameters that were given. Raises UnknownMethod, BadParameter."""
    from cocite.related import methods

    method, given = methods.method(call), frozenset(parse(call)[1])
    for each in parameters_of(type(method.params)):
        value = getattr(method.params, each.name)
        if isinstance(value, int | float) and value > maximum(each):
            raise BadParameter(f"{each.name} must be at most {maximum(each):,.10g} here, not {value:,}")
        if isinstance(value, tuple) and len(value) > MAX_ADDRESSES:
            raise BadParameter(f"{each.name} may have at most {MAX_ADDRESSES} addresses here, not {len(value):,}")
    return method, given


def maximum(parameter: Parameter) -> float:
    """The largest value that a stranger may give."""
    own = float("inf") if parameter.maximum is None else parameter.maximum
    if parameter.type is not int or parameter.name in FREE_NUMBERS:
        return own
    return min(own, float(max(DEFAULT_FACTOR * parameter.default, ALWAYS_ALLOWED)))


def check_addresses(urls: Sequence[str]) -> None:
    """Neither too many addresses, nor too long ones."""
    if len(urls) > MAX_ADDRESSES:
        raise BadParameter(f"More than {MAX_ADDRESSES} addresses; ask about fewer at once")
    for url in urls:
        if len(url) > MAX_ADDRESS_LENGTH:
            raise BadAddress(f"Address longer than {MAX_ADDRESS_LENGTH:,} characters; give a shorter one")
