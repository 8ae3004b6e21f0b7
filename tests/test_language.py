"""The project speaks the field's language: names that say what they are, and no words of a private dialect.

docs/ARCHITECTURE.md has the glossary. Run this file as a program for the whole list: `python tests/test_language.py`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = ROOT / "src" / "cocite", ROOT / "tests"
BANNED_NAMES = re.compile(
    r"(?i)^_?(most|least|few|many|long|longest|largest|smallest|shortest|enough|far|near_enough|step|told|heard|said|spoke"
    r"|never|alone|spare|usual|tried|named|known|desk|held|taken|met|asked|meant|minder|telling|voices?|opinions?"
    r"|namesakes?|company)$|namesake|voice|opinion|minder"
)
"""Of constants, classes and functions."""
BANNED_PHRASES = (
    "namesakes?|voices?|opinions?|in company|left aside|of no known kind|so many [a-z]+ at most|stands? for"
    "|(?:is|are|was|were) (?:told|heard|meant|spoken of)|as good as none|telling words|00[0-4] ?§"
)
BANNED_SENTENCE = re.compile(rf"(?i)\b({BANNED_PHRASES})\b")
"""Of the names of tests, which are sentences."""
BANNED_TEXT = re.compile(rf"(?i)\b({BANNED_PHRASES}|(?<!there )is no (?!longer)[a-z]+)\b")
"""Of docstrings, comments, messages, templates and user documentation: there, 'x' is no method was the dialect."""
KEPT_TEXT = {"voices", "stands for near-duplicates"}
"""Keys and values of the JSON format, which stay."""
SHARED_NAMES = {"Params", "SOURCE"}
"""Names with one meaning everywhere: the parameters of a method or rank, the declaration of a source."""
DOCUMENTS = ("*.md", "docs/**/*.md", "docs/cocite.1", "src/cocite/**/*.html", "extension/*.html")


@cache
def modules(folder: Path = SOURCE) -> list[tuple[Path, ast.Module]]:
    """Every module of a folder, by default of the package."""
    files = sorted(file for file in folder.rglob("*.py") if file != Path(__file__))
    return [(file.relative_to(ROOT), ast.parse(file.read_text("utf-8"))) for file in files]


def defined(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """What a module defines at its top level: kind, name, line."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield "class", node.name, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "function", node.name, node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(each, ast.Name) and each.id.isupper():
                        yield "constant", each.id, node.lineno


def banned_names() -> list[str]:
    """Names that don't say what they are, with the word or phrase in them that doesn't."""
    return [
        f"{file}:{line}: {kind} {name}: {match[0]}"
        for file, tree in modules() + modules(TESTS)
        for kind, name, line in defined(tree)
        if (match := banned_in(name))
    ]


def banned_in(name: str) -> re.Match[str] | None:
    """A banned word in a name, or a banned phrase in that of a test."""
    sentence = name.replace("_", " ") if name.startswith("test_") else ""
    return BANNED_NAMES.search(name) or BANNED_SENTENCE.search(sentence)


def ambiguous_names() -> list[str]:
    """Classes, and constants of one word, that several modules define. `CHUNK_PAGES` may be: it says what it is."""
    places: dict[str, list[str]] = defaultdict(list)
    for file, tree in modules():
        for kind, name, line in defined(tree):
            one_word = kind == "class" or (kind == "constant" and "_" not in name)
            if one_word and not name.startswith("_") and name not in SHARED_NAMES:
                places[name].append(f"{file}:{line}")
    return [f"{name}: {', '.join(where)}" for name, where in sorted(places.items()) if len(where) > 1]


def banned_texts() -> list[str]:
    """Texts and comments with words of the old dialect."""
    found = []
    for file, tree in modules() + modules(TESTS):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in KEPT_TEXT:
                found += [f"{file}:{node.lineno}: {match[0]}" for match in BANNED_TEXT.finditer(node.value)]
        for line, text in enumerate((ROOT / file).read_text("utf-8").split("\n"), 1):
            if match := BANNED_TEXT.search(text.partition("# ")[2]):
                found.append(f"{file}:{line}: {match[0]}")
    for document in sorted(each for pattern in DOCUMENTS for each in ROOT.glob(pattern)):
        for line, text in enumerate(document.read_text("utf-8").split("\n"), 1):
            for match in BANNED_TEXT.finditer(text):
                if not any(kept in text for kept in KEPT_TEXT):
                    found.append(f"{document.relative_to(ROOT)}:{line}: {match[0]}")
    return found


def test_names_say_what_they_are() -> None:
    assert banned_names() == []


def test_a_name_has_one_meaning() -> None:
    assert ambiguous_names() == []


def test_texts_are_in_plain_words() -> None:
    assert banned_texts() == []


def test_the_checks_find_what_they_look_for() -> None:
    tree = ast.parse("class Found: ...\nMOST = 3\ndef enough(): ...\nMAX_PARENTS, LEFT = 1, 2\n")
    names = [name for _, name, _ in defined(tree)]
    assert names == ["Found", "MOST", "enough", "MAX_PARENTS", "LEFT"]
    assert [name for name in names if banned_in(name)] == ["MOST", "enough"]
    assert banned_in("test_a_page_stands_for_others")[0] == "stands for"  # type: ignore[index]
    assert banned_in("test_a_page_without_links_is_no_hub") is None
    assert BANNED_TEXT.search("'x' is no method")
    assert not BANNED_TEXT.search("Unknown method 'x'")
    assert len(modules(TESTS)) > 100


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else ""
    for title, rows in (("names", banned_names()), ("ambiguous", ambiguous_names()), ("texts", banned_texts())):
        print(f"{title}:", *(row for row in rows if folder in row), sep="\n  ")
