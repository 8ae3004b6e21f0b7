"""Worked examples: a small graph, the method's scores, and the sums that give them, evaluated.

    python -m docs.explanation.worked

writes the pages of docs/explanation and the drawings. Each sum is an expression; tests/docs/test_worked.py runs the
method on the graph and compares. In a graph, `A: u s | t` is a page A with links to u and s in one section and to t in
another; `u*0.5` is a link of weight 0.5; `b/1` and `b/2` are two pages of one site.
"""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import cocite
from cocite.graph.store import Graph
from cocite.related import methods
from cocite.related.methods import method
from cocite.sources.records import Link, Page
from cocite.web import Web

FOLDER = Path(__file__).parent
DRAWINGS = FOLDER.parent / "images" / "methods"


@dataclass(frozen=True)
class Example:
    """A method on a small graph."""

    call: str  # the method, perhaps with parameters
    text: str  # how it works
    graph: str
    sums: dict[str, str]  # by page: an expression for its score
    names: dict[str, str] = field(default_factory=dict)  # what expressions use, in this order
    rows: str = ""  # of the drawing, from the top; pages of a row are separated by spaces, rows by /
    query: str = "u"
    texts: dict[str, str] = field(default_factory=dict)
    clicks: str = ""
    note: str = ""  # what to learn from the numbers

    @property
    def name(self) -> str:
        """The method's name."""
        return self.call.partition("(")[0]

    @property
    def links(self) -> list[tuple[str, str, float, int]]:
        """Source, target, weight and section of every link."""
        found = []
        for line in self.graph.strip().splitlines():
            source, _, targets = line.strip().partition(":")
            for section, part in enumerate(targets.split("|")):
                for word in part.split():
                    target, _, weight = word.partition("*")
                    found.append((source, target, float(weight or 1), section))
        return found

    @property
    def pages(self) -> list[str]:
        """All pages, in the order in which they are named."""
        sources = [line.strip().partition(":")[0] for line in self.graph.strip().splitlines()]
        return list(dict.fromkeys([*sources, *(target for _, target, _, _ in self.links)]))

    def records(self) -> list[Page]:
        """The graph as page records. Where no line has |, nobody sorted the links into sections."""
        sectioned = "|" in self.graph
        pages = {name: Page(address(name), text=self.texts.get(name, "")) for name in self.pages}
        for source, target, weight, section in self.links:
            block = section if sectioned else None
            pages[source].links.append(Link(address(target), block=block, weight=weight))
        for each in pages.values():
            each.headings = [""] * len({link.block for link in each.links}) if sectioned else []
        return list(pages.values())

    @cached_property
    def scores(self) -> dict[str, float]:
        """What the method gives every page."""
        if not self.clicks:
            return self._scores_in(Web(Graph.from_records(self.records())))
        with tempfile.TemporaryDirectory() as folder:  # clicks are beside a store
            lines = [f"{address(source)}\t{address(target)}" for source, target, _, _ in self.links]
            (links, log), store = (
                (Path(folder, name) for name in ("links.tsv", "clicks.tsv")),
                Path(folder, "web.cocite"),
            )
            links.write_text("\n".join(lines) + "\n", "utf-8")
            log.write_text(re.sub(r"\b([a-z])\t", lambda page: f"{address(page[1])}\t", self.clicks), "utf-8")
            cocite.build([links], store)
            web = cocite.open(store)
            web.add_clicks(log)
            return self._scores_in(Web(cocite.open(store).graph))

    def _scores_in(self, web: Web) -> dict[str, float]:
        numbers = {web.graph.find(address(name)): name for name in self.pages}
        found = method(self.call).relate(web, [web.graph.find(address(self.query))])
        return {numbers[page]: value for page, value in zip(found.pages.tolist(), found.values.tolist(), strict=True)}

    def evaluated(self) -> dict[str, float]:
        """The values of names and sums."""
        values: dict[str, float] = {}
        for name, expression in (*self.names.items(), *self.sums.items()):
            values[name] = evaluate(expression, values)
        return values


def address(name: str) -> str:
    """The address of a page of an example."""
    host, _, path = name.partition("/")
    return f"https://{host.lower()}.example/{path}"


def evaluate(expression: str, names: dict[str, float]) -> float:
    """The value of a sum as pages show it."""
    code = expression.replace("·", "*").replace("−", "-").replace("√", "sqrt").replace("²", "**2").replace("^", "**")
    return float(eval(code, {"__builtins__": {}, "ln": math.log, "sqrt": math.sqrt, "max": max, "min": min}, names))


