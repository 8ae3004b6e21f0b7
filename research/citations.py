"""The experiment of Zhao et al. 2016, §6.2.2: do the papers found similar to a paper belong to its class?

Papers are pages, citations are links without direction, and all words of a paper are its keywords. For the N papers
most similar to paper v by a measure (top), and the papers of v's class (similar), equations 26 to 31 are

    precision = |top ∩ similar| / |top|        recall = |top ∩ similar| / N        F = 2 · P · R / (P + R)

each averaged over all papers. Recall so defined is at most precision, and equal to it where N papers are found; the
usual recall is |top ∩ similar| / |similar|. A paper without class counts 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array, load_npz

from cocite.errors import BadSource
from cocite.evaluate.chart import ChartCurve, chart, even_axis, named_axis
from cocite.kernels.words.best_matches import as_whole, compare_lists
from cocite.kernels.words.keyword_pairs import Rows
from cocite.related.methods.simrank import all_pairs
from cocite.words.likeness import Likeness
from cocite.words.relevance import count_relevance

Matrix = NDArray[np.float64]
CUTOFFS = (5, 10, 20, 50)
LEAST = 1e-12
MOST_PAPERS = 20_000
NO_CLASS = -1
AT = 10
"""The cutoff that chooses settings."""


@dataclass(frozen=True)
class Papers:
    """A collection of papers."""

    name: str
    words: Rows
    vocabulary: int
    links: Rows  # in both directions
    classes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.classes)


class Measured(NamedTuple):
    """The quality of a similarity at a cutoff."""

    measure: str
    first: int
    precision: float
    recall: float
    f: float
    usual_recall: float


def read_papers(folder: Path, name: str) -> Papers:
    """NAME.words.npz, a sparse matrix of papers and words; NAME.edges.tsv and NAME.labels.tsv with a header line."""
    try:
        matrix = csr_array(load_npz(folder / f"{name}.words.npz"))
        edges, labels = (
            np.loadtxt(folder / f"{name}.{part}.tsv", np.int64, delimiter="\t", skiprows=1, ndmin=2)
            for part in ("edges", "labels")
        )
    except (OSError, ValueError, TypeError, KeyError, EOFError) as error:
        what = f"{name}.words.npz, {name}.edges.tsv and {name}.labels.tsv"
        raise BadSource(f"{folder} does not have the papers of {name}: give a folder with {what} ({error})") from error
    papers = matrix.shape[0]
    numbered = labels.shape[1:] == (2,) and edges.shape[1:] == (2,) and np.array_equal(labels[:, 0], np.arange(papers))
    if not numbered or papers > MOST_PAPERS or (len(edges) and not 0 <= edges.min() <= edges.max() < papers):
        raise BadSource(f"{name} in {folder}: labels and edges must be of papers 0, 1, …, one for each row of words")
    matrix.sort_indices()
    return Papers(name, _rows(matrix), matrix.shape[1], both_ways(edges.T, papers), labels[:, 1])


def both_ways(ends: NDArray[np.integer], count: int) -> Rows:
    """Links between pairs of papers, once in each direction; none of a paper with itself."""
    ends = ends[:, ends[0] != ends[1]]
    places = (np.concatenate([ends[0], ends[1]]), np.concatenate([ends[1], ends[0]]))
    linked = csr_array((np.ones(2 * ends.shape[1]), places), shape=(count, count))
    linked.sum_duplicates()
    linked.sort_indices()
    return _rows(linked)


def _rows(matrix: csr_array) -> Rows:
    return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32))


# -------------------------------------------------------------------------------------------------------- similarities


def simrank(papers: Papers) -> Matrix:
    """SimRank with C = 0.8, 10 rounds."""
    return all_pairs(papers.links.starts, papers.links.columns, len(papers))


def semantic(papers: Papers, alpha: float = 0.5, rarity: bool = False) -> Matrix:
    """Sim_s of all pairs."""
    relevance = count_relevance(papers.words, papers.vocabulary, papers.links)
    words = Likeness(papers.words, replace(relevance, alpha=alpha), rarity)
    found = np.zeros((len(papers), len(papers)))
    for page in range(len(papers)):
        others = np.arange(page, len(papers), dtype=np.uint32)
        found[page, page:] = found[page:, page] = words.alike(page, others)
    return found


def by_links(papers: Papers, alike: Matrix) -> Matrix:
    """Sim_l of all pairs, with the given similarity of linked papers. Citations have no direction: one side is both."""
    links, count = papers.links, len(papers)
    found = np.zeros((count, count))
    for page in range(count):
        own = links.columns[links.starts[page] : links.starts[page + 1]]
        if len(own):
            table = np.empty(count * len(own), np.int32)
            as_whole(np.ascontiguousarray(alike[:, own]).ravel(), table)
            compare_lists(links, table, len(own), found[page])
    np.fill_diagonal(found, 1.0)
    return found


def walked(papers: Papers, alike: Matrix, steps: int) -> Matrix:
    """W of all pairs: see `methods.integrated`."""
    count, links = len(papers), papers.links
    around = csr_array((np.ones(len(links.columns)), links.columns, links.starts), shape=(count, count))
    around = csr_array(around + eye_array(count, format="csr"))
    step = csr_array(diags_array(1 / around.sum(axis=1)) @ around)
    places = step
    for _ in range(steps - 1):
        places = csr_array(step @ places)
    mean = places @ np.ascontiguousarray((places @ alike).T)
    length = np.asarray((places * places).sum(axis=1)).ravel() ** 0.25
    return np.asarray(mean / length[:, None] / length[None, :])


# ------------------------------------------------------------------------------------------------------------ measures


def measured(name: str, similarity: Matrix, classes: NDArray[np.int64], firsts: Sequence[int]) -> list[Measured]:
    """The measures of one similarity; ties are by paper number."""
    count = len(classes)
    scores = np.where(similarity >= LEAST, similarity, -1.0)
    np.fill_diagonal(scores, -1.0)
    order = first_places(scores, max(firsts))
    found = np.take_along_axis(scores, order, axis=1) > 0
    own = classes[:, None]
    hits = found & (classes[order] == own) & (own != NO_CLASS)
    similar = np.array([np.count_nonzero(classes == each) - 1 if each != NO_CLASS else 0 for each in classes])
    rows = []
    for first in firsts:
        hit, top = hits[:, :first].sum(axis=1), found[:, :first].sum(axis=1)
        precision, recall = hit / np.maximum(1, top), hit / first
        f = 2 * precision * recall / np.maximum(1e-12, precision + recall)
        means = (float(each.sum() / max(1, count)) for each in (precision, recall, f, hit / np.maximum(1, similar)))
        rows.append(Measured(name, first, *means))
    return rows


def first_places(scores: Matrix, first: int) -> NDArray[np.intp]:
    """The places of the highest scores of each row, in order; ties are by place."""
    first = min(first, scores.shape[1])
    found = np.empty((len(scores), first), np.intp)
    for row, values in enumerate(scores):  # sorting whole rows takes ten times as long
        least = np.partition(values, len(values) - first)[len(values) - first]
        above = np.flatnonzero(values >= least)
        found[row] = above[np.argsort(-values[above], kind="stable")][:first]
    return found


@dataclass(frozen=True)
class Reproduction:
    """The result of the paper's experiment, and the CPU seconds of each similarity."""

    papers: Papers
    rows: list[Measured]
    seconds: Mapping[str, float] = field(default_factory=dict)

    def at(self, measure: str, first: int = AT) -> Measured:
        """One row."""
        return next(row for row in self.rows if (row.measure, row.first) == (measure, first))

    def gain(self, what: str, first: int = AT) -> float:
        """How much better integrated similarity is than SimRank, relative to SimRank."""
        return float(getattr(self.at("integrated", first), what) / getattr(self.at("simrank", first), what) - 1)


