"""`pyspark.sql.functions`, imported at first use: the arguments of a job are checked before Spark is loaded."""

from typing import Any


def __getattr__(name: str) -> Any:
    from pyspark.sql import functions

    return getattr(functions, name)