def number(value: float) -> str:
    """A value as pages show it."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def drawing(example: Example) -> str:
    """The graph as an SVG in colours that suit light and dark pages."""
    rows = [row.split() for row in (example.rows or default_rows(example)).split("/ ")]
    width, height = 96 * max(map(len, rows)) + 24, 90 * len(rows) + 4
    place = {
        name: (width * (at + 0.5) / len(row), 90 * level + 47)
        for level, row in enumerate(rows)
        for at, name in enumerate(row)
    }
    assert set(place) == set(example.pages), f"{example.name}: {set(place) ^ set(example.pages)}"
    parts = []
    for source, target, weight, _ in example.links:
        (x1, y1), (x2, y2) = place[source], place[target]
        length = math.hypot(x2 - x1, y2 - y1)
        dx, dy = (x2 - x1) / length * 25, (y2 - y1) / length * 25
        bend = f"Q{(x1 + x2) / 2:.0f},{y1 - 45:.0f} " if y1 == y2 and abs(x2 - x1) > 100 else "L"
        lift = 16 if bend != "L" else 0
        dash = ' stroke-dasharray="5 4"' if weight < 1 else ""
        parts.append(f'<path d="M{x1 + dx:.0f},{y1 + dy - lift:.0f} {bend}{x2 - dx:.0f},{y2 - dy - lift:.0f}"{dash}/>')
    sources = {source for source, _, _, _ in example.links}
    for name, (x, y) in place.items():
        colour = "#c2185b" if name == example.query else "#546e7a" if name in sources else "#3949ab"
        parts.append(
            f'<rect x="{x - 20:.0f}" y="{y - 16:.0f}" width="40" height="32" rx="9" fill="{colour}" stroke="none"/>'
            f'<text x="{x:.0f}" y="{y + 5:.0f}">{name}</text>'
        )
    inside = "\n".join(parts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0,0 L8,4 L0,8 z" style="fill: #8a8a8a; stroke: none; marker-end: none"/></marker></defs>
<style>path {{ fill: none; stroke: #8a8a8a; stroke-width: 1.6; marker-end: url(#end) }}
text {{ fill: #fff; font: 15px sans-serif; text-anchor: middle }}</style>
{inside}
</svg>
"""


def default_rows(example: Example) -> str:
    """Pages that link in the first row, the others below."""
    sources = [name for name in example.pages if any(name == source for source, _, _, _ in example.links)]
    return f"{' '.join(sources)} / {' '.join(name for name in example.pages if name not in sources)}"


def section(example: Example) -> str:
    """A method on a page: text, drawing, sums."""
    values, scores = example.evaluated(), example.scores
    graph = "\n".join(line.strip() for line in example.graph.strip().splitlines())
    shown = [f"| `{page}` | {readable(sum_)} | {number(scores.get(page, 0))} |" for page, sum_ in example.sums.items()]
    sums = {name: dict.fromkeys((readable(sum_), number(values[name]))) for name, sum_ in example.names.items()}
    names = [f"- {name} = {' = '.join(sum_)}" for name, sum_ in sums.items()]
    called = "" if example.call == example.name else f", here as `{example.call}`"
    parts = [
        f"## {example.name}",
        methods.about(example.name).summary,
        example.text.strip(),
        f"![The graph of this example](../images/methods/{example.name}.svg)",
        f"The query page is `{example.query}`{called}:",
        f"```text\n{graph}\n```",
        *(
            ["The texts: " + "; ".join(f"`{page}`: {text}" for page, text in example.texts.items()) + "."]
            * bool(example.texts)
        ),
        *([f"The clicks:\n\n```text\n{example.clicks.strip()}\n```"] * bool(example.clicks)),
        *(["\n".join(names)] * bool(names)),
        "\n".join(["| page | sum | score |", "|---|---|---:|", *shown]),
        example.note.strip(),
        f"[Formula, departures from the paper, parameters](../methods.md#{example.name})",
    ]
    return "\n\n".join(part for part in parts if part)


def readable(expression: str) -> str:
    """An expression as a page shows it."""
    return re.sub(r"√\(([\w.]+)\)", r"√\1", expression).replace("*", "\\*")


def pages() -> dict[str, str]:
    """All generated files, by their path under docs/."""
    from docs.explanation.examples import FAMILIES, HEAD

    found = {"explanation/README.md": HEAD}
    for file, (head, examples) in FAMILIES.items():
        found[f"explanation/{file}.md"] = "\n\n".join([head.strip(), *map(section, examples)]) + "\n"
        found |= {f"images/methods/{each.name}.svg": drawing(each) for each in examples}
    return found


if __name__ == "__main__":
    DRAWINGS.mkdir(parents=True, exist_ok=True)
    for file, text in pages().items():
        (FOLDER.parent / file).write_text(text, "utf-8")
