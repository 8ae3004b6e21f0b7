"""Make docs/notebooks/tour.ipynb: the cells below, run in an empty folder by a real kernel.

`python docs/notebooks/make.py` runs it again. A test also runs it, and compares the output.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

TOUR = Path(__file__).with_name("tour.ipynb")
SECONDS = 240
CHANGING = {
    r"[\d.]+ ms": "1.0 ms",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00": "2026-01-01T00:00:00+00:00",
    r"0x[0-9a-f]{8,}": "0x0",
}
"""Output that differs from run to run, and its replacement in comparisons."""
CELLS = (
    """# cocite in a notebook

Which pages are related to this page? A short tour on the sample web that comes with cocite: link lists on newspapers,
databases, cars, museums and more. It needs the extras: `pip install ".[frames,polars,graphs]"` in the source.""",
    """>from importlib.resources import files
>
>import cocite
>
>cocite.build([files("cocite.sample") / "pages"], "sample.cocite")
>web = cocite.open("sample.cocite")
>web""",
    """A store shows its contents, the distribution of links over pages, and the most cited pages.

## Related pages

The drawing has the query page in the middle, related pages around it, and between them pages that link to several of
them. The table gives the reasons; click on one to see all.""",
    '>web.related("nytimes.com", k=8)',
    "You can query several pages at once, exclude pages, and choose a method with its parameters.",
    '>web.related(["audi.com", "bmw.com"], "companion(parents=500)", k=6, unwanted="vw.com", per_site=1)',
    "## As a table: pandas or Polars",
    """>answers = web.related("postgresql.org", k=6)
>answers.to_frame()[["rank", "title", "score", "why"]]""",
    """>import polars as pl
>
>answers.to_frame("polars").select("rank", "title", pl.col("score").round(3), pl.col("reasons").list.len())""",
    """## As a graph: NetworkX or igraph

The drawing is a small graph. Its pages are `asked`, `related`, `citing` or `cited`.""",
    """>import networkx as nx
>
>graph = answers.to_networkx()
>links = nx.in_degree_centrality(graph)
>sorted(((round(links[url], 2), graph.nodes[url]["title"]) for url in graph), reverse=True)[:5]""",
    """>answers.to_igraph().summary()""",
    """The same works for the whole graph of a store, or for some pages of a large one.""",
    """>page = web.graph.find("homes.example/~tom/links.html")
>web.graph.to_frame([page])[["target", "block", "weight"]].head()""",
    """>whole = web.graph.to_igraph()
>best = sorted(zip(whole.pagerank(), whole.vs["name"], strict=True), reverse=True)[:5]
>[(round(1000 * rank, 2), name) for rank, name in best]""",
    "## Methods side by side",
    """>found = web.compare("louvre.fr", ["cocitation", "companion", "proximity"], k=5)
>found""",
    """>found.to_frame().pivot(index="title", columns="method", values="rank")""",
    """## Communities

Communities of hubs and authorities on a topic, drawn on a page of their own.""",
    '>web.communities("newspapers", k=5)',
)


def cells() -> list[nbformat.NotebookNode]:
    """The cells, not yet run: code is marked by `>`."""
    found = []
    for number, text in enumerate(CELLS):
        code = text.startswith(">")
        source = re.sub("^>", "", text, flags=re.MULTILINE) if code else text
        cell = new_code_cell(source) if code else new_markdown_cell(source)
        cell["id"] = f"cell-{number}"
        found.append(cell)
    return found


def run() -> nbformat.NotebookNode:
    """The notebook, run."""
    notebook = new_notebook(cells=cells())
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=resources).execute(
            env={**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        )
    for cell in notebook.cells:
        cell["metadata"] = {}
        if cell.cell_type == "code":
            cell["outputs"] = [output for output in cell.outputs if output.output_type != "stream"]
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    return notebook


def steady(text: str) -> str:
    """A text without what differs from run to run."""
    for pattern, instead in CHANGING.items():
        text = re.sub(pattern, instead, text)
    return text


def main() -> None:
    """Write it."""
    TOUR.write_text(nbformat.writes(run()) + "\n", "utf-8")
    print(TOUR)


if __name__ == "__main__":
    main()
