"""Operations: one file = one thing a user can ask of a store.

A file declares a frozen dataclass with `@operation`. Its fields are the parameters, as data; `run(web)` answers; the
result has `to_dict()`. The command line, HTTP with its OpenAPI description, the state of the web page, the tools for
assistants, Python's methods and the reference docs are made from it:

    @operation(route="/api/links")
    class Links(Operation):
        \"\"\"Show what a page links to, section by section, and which pages link to it.

        Examples:
            cocite links nytimes.com
        \"\"\"

        url: str = parameter("", "Address of a page", required=True, positional=True)
        k: int = parameter(20, "Maximum number of links each way", minimum=0)

        def run(self, web: Web) -> LinksAround: ...

Importing a declaration is cheap: NumPy, Numba and Arrow are imported inside `run`, so that `cocite --help` is quick.
"""

DEFAULT_METHOD = "auto"
COMPARED_METHODS = ("proximity", "cocitation", "companion", "extended_cocitation", "lli", "kleinberg", "walk")
"""Compared where no method is named: they need nothing but links, and take milliseconds."""
