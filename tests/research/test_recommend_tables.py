"""The experiment on reading histories: the histories, and how the next page is ranked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from research.recommend_tables import by_history, ranks_of, readings_of


def test_every_click_on_a_new_page_has_the_pages_before_it() -> None:
    found = readings_of([[1, 2, 1, 3], [4, 5]])
    assert found.path.tolist() == [0, 0, 1]
    assert found.histories == [[1], [1, 2, 1], [4]]
    assert found.following.tolist() == [2, 3, 5]


def test_ranks_by_the_decayed_sum_of_scores() -> None:
    scores = np.zeros((4, 4), np.float32)
    scores[0], scores[1] = [0, 0, 0.5, 0.2], [0.9, 0, 0.1, 0.4]
    readings = readings_of([[0, 1, 3], [0, 1, 2], [2, 3]])
    web: Any = SimpleNamespace(graph=SimpleNamespace(in_degree=np.array([1, 1, 1, 2])))
    at = {tuple(history): place for place, history in enumerate(readings.histories)}
    values = list(by_history(readings, scores, 0.5))
    assert np.allclose(values[at[0, 1]], [0.9, 0, 0.35, 0.5])
    ranks = ranks_of(web, readings, iter(values))
    assert ranks.tolist() == [np.inf, 1.0, np.inf, 2.0, np.inf]  # 0 was read, so it isn't ranked before 3
