"""Which of several captures of a page counts, and where aliases lead: the third pass of a build, as joins.

Everything is by fingerprint. Of the captures of one page the newest counts, of equals the last that was read; partial
ones add up. An address that leads to another is an alias; chains of them are followed, each round twice as far.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cocite.graph.build.scratch import ALIAS, BY_CANONICAL, PARTIAL
from cocite.spark.keyed import CAPTURE, NAME
from cocite.spark.outputs import WORK, Output


class Resolved(NamedTuple):
    """Captures whose links count, and aliases with the page that each leads to (None: there are none)."""

    captures: Any  # fingerprint, sequence, targets, attributes
    aliases: Any  # fingerprint, target
    tidy: bool  # whether every name that was read is surely of a page


def resolve(output: Output, keyed: Any) -> Resolved:
    """Choose captures and follow aliases."""
    from pyspark.sql import functions as F

    read = keyed.where(F.col("what") == CAPTURE)
    has = read.agg(
        F.max(F.col("kind").bitwiseAND(ALIAS) != 0).alias("aliases"),
        F.max(F.col("kind").bitwiseAND(PARTIAL) == 0).alias("whole"),
        F.max(F.col("loose") | (F.col("fingerprint") == 0)).alias("loose"),  # what a record of no page names
    ).first()
    captures = read.where(F.col("fingerprint") != 0)
    if not has["whole"]:
        return Resolved(captures, None, not has["loose"])
    brief = captures.select("fingerprint", "sequence", "kind", "alias", "captured")
    best = _best(brief)
    lost = output.step(
        f"{WORK}/lost",
        lambda: (
            brief.where(F.col("kind").bitwiseAND(PARTIAL) == 0)
            .select("fingerprint", "sequence")
            .join(best.select("fingerprint", "sequence"), ["fingerprint", "sequence"], "left_anti")
        ),
    )
    if not has["aliases"] and lost.isEmpty():
        return Resolved(captures, None, not has["loose"])
    aliases = None
    if has["aliases"]:
        aliases = _aliases(output, keyed, brief, best)
        if aliases is not None:  # the end of a circle has its best capture that is no alias itself
            ends = _circle_captures(brief, output)
            lost = lost if ends is None else lost.join(ends, ["fingerprint", "sequence"], "left_anti")
    captures = captures.where(F.col("kind").bitwiseAND(ALIAS) == 0)
    captures = captures.join(lost, ["fingerprint", "sequence"], "left_anti")
    if aliases is not None:
        captures = captures.join(aliases, "fingerprint", "left_anti")
    return Resolved(captures, aliases, False)


def _best(brief: Any) -> Any:
    """Of each page the whole capture that counts: of its own address rather than another's, the newest, the last."""
    from pyspark.sql import functions as F

    whole = brief.where(F.col("kind").bitwiseAND(PARTIAL) == 0)
    direct = (F.col("kind").bitwiseAND(BY_CANONICAL) == 0).cast("int")
    best = F.max(F.struct(direct.alias("direct"), "captured", "sequence", "kind", "alias"))
    return whole.groupBy("fingerprint").agg(best.alias("best")).select("fingerprint", "best.*")


def _aliases(output: Output, keyed: Any, brief: Any, best: Any) -> Any:
    """Every alias with the page at its end; None if there are none."""
    from pyspark.sql import functions as F

    leads = best.where((F.col("kind").bitwiseAND(ALIAS) != 0) & (F.col("alias") != 0))
    steps = output.step(f"{WORK}/alias-0", lambda: leads.select("fingerprint", F.col("alias").alias("target")))
    if steps.isEmpty():
        return None
    count, rounds = steps.count(), 0
    ways = steps
    while 2**rounds < count:  # after that many steps a way has ended, or goes round in a circle
        rounds += 1
        after = ways.select(F.col("fingerprint").alias("target"), F.col("target").alias("further"))
        joined = ways.join(after, "target", "left")
        further = joined.select("fingerprint", F.coalesce("further", "target").alias("target"))
        longer = output.keep(f"{WORK}/alias-{rounds}", further)
        if longer.join(ways, ["fingerprint", "target"], "left_anti").isEmpty():
            ways = longer
            break
        ways = longer
    on_circle = ways.join(steps.select(F.col("fingerprint").alias("target")), "target").select("target").distinct()
    if not on_circle.isEmpty():
        ways = _open_circles(output, keyed, brief, steps, ways, on_circle)
    return ways.where("fingerprint != target")


def _open_circles(output: Output, keyed: Any, brief: Any, steps: Any, ways: Any, on_circle: Any) -> Any:
    """Let every circle end at its first page that has a capture of its own, or at its first page of all."""
    from pyspark.sql import functions as F

    members = on_circle.withColumnRenamed("target", "fingerprint")
    own = brief.where(F.col("kind").bitwiseAND(PARTIAL | ALIAS) == 0)
    own = _best(own.join(members, "fingerprint", "left_semi")).select("fingerprint", "sequence")
    own = output.step(f"{WORK}/circle-captures", lambda: own)
    keys = keyed.where(F.col("what") == NAME).groupBy("fingerprint").agg(F.min("key").alias("key"))
    ring = steps.join(members, "fingerprint", "left_semi").join(keys, "fingerprint")
    ring = ring.join(own.select("fingerprint", F.lit(False).alias("has")), "fingerprint", "left")
    first = F.struct(F.coalesce("has", F.lit(True)).alias("bare"), "key", "fingerprint")
    ring = output.step(f"{WORK}/circle-0", lambda: ring.select("fingerprint", "target", first.alias("first")))
    count, rounds = ring.count(), 0
    while 2**rounds < count:
        rounds += 1
        after = ring.select(
            F.col("fingerprint").alias("target"), F.col("target").alias("further"), F.col("first").alias("other")
        )
        joined = ring.join(after, "target").select(
            "fingerprint", F.col("further").alias("target"), F.least("first", "other").alias("first")
        )
        ring = output.keep(f"{WORK}/circle-{rounds}", joined)
    ends = ring.select(F.col("fingerprint").alias("target"), F.col("first.fingerprint").alias("end"))
    found = ways.join(ends, "target", "left")
    return output.step(
        f"{WORK}/aliases", lambda: found.select("fingerprint", F.coalesce("end", "target").alias("target"))
    )


def _circle_captures(brief: Any, output: Output) -> Any:
    """The captures that count for pages on circles, None if there are no circles."""
    return output.read(f"{WORK}/circle-captures") if output.exists(f"{WORK}/circle-captures/_SUCCESS") else None
