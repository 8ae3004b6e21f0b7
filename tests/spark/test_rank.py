"""Ranks are those of one machine, to a millionth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.related import ranks
from cocite.spark.rank import write_rank
from tests.conftest import long
from tests.spark.webs import table


@pytest.mark.parametrize("call", ["pagerank", pytest.param("hubrank(transposed=true)", marks=long)])
def test_ranks_are_alike(spark: Any, graph: Graph, shards: Path, place: Path, call: str) -> None:
    done = write_rank(spark, str(shards), str(place / "spark"), call)
    found = table(place / "spark" / "rank")
    assert done["converged"]
    assert found["number"].to_pylist() == list(range(graph.pages))
    np.testing.assert_allclose(found["value"].to_numpy(), ranks.rank(call).compute(graph).values, rtol=1e-6)


def test_other_ranks_are_refused(spark: Any, shards: Path, place: Path) -> None:
    with pytest.raises(BadParameter, match="cocite rank"):
        write_rank(spark, str(shards), str(place / "spark"), "hits")
