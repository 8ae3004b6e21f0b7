"""The kinds of sources that modules of this folder declare, found without importing a module.

Help texts list the names. Importing all readers, such as Scrapy's, would take a second; reading the files takes 3 ms.
"""

import re
from functools import cache
from pathlib import Path

_DECLARATION = re.compile(r"^SOURCE\b[^=\n]*=", re.MULTILINE)
_NAME = re.compile(r"""\s*SourceKind\(\s*(?:name\s*=\s*)?["']([^"']+)["']""")


@cache
def declared_kinds(folder: Path = Path(__file__).parent) -> dict[str, str]:
    """Return the names of the kinds that the modules of a folder declare, each with its module."""
    kinds = {}
    for file in sorted(folder.rglob("*.py")):
        text = file.read_text("utf-8")
        for declaration in _DECLARATION.finditer(text):
            name = _NAME.match(text, declaration.end())
            if name is None:
                raise ValueError(f'{file}: begin the declaration with SOURCE = SourceKind("name", so that it is found')
            kinds[name[1]] = ".".join(file.relative_to(folder).with_suffix("").parts)
    return kinds
