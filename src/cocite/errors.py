"""Every error that cocite raises on purpose, one tree; each message is one line and says what to do next."""

import errno


class CociteError(Exception):
    """Something a user can act on."""


class BadAddress(CociteError):
    """The text is not the address of a web page."""


class BadSource(CociteError):
    """A source cannot be read, or is not what it seems."""


class BadStore(CociteError):
    """A store is missing, damaged, locked or of another format."""


class LockedStore(BadStore):
    """Another command is writing the store: the same can be tried again later."""


class _Unknown(CociteError):
    def __init__(self, message: str, nearest: list[str] | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest or []  # similar ones that are known


class UnknownPage(_Unknown):
    """The store does not have this page."""


class UnknownWord(_Unknown):
    """No page has this word as a keyword."""


class UnknownMethod(CociteError):
    """No method has this name."""


class BadParameter(CociteError):
    """A parameter is unknown, of the wrong type or out of range."""


class TooMuchWork(CociteError):
    """A question takes more work than its budget, or was cancelled."""


class TooSoon(CociteError):
    """What the question needs was made too often lately: the same can be asked later."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


def os_message(error: OSError) -> str:
    """An error of the operating system, with advice."""
    where = f"{error.filename}: " if error.filename else ""
    what = (error.strerror or str(error)).lower()
    advice = {
        errno.ENOSPC: "free some space, or choose another place",
        errno.EDQUOT: "free some space, or choose another place",
        errno.EACCES: "check its permissions",
        errno.EPERM: "check its permissions",
        errno.EROFS: "choose a place that can be written to",
        errno.ENOENT: "check the path",
        errno.ENOTDIR: "check the path",
        errno.EMFILE: "raise the limit of open files (ulimit -n)",
    }.get(error.errno or 0, "")
    return f"{where}{what}; {advice}" if advice else f"{where}{what}"
