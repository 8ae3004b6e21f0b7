"""Near-duplicates: the exact threshold, and all pairs on random webs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.build.derive import near_duplicate_groups
from tests.graph.naive import near_duplicates
from tests.graph.webs import examples
from tests.kernels.encoded import lists_of, turned


def found(targets: list[list[int]]) -> dict[int, int]:
    """{page: representative} by the kernels."""
    pages, representatives = near_duplicate_groups(lists_of(targets), lists_of(turned(targets)))
    return dict(zip(pages.tolist(), representatives.tolist(), strict=True))


def truth(targets: list[list[int]]) -> dict[int, int]:
    """{page: representative} by all pairs."""
    in_degree = {str(page): len(parents) for page, parents in enumerate(turned(targets))}
    pairs = near_duplicates({str(page): set(map(str, some)) for page, some in enumerate(targets)}, in_degree)
    return {int(page): int(representative) for page, representative in pairs.items()}


def two(a: int, b: int, common: int) -> list[list[int]]:
    """Pages 0 and 1 with a and b links, so many in common; the rest of the pages have none."""
    one = list(range(2, 2 + a))
    other = one[:common] + list(range(2 + a, 2 + a + b - common))
    return [one, other] + [[] for _ in range(a + b - common)]


@pytest.mark.parametrize(
    ("a", "b", "common", "alike"),
    [
        (20, 20, 19, True),  # 19 / 20 = 0.95
        (20, 20, 18, False),
        (19, 19, 19, True),
        (19, 19, 18, False),  # 18 / 19 = 0.947
        (20, 19, 19, True),  # 19 / max(20, 19) = 0.95
        (19, 20, 19, True),
        (20, 18, 18, False),
        (21, 20, 20, True),  # 20 / 21 = 0.952
        (21, 20, 19, False),
        (40, 40, 38, True),
        (40, 38, 38, True),
        (40, 37, 37, False),
        (11, 11, 11, True),
        (10, 10, 10, False),  # more than ten links each
        (11, 10, 10, False),
        (400, 380, 380, True),
        (400, 399, 380, True),
        (400, 399, 379, False),
        (400, 379, 379, False),
        (0, 0, 0, False),
    ],
)
def test_the_threshold(a: int, b: int, common: int, alike: bool) -> None:
    for targets in (two(a, b, common), [list(reversed(some)) for some in two(a, b, common)]):
        assert found(targets) == ({0: 0, 1: 0} if alike else {})
        assert truth(targets) == found(targets)


def test_the_representative_has_the_highest_in_degree_then_the_lowest_number() -> None:
    common = list(range(6, 26))
    none: list[list[int]] = [[] for _ in range(20)]
    assert found([common, common, common, [2], [2], [1], *none]) == {0: 2, 1: 2, 2: 2}
    assert found([common, common, common, [2], [1], [], *none]) == {0: 1, 1: 1, 2: 1}


def test_components_are_transitive() -> None:
    # Each shares 19 of 20 with the next; the first and the last share 17.
    targets = [list(range(10 + i, 30 + i)) for i in range(4)] + [[] for _ in range(40)]
    assert len({*targets[0]} & {*targets[3]}) == 17
    assert found(targets) == {0: 0, 1: 0, 2: 0, 3: 0}


@st.composite
def webs(draw: st.DrawFn) -> list[list[int]]:
    """Pages whose links are copies of one of a few templates, with some links dropped, changed or added."""
    n = 120
    templates = [
        draw(st.permutations(range(n)))[: draw(st.sampled_from([11, 18, 19, 20, 21, 22, 39, 40, 41, 60]))]
        for _ in range(2)
    ]
    pages: list[list[int]] = []
    for _ in range(draw(st.integers(2, 14))):
        links = list(draw(st.sampled_from(templates)))
        for _ in range(draw(st.integers(0, 3))):
            links[draw(st.integers(0, len(links) - 1))] = draw(st.integers(0, n - 1))
        links = list(dict.fromkeys(links + draw(st.lists(st.integers(0, n - 1), max_size=2))))
        pages.append(links[draw(st.integers(0, 2)) :])
    pages += [[] for _ in range(n - len(pages))]
    return [[target for target in some if target != page] for page, some in enumerate(pages)]


@examples(40)
@given(webs())
def test_all_pairs(targets: list[list[int]]) -> None:
    assert found(targets) == truth(targets)


def test_many_copies_of_one_template() -> None:
    n = 2000
    targets = [[t for t in range(30) if t != page] for page in range(n)]
    result = found(targets)
    assert set(result) == set(range(n))
    assert len(set(result.values())) == 1


@pytest.mark.parametrize("pages", [12, 20, 21, 40, 300])
def test_pages_that_all_link_to_each_other_are_no_copies(pages: int) -> None:
    """In a complete graph two pages share all links but those to each other."""
    assert found([[t for t in range(pages) if t != page] for page in range(pages)]) == {}


def test_a_copy_that_links_to_its_original_is_still_one() -> None:
    """Only the original could say that the other is another page."""
    original, others = list(range(2, 32)), [list[int]() for _ in range(30)]
    assert found([original, [*original[1:], 0], *others]) == {0: 0, 1: 0}
    assert found([[*original[1:], 1], [*original[1:], 0], *others]) == {}
