"""Which pages are related to this page?

>>> import cocite
>>> cocite.build(["crawl.warc.gz"], "web.cocite")  # doctest: +SKIP
>>> web = cocite.open("web.cocite")  # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

from cocite.errors import (
    BadAddress,
    BadParameter,
    BadSource,
    BadStore,
    CociteError,
    UnknownMethod,
    UnknownPage,
    UnknownWord,
)

if TYPE_CHECKING:
    from cocite.python import build, open

__version__ = "0.2.0"
__all__ = [
    "BadAddress", "BadParameter", "BadSource", "BadStore", "CociteError", "UnknownMethod", "UnknownPage", "UnknownWord",
    "build", "open",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what is slow (NumPy, Numba, Arrow) when it is first used."""
    if name in ("build", "open"):
        from cocite import python

        return getattr(python, name)
    raise AttributeError(f"module 'cocite' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