def reproduce(papers: Papers) -> Reproduction:
    """SimRank, semantic, link and integrated similarity on one collection, as in the paper."""
    rows: list[Measured] = []
    seconds: dict[str, float] = {}

    def add(name: str, compute: Callable[[], Matrix]) -> Matrix:
        began = time.process_time()
        similarity = compute()
        seconds[name] = time.process_time() - began
        rows.extend(measured(name, similarity, papers.classes, CUTOFFS))
        return similarity

    add("simrank", lambda: simrank(papers))
    words = add("semantic", lambda: semantic(papers))
    links = add("link_similarity", lambda: by_links(papers, words))
    add("integrated", lambda: 0.5 * words + 0.5 * links)
    return Reproduction(papers, rows, seconds)


def figures(found: Reproduction) -> Iterator[tuple[str, str]]:
    """Fig. 5: precision, recall and F of all measures, each a picture, by name."""
    measures = list(dict.fromkeys(row.measure for row in found.rows))
    for what in ("precision", "recall", "f"):
        curves = [
            ChartCurve(name, [(at + 0.5, getattr(found.at(name, first), what)) for at, first in enumerate(CUTOFFS)])
            for name in measures
        ]
        title = f"{'F-score' if what == 'f' else what.capitalize()} on {found.papers.name}"
        note = f"{len(found.papers):,} papers, averaged over all; related means of the same class"
        names = named_axis("papers looked at (N)", [str(first) for first in CUTOFFS])
        yield what, chart(title, note, curves, names, even_axis(what, 0.3, 0.8))


