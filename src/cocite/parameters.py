"""Parameters as data: type, default, limits and meaning, which feed validation, help and documentation.

A method's parameters are a frozen dataclass whose fields are made by `parameter`. They can be given by name in Python,
or written in the method's name: `companion(parents=500, unit=host)`. A list is written with spaces between its items,
and what holds a space, a comma or a quotation mark stands in quotation marks: `companion(stop=a.com "b, c.txt")`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from cocite.errors import BadParameter

T = TypeVar("T")
BEYOND = 1e18
"""No number reaches this, unless its own limits say so: compiled loops count in 64 bits."""


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
        if converted is None or not self._allows(converted):
            shown = repr(value)
            limit = " below 10^18" if self.type is int and self.most is None and (converted or 0) > BEYOND else ""
            raise BadParameter(
                f"{self.name} is {self.kind}{limit}, not {shown if len(shown) <= 100 else shown[:99] + '…'}"
            )
        return converted

    def _allows(self, value: Any) -> bool:
        if self.type not in (int, float):
            return not self.choices or value in self.choices
        least = -BEYOND if self.least is None else self.least
        return bool(least <= value <= (BEYOND if self.most is None else self.most))  # NaN is not

    @property
    def kind(self) -> str:
        """What may be given, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        names = {
            int: "a whole number",
            float: "a number",
            bool: "true or false",
            str: "a text",
            tuple: "a list of texts",
        }
        name = names[self.type]
        if self.least is not None and self.most is not None:
            return f"{name} from {_in_full(self.least)} to {_in_full(self.most)}"
        return name if self.least is None else f"{name} of at least {_in_full(self.least)}"

    def _converted(self, value: Any) -> Any:
        if self.type is bool:
            return value if isinstance(value, bool) else _TRUTHS.get(str(value).lower())
        if self.type is tuple:
            items = (value,) if isinstance(value, str) else value
            if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
                return None
            return tuple(item for item in items if item.strip())
        if self.type is str or isinstance(value, bool):
            return value if isinstance(value, str) and self.type is str else None
        try:
            converted = self.type(value)
        except (ValueError, TypeError, OverflowError):
            return None
        return None if self.type is int and isinstance(value, float) and value != converted else converted


def _in_full(limit: float) -> str:
    return str(int(limit)) if limit == int(limit) else f"{limit:g}"


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


_KNOWN: dict[Any, list[Parameter]] = {}


def parameters_of(cls: Any) -> list[Parameter]:
    """All parameters of a dataclass, in order. They are asked for several times a question, and not to be changed."""
    if cls not in _KNOWN:
        _KNOWN[cls] = [
            Parameter(each.name, type(each.default), each.default, *each.metadata["about"])
            for each in fields(cls)
            if "about" in each.metadata
        ]
    return _KNOWN[cls]


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
        if isinstance(value, tuple):
            return " ".join(map(_quoted, value))
        return str(value).lower() if isinstance(value, bool) else _quoted(str(value))

    return f"{name}({', '.join(f'{key}={text(value)}' for key, value in values.items())})" if values else name


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else '"' + text.replace('"', '""') + '"'


_PLAIN = re.compile(r"""[^\s,"'][^\s,]*""")
_ITEM = rf"""(?:"(?:[^"]|"")*"|'(?:[^']|'')*'|{_PLAIN.pattern})"""
_CALL = re.compile(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_PART = re.compile(rf"""\s*(?:([\w-]+)\s*=\s*({_ITEM}(?:\s+{_ITEM})*)?)?\s*(?:,|$)""")
_WRONG = re.compile(r"[^,]*")


def parse(call: str) -> tuple[str, dict[str, str | tuple[str, ...]]]:
    """`companion(parents=500, unit=host)` → its name and its parameters, each a text, or several for a list."""
    found = _CALL.fullmatch(call) if isinstance(call, str) else None
    if not found:
        raise BadParameter(f"{call!r:.200} is no method; write it as companion or companion(parents=500, unit=host)")
    values: dict[str, str | tuple[str, ...]] = {}
    for name, items in _parts(found[2] or ""):
        if name in values:
            raise BadParameter(f"{name} is given twice in {call!r:.200}")
        values[name] = items[0] if len(items) == 1 else items or ""
    return found[1].replace("-", "_"), values


def _parts(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The parameters written between the brackets of a call."""
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if not part:
            wrong = _WRONG.match(text, at)
            raise BadParameter(f"{wrong[0].strip() if wrong else text!r} is no parameter; write name=value")
        at = part.end()
        if part[1]:
            yield part[1].replace("-", "_"), tuple(_unquoted(item) for item in re.findall(_ITEM, part[2] or ""))


def _unquoted(item: str) -> str:
    mark = item[0]
    return item[1:-1].replace(2 * mark, mark) if mark in "\"'" else item
