"""Parameters as data: type, default, bounds, help and example, which feed validation, help texts, schemas and docs.

Parameters of a method, a rank or an operation are the fields of a frozen dataclass, made by `parameter`. Those of a
method can be given by name in Python, or written in the method's name: `companion(parents=500, unit=host)`. Items of a
list are separated by spaces, and text with a space, a comma or a quotation mark is quoted:
`companion(stop=a.com "b, c.com")`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, TypeVar

from cocite.errors import BadParameter

ParamsT = TypeVar("ParamsT")
MAX_NUMBER = 1e18
"""Default bound of numbers: kernels count in 64 bits."""
SERVERS = "servers"
"""In `on` of a method's parameter: its bounds where strangers ask."""
TYPES_IN_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
SCHEMA_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
TRUTH_VALUES = {
    "true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter. `type` is that of one value; with `many` the value is a tuple of them."""

    name: str
    help: str
    type: type = str
    default: Any = ""
    many: bool = False
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()  # of a text; of a truth value, others beside true and false
    max_length: int = 1_000_000
    max_items: int | None = None
    pattern: str = ""  # a regular expression, for schemas
    example: Any = None
    flags: tuple[str, ...] = ()  # spellings on the command line; default: --its-name
    metavar: str = ""
    label: str = ""  # in a form; default: its name
    positional: bool = False  # an argument of the command line, not an option
    joined: bool = False  # an argument of several words, joined by spaces
    calls: bool = False  # methods, of which a list may have several in one text: `companion,cocitation(unit=site)`
    surfaces: tuple[str, ...] = ("cli", "http", "mcp", "python")
    on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # other values of these fields, by surface

    def for_surface(self, surface: str) -> Self | None:
        """The parameter as a surface has it, with its own name and bounds there; None if it does not have it."""
        return replace(self, **self.on.get(surface, {})) if surface in self.surfaces else None

    def check(self, value: Any) -> Any:
        """The value in its own type; raises BadParameter if it is invalid."""
        if self.many:
            return self._check_items((value,) if isinstance(value, str) else value)
        self._check_length(value)
        converted = self._convert(value)
        if converted is None or not self._allows(converted):
            shown = repr(value) if converted is None or self.type is str else str(value)
            above = self.type is int and self.maximum is None and (converted or 0) > MAX_NUMBER
            raise BadParameter(
                f"{self.name} must be {self.kind}{' below 10^18' if above else ''}, "
                f"not {shown if len(shown) <= 100 else shown[:99] + '…'}"
            )
        return converted

    def _check_items(self, items: Any) -> tuple[Any, ...]:
        kind = object if self.type is float else self.type  # numbers may be texts
        if not isinstance(items, list | tuple) or not all(isinstance(item, kind) for item in items):
            raise BadParameter(f"{self.name} must be {self.kind}, not {items!r:.100}")
        if self.calls:
            items = [call for item in items for call in split_calls(item)]
        if self.max_items is not None and len(items) > self.max_items:
            raise BadParameter(f"{self.name} is given {len(items):,} times; the maximum is {self.max_items:,}")
        if self.type is float:
            return tuple(map(replace(self, many=False).check, items))
        for item in items:
            self._check_length(item)
        return tuple(item for item in items if not isinstance(item, str) or item.strip())

    def _check_length(self, value: Any) -> None:
        if self.type is str and isinstance(value, str) and len(value) > self.max_length:
            raise BadParameter(f"{self.name} has {len(value):,} characters; the maximum is {self.max_length:,}")

    def _allows(self, value: Any) -> bool:
        if self.type not in (int, float):
            return not self.choices or value in self.choices or isinstance(value, bool)
        minimum = -MAX_NUMBER if self.minimum is None else self.minimum
        return bool(minimum <= value <= (MAX_NUMBER if self.maximum is None else self.maximum))  # False for NaN

    @property
    def kind(self) -> str:
        """What is allowed, in words."""
        if self.choices:
            return "one of " + ", ".join(("true", "false", *self.choices) if self.type is bool else self.choices)
        if self.many:
            return "a list of texts"
        name = TYPES_IN_WORDS[self.type]
        if self.minimum is not None and self.maximum is not None:
            return f"{name} from {_whole(self.minimum)} to {_whole(self.maximum)}"
        return name if self.minimum is None else f"{name} of at least {_whole(self.minimum)}"

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its values."""
        schema: dict[str, Any] = {"type": SCHEMA_TYPES[self.type]}
        if self.type is bool and self.choices:
            return {"enum": [True, False, *self.choices], "default": self.default}
        if self.type is str:
            schema["maxLength"] = self.max_length
            pattern = self.pattern or (r"\S" if self.many or self.required else "")
            schema |= {"pattern": pattern} if pattern else {}
        bounds = {"minimum": self.minimum, "maximum": self.maximum, "enum": list(self.choices) or None}
        schema |= {name: bound for name, bound in bounds.items() if bound is not None}
        if self.many:
            return {"type": "array", "items": schema, "maxItems": self.max_items}
        return schema if self.required else {**schema, "default": self.default}

    def _convert(self, value: Any) -> Any:
        if self.type is bool:
            own = isinstance(value, bool) or (isinstance(value, str) and value in self.choices)
            return value if own else TRUTH_VALUES.get(str(value).lower())
        if self.type is str or isinstance(value, bool):
            return value if isinstance(value, str) and self.type is str else None
        try:
            converted = self.type(value)
        except (ValueError, TypeError, OverflowError):
            return None
        return None if self.type is int and isinstance(value, float) and value != converted else converted


def _whole(limit: float) -> str:
    return str(int(limit)) if limit == int(limit) else f"{limit:g}"


def parameter(default: Any, help: str, **about: Any) -> Any:
    """A field of a dataclass of parameters; `about` are further fields of Parameter."""
    return field(default=default, metadata={"about": {"help": help, **about}})


_parameters: dict[Any, list[Parameter]] = {}
"""Parameters by class: they are needed several times a question, and never change."""


def parameters_of(cls: Any) -> list[Parameter]:
    """All parameters of a dataclass, in order."""
    if cls not in _parameters:
        found = []
        for each in fields(cls):
            if "about" in each.metadata:
                many = isinstance(each.default, tuple)
                kind = {"type": str if many else type(each.default), "many": many, **each.metadata["about"]}
                found.append(Parameter(name=each.name, default=each.default, **kind))
        _parameters[cls] = found  # when it is complete: other threads may read it
    return _parameters[cls]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A dataclass of parameters that are checked when it is made; `validate` may check further."""

    def __post_init__(self) -> None:
        for each in parameters_of(type(self)):
            value = getattr(self, each.name)
            if value is not each.default:
                object.__setattr__(self, each.name, each.check(value))
        self.validate()

    def validate(self) -> None:
        """Raise BadParameter if the values don't go together."""


def make(cls: type[ParamsT], owner: str, given: Mapping[str, Any]) -> ParamsT:
    """An instance with the given values checked; messages name the `owner` of the parameters."""
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
            return " ".join(map(_quote, value))
        return str(value).lower() if isinstance(value, bool) else _quote(str(value))

    return f"{name}({', '.join(f'{key}={text(value)}' for key, value in values.items())})" if values else name


def _quote(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else '"' + text.replace('"', '""') + '"'


_PLAIN = re.compile(r"""[^\s,"'][^\s,]*""")
_ITEM = rf"""(?:"(?:[^"]|"")*"|'(?:[^']|'')*'|{_PLAIN.pattern})"""
_CALL = re.compile(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_PART = re.compile(rf"""\s*(?:([\w-]+)\s*=\s*({_ITEM}(?:\s+{_ITEM})*)?)?\s*(?:,|$)""")
_CALLS = re.compile(r"""(?:\((?:"[^"]*"|'[^']*'|[^()"'])*\)?|[^,(])+""")
_UP_TO_COMMA = re.compile(r"[^,]*")


def parse(call: str) -> tuple[str, dict[str, str | tuple[str, ...]]]:
    """`companion(parents=500, unit=host)` → its name and its parameters, each a text, or several for a list."""
    found = _CALL.fullmatch(call) if isinstance(call, str) else None
    if not found:
        raise BadParameter(f"Invalid method {call!r:.200}; write companion or companion(parents=500, unit=host)")
    values: dict[str, str | tuple[str, ...]] = {}
    for name, items in _parts(found[2] or ""):
        if name in values:
            raise BadParameter(f"{name} is given twice in {call!r:.200}")
        values[name] = items[0] if len(items) == 1 else items or ""
    return found[1].replace("-", "_"), values


def split_calls(text: str) -> list[str]:
    """`companion, cocitation(unit=site, parents=9)` → the two calls: commas in brackets or quotes don't separate."""
    return [call.strip() for call in _CALLS.findall(text) if call.strip()]


def _parts(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The parameters between the brackets of a call."""
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if not part:
            wrong = _UP_TO_COMMA.match(text, at)
            raise BadParameter(f"Invalid parameter {wrong[0].strip() if wrong else text!r}; write name=value")
        at = part.end()
        if part[1]:
            yield part[1].replace("-", "_"), tuple(_unquote(item) for item in re.findall(_ITEM, part[2] or ""))


def _unquote(item: str) -> str:
    mark = item[0]
    return item[1:-1].replace(2 * mark, mark) if mark in "\"'" else item