# ---------------------------------------------------------------------------------------------------- a better setting


class Setting(NamedTuple):
    """Parameters of integrated similarity."""

    alpha: float = 0.5
    rarity: bool = False
    steps: int = 0
    mix: float = 0.5

    @property
    def name(self) -> str:
        """The call as users write it."""
        return f"integrated({', '.join(f'{name}={str(value).lower()}' for name, value in self._asdict().items())})"


ALPHAS, STEPS = (0.5, 0.0), (0, 1, 2)
MIXES = tuple(round(0.1 * tenths, 1) for tenths in range(1, 10))


def rewired(papers: Papers, kept: float, added: float, seed: int) -> Papers:
    """The same papers with a random share of their links, plus random links, as a share of those kept."""
    rng, count = np.random.default_rng(seed), len(papers)
    rows = np.repeat(np.arange(count), np.diff(papers.links.starts))
    once = rows < papers.links.columns
    ends = np.stack([rows[once], papers.links.columns[once]])
    ends = ends[:, rng.random(ends.shape[1]) < kept]
    ends = np.concatenate([ends, rng.integers(0, count, (2, int(added * ends.shape[1])))], axis=1)
    return replace(papers, links=both_ways(ends, count))


def hardships(papers: Papers) -> list[Papers]:
    """A collection as it is, with half of its links, and with 60 % of them plus wrong ones: one in five."""
    return [papers, rewired(papers, 0.5, 0.0, 1), rewired(papers, 0.6, 0.25, 2)]


def try_settings(papers: Papers) -> dict[Setting, list[float]]:
    """The precision of every setting of the grid on each version of a collection."""
    found: dict[Setting, list[float]] = {}
    for alpha, rarity in product(ALPHAS, (False, True)):
        words = semantic(papers, alpha, rarity)
        for some, steps in product(hardships(papers), STEPS):
            links = walked(some, words, steps) if steps else by_links(some, words)
            for mix in MIXES:
                row = measured("", mix * words + (1 - mix) * links, papers.classes, (AT,))[0]
                found.setdefault(Setting(alpha, rarity, steps, mix), []).append(row.precision)
    return found


def best_setting(tried: dict[Setting, list[float]]) -> Setting:
    """The setting with the highest mean precision over all versions; of equal ones the first, which does less."""
    return max(tried, key=lambda setting: round(float(np.mean(tried[setting])), 6))


def with_setting(papers: Papers, setting: Setting) -> list[Measured]:
    """A setting on one collection."""
    words = semantic(papers, setting.alpha, setting.rarity)
    links = walked(papers, words, setting.steps) if setting.steps else by_links(papers, words)
    return measured(setting.name, setting.mix * words + (1 - setting.mix) * links, papers.classes, CUTOFFS)
