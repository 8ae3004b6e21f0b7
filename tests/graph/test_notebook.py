"""The largest values, whatever the processor does with equals."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.notebook import top_indices


@given(st.lists(st.integers(0, 6), max_size=60), st.integers(0, 70))
def test_as_by_sorting(values: list[int], count: int) -> None:
    by_sorting = sorted(range(len(values)), key=lambda at: (-values[at], at))
    assert top_indices(np.array(values, np.uint32), count) == by_sorting[:count]
