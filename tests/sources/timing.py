"""Processor time that can be compared: garbage collection takes a second in a process with many compiled kernels."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given, Result = ParamSpec("Given"), TypeVar("Result")


def without_collection(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """Pause garbage collection while a function runs. A decorator."""

    @wraps(work)
    def paused(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        gc.disable()
        try:
            return work(*args, **kwargs)
        finally:
            gc.enable()

    return paused
