"""docs/methods.md is what the methods declare, and has everything."""

from __future__ import annotations

from pathlib import Path

from cocite.related import methods, ranks
from docs.reference import methods_page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_methods_is_up_to_date() -> None:
    assert (DOCS / "methods.md").read_text("utf-8") == methods_page(), "run: make docs"


def test_every_method_and_parameter_is_on_it() -> None:
    page = methods_page()
    for name in methods.names():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        about = methods.about(name)
        assert about.summary in section
        for parameter in about.parameters:
            assert f"| `{parameter.name}` |" in section or f"| `{parameter.name}` |" in page.partition("## Switches")[2]
            assert parameter.help


def test_every_rank_and_parameter_is_on_it() -> None:
    page = methods_page().partition("\n## Ranks\n")[2]
    for name in ranks.names():
        section = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        about = ranks.about(name)
        assert about.summary in section
        for parameter in about.parameters:
            assert f"| `{parameter.name}` |" in section or f"| `{parameter.name}` |" in page.partition("All ranks")[2]
