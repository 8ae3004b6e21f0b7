"""How operations are declared, and how front ends read the declarations."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

from cocite import operations, plugins
from cocite.errors import BadParameter
from cocite.parameters import Checked, Parameter, parameters_of

if TYPE_CHECKING:
    from cocite.graph.generation import Progress as Progress
    from cocite.graph.store import Graph as Graph
    from cocite.web import Web as Web
else:  # annotations need only their names; importing them would load NumPy
    Graph = Progress = Web = Any

Op = TypeVar("Op", bound="Operation")
GROUP_OF_FOLDER = {"pages": "related pages", "store": "the store", "words": "words", "quality": "quality"}


@dataclass(frozen=True)
class Declaration:
    """What is declared of an operation, beside its parameters."""

    name: str  # of the command, and of the method in Python
    summary: str  # one sentence
    help: str  # further paragraphs
    command_help: str  # one more, which only the command line has
    group: str  # of the API's description: what the folder of its file is about
    examples: tuple[str, ...]  # of the command line
    route: str  # of the HTTP API; empty: none
    tool: str  # for assistants; empty: none
    slow: bool  # takes longer than milliseconds: HTTP has a queue of its own for such questions
    store: bool  # needs a store
    json: bool  # the command has --json


@dataclass(frozen=True, kw_only=True)
class Operation(Checked):
    """A question to a store: its fields are the parameters, checked when it is made."""

    about: ClassVar[Declaration]
    interrupted: ClassVar[str] = ""  # what the command line says after Ctrl-C, unless nothing was changed

    def run(self, web: Web) -> Any:
        """The result."""
        raise NotImplementedError

    @property
    def slow(self) -> bool:
        """Whether this question takes longer than milliseconds."""
        return self.about.slow or bool(getattr(self, "as_of", ""))

    def web_asked(self, web: Web) -> Web:
        """The web that is asked: as of a date, if the question has one. Front ends give it to all methods below."""
        date = getattr(self, "as_of", "")
        return web.as_of(date) if date else web

    def on_surface(self, surface: str) -> Self:
        """The same question as a surface asks it: within its limits, and on the command line with what files have."""
        return self

    def confirmation(self) -> str:
        """What the command line asks before it begins; empty if nothing."""
        return ""

    def prepare(self, web: Web) -> None:
        """Make what the question needs and the store lacks: only the command line does, whose user owns the store."""

    def warnings(self, web: Web, result: Any) -> Iterable[str]:
        """What the command line says on standard error, beside the result."""
        return ()

    def failure(self, result: Any) -> str:
        """Why the result is a failure, and what to do; empty if it is none."""
        return ""

    def why_empty(self, web: Web, result: Any) -> str:
        """Why a result has nothing to show, and what to try; empty if it has something."""
        return ""

    def commands_to_try(self, web: Web, result: Any) -> str:
        """What the command line adds to `why_empty`: commands that other front ends don't have."""
        return ""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def operation(
    *, name: str = "", route: str = "", tool: str = "", slow: bool = False, store: bool = True, json: bool = True
) -> Callable[[type[Op]], type[Op]]:
    """Declare an operation. Its name is that of the class, unless one is given.

    The docstring has a summary, paragraphs of help, perhaps more of them after "Command line:", which only that shows,
    and examples of commands, one per line after "Examples:".
    """

    def declare(cls: type[Op]) -> type[Op]:
        made = dataclass(frozen=True, kw_only=True)(cls)
        text, _, examples = cleandoc(cls.__doc__ or "").partition("\n\nExamples:\n")
        text, _, command_help = text.partition("\n\nCommand line: ")
        summary, _, help = text.partition("\n\n")
        own, summary = name or cls.__name__.lower(), " ".join(summary.split())
        lines = tuple(line.strip() for line in examples.splitlines())
        group = next((group for folder, group in GROUP_OF_FOLDER.items() if f".{folder}." in cls.__module__), "others")
        made.about = Declaration(own, summary, help, command_help, group, lines, route, tool, slow, store, json)
        return made

    return declare


@cache
def operations_by_name() -> dict[str, type[Operation]]:
    """All operations of cocite: every class that is declared in a file of this folder."""
    return dict(sorted(item for module in _modules() for item in _declared_in(module).items()))


@cache
def served_operations() -> dict[str, type[Operation]]:
    """All operations, with those of plugins: for servers, which list them once."""
    others = {each.about.name: each for each in plugins.all_loaded("operations").values()}
    return {**others, **operations_by_name()}


def operation_named(name: str) -> type[Operation] | None:
    """One operation. If a file has its name, only this file is imported, so that commands start quickly."""
    file = next((module for module in _modules() if module.rpartition(".")[2] == name.partition(" ")[0]), "")
    own = (_declared_in(file).get(name) if file else None) or operations_by_name().get(name)
    return own or plugins.loaded("operations", name)


def _modules() -> list[str]:
    return [module.name for module in pkgutil.walk_packages(operations.__path__, f"{operations.__name__}.")]


def _declared_in(module: str) -> dict[str, type[Operation]]:
    values = vars(import_module(module)).values()
    declared = [each for each in values if isinstance(each, type) and issubclass(each, Operation)]
    return {each.about.name: each for each in declared if "about" in vars(each)}


def parameters_on(cls: Any, surface: str) -> tuple[tuple[str, Parameter], ...]:
    """The parameters of an operation that a surface has, as it names and bounds them, each with the field's name."""
    return _parameters_on(cls, surface)


@cache
def _parameters_on(cls: type, surface: str) -> tuple[tuple[str, Parameter], ...]:
    own = vars(cls).get("__annotations__", {})  # first, then those that it inherits
    found = sorted(parameters_of(cls), key=lambda each: each.name not in own)
    return tuple((each.name, shown) for each in found if (shown := each.for_surface(surface)) is not None)


def make(cls: type[Op], surface: str, given: Mapping[str, Any], **fields: Any) -> Op:
    """An operation from parameters as a surface names them, and further fields; raises BadParameter."""
    left, values = dict(given), fields
    declared = parameters_on(cls, surface)
    for field, each in declared:
        if each.name in left:
            values[field] = each.check(left.pop(each.name))
        if each.required and not values.get(field, ""):
            raise BadParameter(f"{each.name} is missing: {each.help[:1].lower()}{each.help[1:]}")
        if field not in values and each.default is not None and each.default != getattr(cls, field):
            values[field] = each.default
    if left:
        names = ", ".join(each.name for _, each in declared) or "none"
        raise BadParameter(f"Unknown parameter {next(iter(left))!r:.100}. Available: {names}")
    return cls(**values).on_surface(surface)
