"""List the methods with their papers and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocite.operations.declare import Operation, operation
from cocite.parameters import parameter

if TYPE_CHECKING:
    from cocite.registry import About
    from cocite.web import Web


@dataclass(frozen=True)
class MethodList:
    """Methods, described."""

    methods: tuple[About, ...]

    def to_dict(self) -> list[dict[str, Any]]:
        return [
            {
                "name": about.name,
                "summary": about.summary,
                "description": about.description,
                "parameters": [
                    {
                        "name": each.name,
                        "type": "tuple" if each.many else each.type.__name__,
                        "default": each.default,
                        "meaning": each.help,
                        "allowed": each.kind,
                    }
                    for each in about.parameters
                ],
            }
            for about in self.methods
        ]


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
        """All methods, or one of them."""
        from cocite.related import methods

        return MethodList(tuple(methods.about(name) for name in ([self.name] if self.name else methods.names())))
