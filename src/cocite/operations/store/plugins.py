"""List plugins."""

from dataclasses import dataclass
from typing import Any

from cocite.operations.declare import Operation, Web, operation, operations_by_name
from cocite.plugins import Plugin, installed
from cocite.results.answer import Result


@dataclass(frozen=True)
class PluginList(Result):
    """Plugins by kind and name."""

    plugins: tuple[Plugin, ...]


@operation(store=False)
class Plugins(Operation):
    """List installed plugins: sources, methods, ranks and operations of other packages, and which can't be loaded.

    Examples:
        cocite plugins
    """

    def run(self, web: Web | None = None) -> PluginList:
        from cocite.related import methods, ranks

        own = {"methods": methods.own_names(), "ranks": ranks.own_names(), "operations": operations_by_name()}
        found = []
        for each in installed():
            hidden = each.name in own.get(each.kind, ())
            why = f"cocite has a {each.kind[:-1]} of this name: rename it" if hidden else ""
            found.append(each._replace(failure=each.failure or why))
        return PluginList(tuple(found))

    def why_empty(self, web: Web, result: Any) -> str:
        return "" if result.plugins else "No plugin is installed: see docs/plugins.md"
