"""The shards that `store` made, as other jobs read them: whole, or refused."""

from __future__ import annotations

from typing import Any, NamedTuple

from cocite.spark.beforehand import no_shards
from cocite.spark.outputs import Output, literal, rows_at
from cocite.spark.store import DONE


class Opened(NamedTuple):
    """What was noted of shards, and their rows."""

    facts: dict[str, Any]
    pages: Any
    out: Any
    into: Any


def open_shards(spark: Any, place: str) -> Opened:
    """The shards at a place. Files that are missing would go unnoticed: so rows are counted, which reads no columns."""
    facts = Output(spark, place).noted(DONE)
    if facts is None:
        raise no_shards(place)
    expected = {"pages": facts.get("pages"), "out": facts.get("lists"), "in": facts.get("links")}
    tables = [rows_at(spark, f"{literal(place)}/{name}", "shards") for name in expected]
    for (name, count), rows in zip(expected.items(), tables, strict=True):
        if (found := rows.count()) != count:
            raise no_shards(place, f"{name} has {found:,} rows of {count or 0:,}")
    return Opened(facts, *tables)
