"""List the methods with their papers and parameters."""

from dataclasses import dataclass
from typing import Any

from cocite.operations.declare import Operation, Web, operation
from cocite.parameters import Parameter, parameter
from cocite.registry import About


@dataclass(frozen=True)
class MethodList:
    """Methods, described."""

    methods: tuple[About, ...]

    def to_dict(self) -> list[dict[str, Any]]:
        return [{**about._asdict(), "parameters": [*map(_as_json, about.parameters)]} for about in self.methods]


def _as_json(each: Parameter) -> dict[str, Any]:
    kind = "tuple" if each.many else each.type.__name__
    return {"name": each.name, "type": kind, "default": each.default, "meaning": each.help, "allowed": each.kind}


@operation(route="/api/methods", store=False)
class Methods(Operation):
    """List every method with its paper and its parameters.

    Examples:
        cocite methods
        cocite methods companion
    """

    name: str = parameter(
        "", "Only this method, in full", metavar="METHOD", positional=True, on={"http": {"max_length": 100}}
    )

    def run(self, web: Web | None = None) -> MethodList:
        from cocite.related import methods

        return MethodList(tuple(methods.about(name) for name in ([self.name] if self.name else methods.names())))
