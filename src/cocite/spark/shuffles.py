"""How rows are brought together, and how many tasks share a job."""

from __future__ import annotations

from typing import Any

LINKS_PER_TASK = 1 << 20
"""Links that one task sorts: some 60 MB as Spark's rows."""
MOST_TASKS = 10_000
"""Every task sends something to every other: of more tasks each would get crumbs, too many for a driver to count."""


def task_count(spark: Any, links: int) -> int:
    """Tasks for so many links: enough that each has little, not fewer than there are cores."""
    return max(int(spark.sparkContext.defaultParallelism), min(-(-links // LINKS_PER_TASK), MOST_TASKS))


def to_task(rows: Any, tasks: int, task: Any) -> Any:
    """Rows by the number of the task, a column from 0 to tasks - 1, that is to have them.

    Spark 4.0 hashes what it partitions by; so each task gets a number whose hash leads to it.
    """
    from pyspark.sql import functions as F

    spark = rows.sparkSession
    found: dict[int, int] = {}
    wide = 4 * tasks
    while len(found) < tasks:  # hashes leave some tasks without a number until enough were tried
        wide *= 4
        hashed = spark.range(wide).select(
            F.col("id").cast("int").alias("id"), F.pmod(F.hash(F.col("id").cast("int")), tasks)
        )
        found = {at: number for number, at in hashed.collect()}
    numbers = F.array(*(F.lit(found[at]) for at in range(tasks)))
    return rows.repartition(tasks, F.element_at(numbers, (task + 1).cast("int")))
