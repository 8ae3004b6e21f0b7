"""bcp, bd, dd and sim of Hou & Zhang 2003, §4, against what the paper prints and a literal reading; sweeps of ε."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from math import sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cocite.errors import BadAddress, BadParameter, CociteError, UnknownPage
from cocite.related.methods import lli
from cocite.related.methods.extended_cocitation import SourceSide
from cocite.sources.records import Page
from cocite.web import Web
from research.latent_linkage import (
    Linkage,
    LinkageExperiment,
    densities,
    drifts,
    epsilon_sweep,
    experiment,
    footrule,
    percentages,
)
from tests.graph.webs import examples, make, page
from tests.related.methods import naive_latent
from tests.related.methods.test_lli import side_of
from tests.related.methods.webs import webs

U = "https://u.example/"


def web_of(place: Path, pages: list[Page]) -> Web:
    make(place / "web.cocite", pages)
    return Web(place / "web.cocite")


# ------------------------------------------------------------------------------------------ the figures that 000 prints

TABLE_8 = {
    "p01": "abxc", "p02": "abc", "p03": "bcd", "p04": "ab", "p05": "ax", "p06": "bx", "p07": "ac", "p08": "ad",
    "p09": "ad", "p10": "a",
}  # fmt: skip
"""Ten pages and their parents. The paper's matrix is not at hand; its text gives dd of some pages, and says which of
the ten have the same bcp and which the same dd. All of that holds for this matrix, which was made up to that end."""
CHILDREN = {"a": 13, "b": 10, "x": 10, "c": 7, "d": 6, "e": 4}
"""Of each parent, 50 together: beside the ten, each has pages that no other has."""
OF_PARENT = {
    parent: [name for name, parents in TABLE_8.items() if parent in parents]
    + [f"only-{parent}{n}" for n in range(count - sum(parent in parents for parents in TABLE_8.values()))]
    for parent, count in CHILDREN.items()
}


def site(name: str) -> str:
    return f"https://{name}.example/"


def back_web() -> list[Page]:
    """Six lists on six sites that link to u and to their pages."""
    return [page(site(f"list-{parent}"), U, *map(site, names)) for parent, names in OF_PARENT.items()]


def forward_web() -> list[Page]:
    """The same turned round: u and the pages link to six pages on six sites."""
    names = dict.fromkeys(name for of in OF_PARENT.values() for name in of)
    linked = {name: [site(f"list-{parent}") for parent, of in OF_PARENT.items() if name in of] for name in names}
    lists = [site(f"list-{parent}") for parent in OF_PARENT]
    return [page(U, *lists), *(page(site(name), *targets) for name, targets in linked.items())]


@pytest.fixture(params=["back", "forward"])
def table(request: pytest.FixtureRequest, place: Path) -> LinkageExperiment:
    return experiment(web_of(place, back_web() if request.param == "back" else forward_web()), U)


def test_the_printed_values_of_table_8(table: LinkageExperiment) -> None:
    """dd = 1 − (children of the page's parents)/50: as bd has the same 37 below every line, it cancels."""
    rows = table.rows()
    assert len(rows) == 37 == sum(CHILDREN.values()) - sum(len(parents) - 1 for parents in TABLE_8.values())
    of = {row.address.removeprefix("https://").removesuffix(".example/"): row for row in rows}
    expected = {  # bcp, dd
        "p01": (4 / 6, 1 - (13 + 10 + 10 + 7) / 50),
        "p02": (3 / 6, 1 - (13 + 10 + 7) / 50),
        "p03": (3 / 6, 0.54),  # 10 + 7 + 6 = 23
        "p04": (2 / 6, 0.54),  # 13 + 10 = 23
        "p05": (2 / 6, 0.54),  # 13 + 10 = 23
        "p06": (2 / 6, 0.60),  # 10 + 10 = 20
        "p07": (2 / 6, 0.60),  # 13 + 7 = 20
        "p08": (2 / 6, 0.62),  # 13 + 6 = 19
        "p09": (2 / 6, 0.62),
        "p10": (1 / 6, 1 - 13 / 50),
    }
    assert [of[name].bcp for name in expected] == pytest.approx([bcp for bcp, _ in expected.values()])
    assert [of[name].dd for name in expected] == pytest.approx([dd for _, dd in expected.values()])
    assert [of[name].shared for name in expected] == [4, 3, 3, 2, 2, 2, 2, 2, 2, 1]
    found = {each.addresses: each.bd for each in table.densities()}
    assert found == {(site(f"list-{parent}"),): pytest.approx(count / 37) for parent, count in CHILDREN.items()}
    assert [each.bd for each in table.densities()] == sorted(found.values(), reverse=True)


def test_lli_distinguishes_pages_that_bcp_and_dd_do_not(table: LinkageExperiment) -> None:
    """But for p08 and p09, which have the same parents.

    All six singular values stay, from 4.27 to 2. So sim = row·q / (|row|·|u|) with q = (AᵀA)^½ (1, …, 1)ᵀ, and |u|² is
    |A(1, …, 1)ᵀ|², the sum of squares of all b: 16 + 2·9 + 6·4 + 28 = 86.
    """
    side = table.back if len(table.back.pages) else table.forward
    assert (side.k, side.rank) == (6, 6)
    names = list(TABLE_8)
    every = names + [name for of in OF_PARENT.values() for name in of if name not in TABLE_8]
    linked = np.array([[float(name in of) for of in OF_PARENT.values()] for name in every])
    roots, vectors = np.linalg.eigh(linked.T @ linked)
    q = vectors @ np.diag(np.sqrt(roots)) @ vectors.T @ np.ones(6)
    expected = linked[:10] @ q / np.linalg.norm(linked[:10], axis=1) / sqrt(86)
    of = {row.address: row.sim for row in table.rows()}
    found = [of[site(name)] for name in names]
    assert found == pytest.approx(expected)
    assert [round(sim, 3) for sim in found] == [0.915, 0.819, 0.698, 0.715, 0.669, 0.627, 0.667, 0.609, 0.609, 0.536]
    assert len({round(sim, 6) for sim in found}) == 9


def test_the_order_of_table_8(table: LinkageExperiment) -> None:
    """By bcp, then dd, then sim; equal in all, by address."""
    order = [row.address for row in table.rows() if "//p" in row.address]
    assert order == [site(name) for name in ("p01", "p02", "p03", "p04", "p05", "p07", "p06", "p08", "p09", "p10")]
    side = table.back if len(table.back.pages) else table.forward
    # bcp: 4, 3, 2 or 1 of 6. dd: 40, 30, 23, 20, 19, 13, 10, 7, 6 or 4 of 50. Rows: nine of the ten, and b, x, c, d, e.
    assert side.told_apart() == {"bcp": 4, "dd": 10, "sim": 14}
    assert side.patterns == 14


# --------------------------------------------------------------------------------------------------------- every matrix


@given(arrays(np.float64, st.tuples(st.integers(0, 20), st.integers(0, 9)), elements=st.sampled_from([0.0, 0.0, 1.0])))
def test_formulas_are_the_literal_ones(linked: Any) -> None:
    side = side_of(linked)
    bcp, bd, dd = percentages(side), densities(side), drifts(side)
    assert all(0 <= value <= 1 for value in (*bcp, *bd)) and all(-1e-12 <= value <= 1 for value in dd)
    if linked.any():
        expected = naive_latent.densities(linked)
        for found, true in zip((bcp, bd, dd), expected, strict=True):
            assert found == pytest.approx(true)
    else:
        assert not bcp.any() and not bd.any() and (dd == 1).all()


def test_a_page_with_every_parent_does_not_drift() -> None:
    side = side_of(np.array([[1.0, 1.0], [1.0, 0.0]]))
    assert drifts(side) == pytest.approx([0, 1 - 2 / 3])  # bd: 2/2 and 1/2; 1/1.5


@given(pages=webs(), data=st.data())
@examples(8)
def test_figures_agree_with_the_method_and_the_links(pages: list[Page], data: st.DataObject, fast_root: Path) -> None:
    params = lli.Params(
        unit=data.draw(st.sampled_from(["site", "host", "none"])),
        merge=data.draw(st.booleans()),
        chop=data.draw(st.sampled_from(["site", "strict", "none"])),
        window=data.draw(st.sampled_from([2, 40])),
        epsilon=data.draw(st.sampled_from([0.1, 0.5, 0.9])),
    )
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        web = web_of(Path(folder), pages)
        graph = web.graph
        for number in np.argsort(graph.in_degree)[::-1][:6].tolist():
            found = experiment(web, graph.address(number), params)
            best: dict[str, float] = {}
            for row in found.rows():
                best[row.address] = max(best.get(row.address, 0.0), row.sim)
            scores = lli.relate(web, [number], params)
            ranked = {graph.address(answer): score for answer, score in scores.ranked(graph.in_degree)}
            never = {graph.address(int(answer)) for answer in scores.excluded}
            seen = {address: sim for address, sim in best.items() if sim >= 1e-12 and address not in never}
            assert seen == pytest.approx(ranked, rel=1e-4)
            if not params.merge:
                densities_are_true(web, found)


def densities_are_true(web: Web, found: LinkageExperiment) -> None:
    """Without near-duplicates, a group's density can be counted from the links of its pages."""
    graph = web.graph
    for side, forward in ((found.back, False), (found.forward, True)):
        pages = set(side.pages.tolist())
        for group, bd in zip(side.groups, side.bd, strict=True):
            links = [graph.links_to(at) if forward else graph.links_from(at).targets for at in group.tolist()]
            linked = pages & {int(other) for some in links for other in some}
            assert bd == pytest.approx(len(linked) / max(1, len(pages)))


# --------------------------------------------------------------------------------------------------------- little input


def test_a_page_without_links_has_no_figures(place: Path) -> None:
    web = web_of(place, [page("https://alone.example/"), page("https://other.example/", "https://third.example/")])
    for params in (None, lli.Params(chop="strict"), lli.Params(chop="none", parents=0, children=0)):
        found = experiment(web, "https://alone.example/", params)
        assert (found.rows(), found.densities(), found.back.spread(10)) == ([], [], [])
        assert found.back.told_apart() == {"bcp": 0, "dd": 0, "sim": 0}
        steps = epsilon_sweep(web, "https://alone.example/", [0.5], params)
        assert [(step.back_k, step.answers, step.moved) for step in steps] == [(0, 0, 0.0)]


def test_a_chopped_page_names_the_page_used_instead(place: Path) -> None:
    web = web_of(place, [*back_web(), page("https://u.example/deep/page.html")])
    found = experiment(web, "u.example/deep/page.html")
    assert (found.query, found.used, len(found.rows())) == ("https://u.example/deep/page.html", U, 37)


def test_unknown_pages_and_bad_values_are_refused(place: Path) -> None:
    web = web_of(place, back_web())
    with pytest.raises(UnknownPage):
        experiment(web, "https://nowhere.example/")
    with pytest.raises(BadAddress):
        experiment(web, "")
    for epsilon in (-0.1, 1.5, float("nan"), "much"):
        with pytest.raises(BadParameter, match="epsilon must be a number from 1e-06 to 1"):
            epsilon_sweep(web, U, [epsilon])  # type: ignore[list-item]


def test_places_are_evenly_spaced(place: Path) -> None:
    side = experiment(web_of(place, back_web()), U).back
    assert side.spread(10, 2) == list(range(9))  # nine have two parents or more
    assert side.spread(5, 2) == [0, 2, 4, 6, 8]
    assert side.spread(3) == [0, 18, 36]
    assert side.spread(1) == [0]
    assert side.spread(0) == side.spread(10, 7) == side.spread(-3) == []


# ---------------------------------------------------------------------------------------------------------- sweeps of ε

BLOCKS = [page(site(f"list{n}"), U, *map(site, names)) for n, names in enumerate(("abc", "abc", "d"))]
"""Rows (1, 1, 0) three times and (0, 0, 1): singular values √6 and 1, falls of 0.59 and 1."""


def test_a_sweep_counts_what_each_epsilon_does(place: Path) -> None:
    """With k = 1 d is not seen. With k = 2 u = (√12, 1): cosines √12/√13 = 0.96 for a, b and c, 1/√13 = 0.28 for d."""
    narrow, wide = epsilon_sweep(web_of(place, BLOCKS), U, [0.5, 0.9])
    assert narrow == (0.5, 1, 2, 0, 0, 3, 3, 1, 3, 0.0)
    assert wide == (0.9, 2, 2, 0, 0, 4, 3, 2, 3, 0.0)


def test_a_sweep_can_be_compared_with_another_epsilon(place: Path) -> None:
    web = web_of(place, BLOCKS)
    narrow, wide = epsilon_sweep(web, U, [0.5, 0.9], replace(lli.Params(), epsilon=0.9), similarity=0.2)
    assert (narrow.first_kept, narrow.above, wide.first_kept, wide.above) == (3, 3, 4, 4)


def test_footrule() -> None:
    assert footrule([1, 2, 3, 4], [1, 2, 3, 4]) == 0
    assert footrule([1, 2, 3, 4], [4, 3, 2, 1]) == 1  # 3 + 1 + 1 + 3 of 8
    assert footrule([1, 2, 3], [2, 1, 3]) == 2 / 4
    assert footrule([9, 1, 2], [1, 8, 2]) == 0  # only 1 and 2 are in both
    assert footrule([], [1]) == footrule([1], [1]) == 0


@given(st.permutations(range(12)), st.permutations(range(12)))
def test_footrule_is_a_share_and_the_same_both_ways(one: list[int], other: list[int]) -> None:
    assert 0 <= footrule(one, other) == footrule(other, one) <= 1


# --------------------------------------------------------------------------------------------------------------- frames


def test_rows_become_a_frame_if_pandas_is_there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = experiment(web_of(place, BLOCKS), U)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda rows, columns: (rows, columns)))
    assert found.to_frame() == (found.rows(), list(Linkage._fields))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(CociteError, match="pip install pandas"):
        found.to_frame()


def test_a_side_without_columns() -> None:
    nothing = SourceSide(np.zeros(0, np.uint32), np.zeros(1, np.int64), np.zeros(0, np.int32), 0, np.zeros((1, 0)))
    assert [len(of(nothing)) for of in (percentages, densities, drifts)] == [0, 0, 0]
