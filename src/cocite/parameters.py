"""Parameters as data: type, default, limits and meaning, which feed validation, help and documentation.

A method's parameters are a frozen dataclass whose fields are made by `parameter`. They can be given by name in Python,
or written in the method's name: `companion(parents=500, unit=host)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from cocite.errors import BadParameter

T = TypeVar("T")


@dataclass(frozen=True)
class Parameter:
    """What is known of one parameter."""

    name: str
    type: type
    default: Any
    meaning: str
    least: float | None
    most: float | None
    choices: tuple[str, ...]

    def check(self, value: Any) -> Any:
        """The value in its own type; raises BadParameter if it cannot be one."""
        converted = self._converted(value)
        if converted is None:
            raise BadParameter(f"{self.name} is {self.kind}, not {value!r}")
        if self.choices and converted not in self.choices:
            raise BadParameter(f"{self.name} is {self.kind}, not {value!r}")
        if (self.least is not None and converted < self.least) or (self.most is not None and converted > self.most):
            raise BadParameter(f"{self.name} is {self.kind}, not {value!r}")
        return converted

    @property
    def kind(self) -> str:
        """What may be given, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        name = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}.get(self.type, "a list")
        if self.least is not None and self.most is not None:
            return f"{name} from {self.least:g} to {self.most:g}"
        return name if self.least is None else f"{name} of at least {self.least:g}"

    def _converted(self, value: Any) -> Any:
        if self.type is bool:
            return value if isinstance(value, bool) else _TRUTHS.get(str(value).lower())
        if self.type is tuple:
            return (value,) if isinstance(value, str) and value else tuple(value)
        if isinstance(value, bool) or (self.type is str and not isinstance(value, str)):
            return None
        try:
            converted = self.type(value)
        except (ValueError, TypeError, OverflowError):
            return None
        if self.type is int and isinstance(value, float) and value != converted:
            return None
        return converted if self.type is str or abs(converted) < 1e18 else None  # so infinity and NaN are none


_TRUTHS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


def parameter(
    default: Any,
    meaning: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A field of a dataclass of parameters."""
    return field(default=default, metadata={"about": (meaning, least, most, choices)})


def parameters_of(cls: Any) -> list[Parameter]:
    """All parameters of a dataclass, in order."""
    return [
        Parameter(each.name, type(each.default), each.default, *each.metadata["about"])
        for each in fields(cls)
        if "about" in each.metadata
    ]


def make(cls: type[T], owner: str, given: Mapping[str, Any]) -> T:
    """An instance with the given values checked; `owner` is whose parameters they are, for messages."""
    known = {each.name: each for each in parameters_of(cls)}
    for name in given:
        if name not in known:
            raise BadParameter(f"{owner} has no parameter {name!r}; it has {', '.join(known) or 'none'}")
    return cls(**{name: known[name].check(value) for name, value in given.items()})


def values_of(instance: Any) -> dict[str, Any]:
    """All parameters with their values; for JSON, tuples are lists."""
    values = {each.name: getattr(instance, each.name) for each in parameters_of(type(instance))}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def changed(instance: Any) -> dict[str, Any]:
    """The parameters that differ from their defaults."""
    values = {each.name: (getattr(instance, each.name), each.default) for each in parameters_of(type(instance))}
    return {name: value for name, (value, default) in values.items() if value != default}


def spell(name: str, values: Mapping[str, Any]) -> str:
    """A name with parameters, as `parse` reads it."""

    def text(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return f"{name}({', '.join(f'{key}={text(value)}' for key, value in values.items())})" if values else name


def parse(call: str) -> tuple[str, dict[str, str]]:
    """`companion(parents=500, unit=host)` → its name and parameters, as texts."""
    found = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", call, re.DOTALL)
    if not found:
        raise BadParameter(f"{call!r} is no method; write it as companion or companion(parents=500, unit=host)")
    values: dict[str, str] = {}
    for part in (found[2] or "").split(","):
        if not part.strip():
            continue
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise BadParameter(f"{part.strip()!r} in {call!r} is no parameter; write name=value")
        if name.strip() in values:
            raise BadParameter(f"{name.strip()} is given twice in {call!r}")
        values[name.strip()] = value.strip().strip("'\"")
    return found[1].replace("-", "_"), values
