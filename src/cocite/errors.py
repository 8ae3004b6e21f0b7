"""Every error that cocite raises on purpose, one tree; each message is one line and says what to do next."""


class CociteError(Exception):
    """Something a user can act on."""


class BadAddress(CociteError):
    """The text is not the address of a web page."""


class BadSource(CociteError):
    """A source cannot be read, or is not what it seems."""


class BadStore(CociteError):
    """A store is missing, damaged, locked or of another format."""


class UnknownPage(CociteError):
    """The store does not know this page."""

    def __init__(self, message: str, nearest: list[str] | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest or []


class UnknownWord(CociteError):
    """No page has this word as a keyword."""

    def __init__(self, message: str, nearest: list[str] | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest or []


class UnknownMethod(CociteError):
    """No method has this name."""


class BadParameter(CociteError):
    """A parameter is unknown, of the wrong type or out of range."""
