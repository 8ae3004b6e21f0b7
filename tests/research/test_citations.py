"""The experiment with classes of papers: measures computed by hand, and CiteSeer where it is available."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

from cocite.errors import BadSource
from research import citations
from research.citations import Measured, Reproduction, Setting
from tests.related.methods.naive_zhao import NaiveZhao

SHARED = Path(__file__).parents[3] / "shared" / "data" / "citations"


def write(folder: Path, words: list[set[int]], edges: list[tuple[int, int]], labels: list[int]) -> None:
    matrix = np.zeros((len(words), 8))
    for row, each in enumerate(words):
        matrix[row, sorted(each)] = 1
    save_npz(folder / "small.words.npz", csr_matrix(matrix))
    (folder / "small.edges.tsv").write_text("a\tb\n" + "".join(f"{a}\t{b}\n" for a, b in edges))
    (folder / "small.labels.tsv").write_text("id\tclass\n" + "".join(f"{i}\t{c}\n" for i, c in enumerate(labels)))


WORDS = [{0, 1}, {1, 2}, {2, 3}, {0, 1, 4}, {5}, set()]
EDGES = [(0, 1), (1, 0), (1, 2), (3, 3), (4, 2)]


def test_reading_and_similarities(tmp_path: Path) -> None:
    write(tmp_path, WORDS, EDGES, [0, 0, 1, 0, 1, -1])
    papers = citations.read_papers(tmp_path, "small")
    links = [
        set(papers.links.columns[a:b].tolist())
        for a, b in zip(papers.links.starts, papers.links.starts[1:], strict=False)
    ]
    assert links == [{1}, {0, 2}, {1, 4}, set(), {2}, set()]  # once, both ways, none with itself
    truth = NaiveZhao(WORDS, links)
    words = citations.semantic(papers)
    expected = [[truth.semantic(a, b) for b in range(6)] for a in range(6)]
    assert words == pytest.approx(np.array(expected), abs=1e-8)
    by_links = citations.by_links(papers, words)
    assert by_links == pytest.approx(np.array([[truth.link(a, b) for b in range(6)] for a in range(6)]), abs=1e-8)


def test_walking() -> None:
    links = citations.both_ways(np.array([[0], [1]]), 3)
    papers = citations.Papers("", links, 3, links, np.zeros(3, np.int64))
    alike = np.array([[1.0, 0.2, 0.4], [0.2, 1.0, 0.6], [0.4, 0.6, 1.0]])
    found = citations.walked(papers, alike, 1)
    # 0 and 1 are both on 0 or 1, each with 1/2; 2 stays: |d| is √(1/2) and 1.
    assert found[0, 1] == pytest.approx((1 + 0.2 + 0.2 + 1) / 4 / np.sqrt(0.5))
    assert found[0, 2] == pytest.approx((0.4 + 0.6) / 2 / np.sqrt(np.sqrt(0.5)))
    assert found[2, 2] == pytest.approx(1)


def test_measures() -> None:
    # Paper 0 finds 1 (right), 2 (wrong); 1 finds 0 and 2; 2 finds nothing of its class; 3 has no class.
    similarity = np.array([[1, 0.9, 0.5, 0], [0.9, 1, 0.8, 0], [0.5, 0.8, 1, 0], [0, 0, 0, 1.0]])
    rows = citations.measured("x", similarity, np.array([0, 0, 1, -1]), (1, 2, 3))
    # At 1: 1, 1, 0, 0. At 2: 1/2, 1/2, 0, 0. At 3 two are found, one is right: precision 1/2, recall 1/3.
    assert rows[0] == Measured("x", 1, 0.5, 0.5, 0.5, 0.5)
    assert rows[1] == Measured("x", 2, 0.25, 0.25, 0.25, 0.5)
    assert rows[2][2:] == pytest.approx((0.25, 1 / 6, 2 * (2 * 0.5 / 3 / (0.5 + 1 / 3)) / 4, 0.5))


def test_choosing_settings(tmp_path: Path) -> None:
    write(tmp_path, WORDS, EDGES, [0, 0, 1, 0, 1, -1])
    papers = citations.read_papers(tmp_path, "small")
    tried = citations.try_settings(papers)
    assert len(tried) == 2 * 2 * 3 * 9
    assert all(len(values) == 3 for values in tried.values())
    best = citations.best_setting(tried)
    assert sum(tried[best]) == max(map(sum, tried.values()))
    rows = citations.with_setting(papers, best)
    assert next(row for row in rows if row.first == 10).precision == pytest.approx(tried[best][0])
    assert Setting(0.0, True, 2, 0.3).name == "integrated(alpha=0.0, rarity=true, steps=2, mix=0.3)"


def test_rewired(tmp_path: Path) -> None:
    write(tmp_path, WORDS, EDGES, [0] * 6)
    papers = citations.read_papers(tmp_path, "small")
    same = citations.rewired(papers, 1.0, 0.0, 1)
    assert same.links.columns.tolist() == papers.links.columns.tolist()
    assert len(citations.rewired(papers, 0.0, 0.0, 1).links.columns) == 0


def test_figures(tmp_path: Path) -> None:
    write(tmp_path, WORDS, EDGES, [0, 0, 1, 0, 1, -1])
    found = citations.reproduce(citations.read_papers(tmp_path, "small"))
    pictures = dict(citations.figures(found))
    assert list(pictures) == ["precision", "recall", "f"]
    assert all(picture.startswith("<svg") for picture in pictures.values())


@pytest.mark.parametrize("part", ["words.npz", "edges.tsv", "labels.tsv"])
def test_unreadable_input(tmp_path: Path, part: str) -> None:
    write(tmp_path, WORDS, EDGES, [0] * 6)
    (tmp_path / f"small.{part}").write_bytes(b"nonsense\nmore\tof\tit\n")
    with pytest.raises(BadSource, match="small"):
        citations.read_papers(tmp_path, "small")


def test_papers_that_do_not_agree(tmp_path: Path) -> None:
    write(tmp_path, WORDS, [(0, 17)], [0] * 6)
    with pytest.raises(BadSource, match="labels and edges"):
        citations.read_papers(tmp_path, "small")
    write(tmp_path, WORDS, EDGES, [0] * 5)
    with pytest.raises(BadSource, match="labels and edges"):
        citations.read_papers(tmp_path, "small")


def test_simrank_and_links_on_citeseer() -> None:
    """The cheap half of the experiment; `cocite reproduce zhao` does all of it."""
    if not SHARED.is_dir():
        pytest.skip("the papers of CiteSeer are not there")
    papers = citations.read_papers(SHARED, "citeseer")
    rows = citations.measured("simrank", citations.simrank(papers), papers.classes, (10,))
    found = Reproduction(papers, rows).at("simrank")
    assert (found.precision, found.recall) == pytest.approx((0.538, 0.462), abs=0.001)
