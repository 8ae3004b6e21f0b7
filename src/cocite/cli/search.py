"""cocite search: pages by words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import INTERRUPTED, NOTHING, complain
from cocite.cli.terminal import Cell, Screen, count, seconds, size
from cocite.errors import BadParameter, BadStore

if TYPE_CHECKING:
    from cocite.cli.progress import Stages
    from cocite.graph.build.passes import BuildOptions
    from cocite.results.answer import Answers
    from cocite.words.search import Indexed


def search(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="Words, and '\"phrases in double quotes\"'.")
    ] = None,
    index: given.Index = Path("web.cocite"),
    k: Annotated[int, typer.Option("-k", metavar="N", help="So many pages at most.")] = 10,
    make: Annotated[bool, typer.Option("--make", help="Make the index anew, even if there is one that fits.")] = False,
    quiet: given.Quiet = False,
    json: given.Json = False,
) -> None:
    """Find pages by words: in their titles, headings, texts and addresses, and in what links to them say.

    Pages that have all of the words, each anywhere; if there is none, those that have the most. Capitals, accents and a
    plural s do not matter. Pages that ask not to be indexed are left out.

    The index is made by build and add if they keep texts, else when it is first needed. Exits with 1 if nothing is
    found.

    \b
    Examples:
      cocite search password manager
      cocite search '"static site" generator' -k 20 -i web.cocite
      cocite search --make -i web.cocite
    """
    from cocite.cli.progress import display
    from cocite.graph.store import Graph
    from cocite.results.ask import check_k
    from cocite.results.search import search_for
    from cocite.words.make_vectors import ready_vectors
    from cocite.words.search import build_search, ready_search

    if not words and not make:
        raise BadParameter("there is nothing to search for: give some words")
    check_k(k)
    graph, screen = Graph(index), Screen()
    with display(quiet) as stages:
        made = build_search(graph, stages) if make else None
        if made and graph.texts:
            ready_vectors(graph, stages)  # those that fit stay
        opened = ready_search(graph, stages) if words else None
    if made and opened is None:
        told(screen, graph.path, made, json)
    if opened is None:
        return
    answers = search_for(graph, opened, " ".join(words or []), k)
    if json:
        screen.json(answers.to_dict())
    else:
        show(screen, answers)
    if not len(answers) and k:
        complain(f"no page has any of these words: {' '.join(words or [])[:200]}; try others")
        raise typer.Exit(NOTHING)


def told(screen: Screen, path: Path, made: Indexed, json: bool) -> None:
    """What indexing made."""
    if json:
        screen.json({"store": str(path), "search": as_json(made)})
    else:
        screen.line((str(path), "bold"), f"  can be searched: {in_words(made)}")


def as_json(made: Indexed) -> dict[str, float]:
    """What indexing made, for programs."""
    return {"pages": made.pages, "bytes": made.bytes, "seconds": round(made.seconds, 3)}


def in_words(made: Indexed) -> str:
    """What indexing made, in a line."""
    return f"{count(made.pages, 'page')}, {size(made.bytes)}, {seconds(made.seconds)}"


def show(screen: Screen, answers: Answers) -> None:
    """For people."""
    had, asked = int(answers.facts["had"]), int(answers.facts["asked"])
    if len(answers) and had < asked:
        many = f"at least {had} of them" if had else "some of them, apart"
        screen.line((f"no page has all of these words; these have {many}", "yellow"))
    wide = max((len(f"{answer.score:.6g}") for answer in answers), default=0)
    for answer in answers:
        rank = Cell(str(answer.rank), 3, "dim", True)
        if screen.live:
            title = answer.title or answer.url
            url = Cell(answer.url if answer.title else "", style="cyan")
            screen.row(rank, Cell(title, min(len(title), int(screen.width * 0.5)), "bold"), url)
        else:
            screen.row(rank, Cell(f"{answer.score:.6g}", wide, "dim", True), Cell(answer.url), Cell(answer.title))
    if len(answers):
        screen.line((f"{answers.milliseconds:.1f} ms", "dim"))


def renewed(path: Path, options: BuildOptions, stages: Stages) -> Indexed | None:
    """The search index after a store was built or changed. Whatever becomes of it, the store is whole, and says so."""
    from cocite.words.search import renew_search

    try:
        return renew_search(path, options.text, stages, options.memory // 4)
    except KeyboardInterrupt:
        complain(f"interrupted: {path} is whole, but cannot be searched yet; the first cocite search makes its index")
        raise typer.Exit(INTERRUPTED) from None
    except (BadStore, OSError) as error:
        complain(f"{path} is ready, but has no search index: {error}")
        return None
