"""How commands that build, change and describe a store show what they did: build, check, info, links, rank, …"""

import re
import shlex
from typing import Any

from cocite.cli.terminal import Cell, Screen, cut_middle, rate, seconds, short_address, size
from cocite.operations.store.build import Add, BuildResult, Compact, Remove
from cocite.operations.store.check import CheckResult
from cocite.operations.store.clicks import ClicksResult
from cocite.operations.store.export import Exported
from cocite.operations.store.get import Get, Got, RecipeList
from cocite.operations.store.links import Citation, LinksAround, Section
from cocite.operations.store.methods import MethodList, Methods
from cocite.operations.store.rank import RankResult
from cocite.operations.task import Facts
from cocite.text import count

MIN_LINKS_FOR_RATES = 10_000  # with fewer links, a rate or a size per link means nothing
MAX_FAULTS_SHOWN = 20
CAUSES = {
    "repeated": "repeated on their page",
    "to_itself": "from a page to itself",
    "replaced": "of replaced, removed or unusable records",
    "unusable": "with unusable addresses",
}


def show_built(screen: Screen, asked: Any, result: BuildResult) -> None:
    """What a build made: pages, links, time, size, and what was skipped."""
    built, sites, index = result.built, result.manifest["sites"], result.indexed
    kept = result.manifest.get("history", {})
    verb = "Added to" if isinstance(asked, Add) else "Built"
    verb = "Compacted" if isinstance(asked, Compact) else verb
    verb = f"Removed {count(len(set(asked.urls)), 'page')} from" if isinstance(asked, Remove) else verb
    screen.line(f"{verb} ", (str(built.path), "bold"))
    working = max(1e-9, built.seconds - result.compiling)
    many = built.links >= MIN_LINKS_FOR_RATES
    speed = f"{rate(built.links / working)} links/s" if many and working >= 1 else ""
    parts = [f"{seconds(value)} {name}" for name, value in result.times.items() if value >= 0.05]
    per_link = f"{built.bytes / max(1, built.links):,.1f} bytes per link, including texts" if many else ""
    causes = [f"{built.left_out[cause]:,} {words}" for cause, words in CAUSES.items() if built.left_out[cause]]
    facts = [
        ("pages", f"{built.pages:,}", f"on {count(sites, 'site')}" if sites else ""),
        ("links", f"{built.links:,}", f"of {built.links_read:,}; dropped {', '.join(causes)}" if causes else ""),
        ("time", seconds(sum(result.times.values())), " + ".join(parts) if len(parts) > 1 else ""),
        *([("captures", f"{kept['captures']:,}", f"from {kept['first']} to {kept['last']}")] if kept else []),
        *([("speed", speed, "")] if speed else []),
        ("size", size(built.bytes), per_link),
    ]
    if index:
        facts.append(("search", size(index.bytes), f"the index of {count(index.pages, 'page')}"))
    wide = max(len(fact[1]) for fact in facts)
    for name, value, note in facts:
        screen.wrapped_row(Cell(name, 6, "dim"), Cell(value, wide, right=True), Cell(note, style="dim"), indent=2)
    show_skipped(screen, built.report, ("bytes", "pages", "links"))


def show_got(screen: Screen, asked: Get, result: RecipeList | Got) -> None:
    """The webs that can be had; or what was built, and what to try on it."""
    if isinstance(result, RecipeList):
        for recipe in result.recipes:
            takes = f"{recipe.size_mb:,} MB to download, {recipe.store_mb:,} MB of disk, {recipe.minutes} min to build"
            screen.row(Cell(recipe.name, 22, "bold"), Cell(recipe.about), indent=0)
            screen.row(Cell("", 22), Cell(f"about {takes}; from {recipe.publisher}", style="dim"))
        screen.line(("cocite get NAME downloads and builds one", "dim"))
        return
    show_built(screen, asked, result)
    screen.row(Cell("files", 6, "dim"), Cell(str(result.downloads), style="dim"), indent=2)
    screen.line(("Try next", "bold"))
    store = shlex.quote(str(result.built.path))
    for command in (f"{result.recipe.try_} -i {store}", f"info -i {store}", f"serve -i {store} --open"):
        screen.line((f"cocite {command}", "cyan"), indent=2)


def show_skipped(screen: Screen, report: Any, counted: tuple[str, ...]) -> None:
    """What was skipped, and what else to know, by reason; not what is `counted` elsewhere."""
    if report.skipped:
        screen.line(("skipped", "yellow"), (" (--strict stops at the first)", "dim"), indent=2)
        show_reasons(screen, dict(report.skipped), report.example)
    ignored = {what: number for what, number in report.read.items() if what not in counted and number}
    if ignored:
        screen.line(("notes", "dim"), indent=2)
        show_reasons(screen, ignored, {})


def show_reasons(screen: Screen, counts: dict[str, int], example: dict[str, str]) -> None:
    """Counts by reason, the most frequent first, with an example under each."""
    wide, times = max(len(f"{number:,}") for number in counts.values()), " ×" if screen.live else ""
    wide += len(times)
    for reason, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        screen.wrapped_row(Cell(f"{number:,}{times}", wide, right=True), Cell(reason), indent=4)
        if example.get(reason):
            screen.row(Cell(f"such as {example[reason]}", style="dim"), indent=6 + wide)


def show_clicks(screen: Screen, asked: Any, result: ClicksResult) -> None:
    """What was counted."""
    kept, report = result.kept, result.report
    if kept.trails:
        has = f"{kept.clicks:,.10g} clicks between {count(kept.pairs, 'pair')} of pages"
        used = f"used {kept.trails:,} of {count(report.read['rows'], 'row')}"
        screen.line((str(result.store), "bold"), f"  has {has}; {used}")
    show_skipped(screen, report, ("bytes", "rows"))


def show_exported(screen: Screen, asked: Any, result: Exported) -> None:
    """What was written, and how large it is."""
    facts = f"  {result.number:,} {result.what}, {size(result.bytes)}, {seconds(result.seconds)}"
    screen.line((result.file, "bold"), facts)
    if result.rows:
        screen.line((result.rows, "bold"), "  the address of each row, one per line")


def show_check(screen: Screen, asked: Any, result: CheckResult) -> None:
    """OK, or the faults, with a note on pages that a repair would bring back."""
    store, faults, manifest = (result.store, "bold"), result.faults, result.manifest
    if not faults:
        screen.line(store, ": ", ("OK", "green"))
        checked = f"Checked {count(manifest['pages'], 'page')} and {count(manifest['links'], 'link')}"
        screen.line(f"{checked} in {seconds(result.seconds)}", indent=2)
        return
    screen.line(store, ": ", ("damaged", "red"))
    for fault in faults[:MAX_FAULTS_SHOWN]:
        screen.line(fault, indent=2)
    if len(faults) > MAX_FAULTS_SHOWN:
        screen.line(f"and {len(faults) - MAX_FAULTS_SHOWN:,} more", indent=2)
    if (removed := removed_pages(manifest)) and not all(fault.startswith("side/") for fault in faults):
        back = "will be back after the repair; remove them again"
        screen.line(f"Note: {count(removed, 'removed page')} {back}", indent=2)


def removed_pages(manifest: dict[str, Any]) -> int:
    """The number of removed pages; 0 if a damaged manifest doesn't have it."""
    try:
        return int(manifest["removed"] if "removed" in manifest else manifest["arrays"]["removed"]["length"])
    except (KeyError, TypeError, ValueError):
        return 0


def show_info(screen: Screen, asked: Any, result: Facts) -> None:
    """Everything about a store."""
    found = result
    when = str(found["built"]).replace("T", " ").removesuffix("+00:00")
    screen.line((found["store"], "bold"))
    made = f"generation {found['generation']}, built {when} UTC by {found['by']}, format {found['format']}"
    screen.line(made, indent=2)
    screen.blank()
    names = ("pages", "links", "names", "sites", "hosts", "aliases", "removed")
    wide = max(len(f"{int(found[name]):,}") for name in names)
    for name in names:
        if found[name] or name in ("pages", "links"):
            screen.row(Cell(name, 8, "dim"), Cell(f"{int(found[name]):,}", wide, right=True), indent=2)
    late = found.get("lagging_ranks", ())  # used, but of an earlier state
    states = {name: "ranks kept" if fresh else "stale ranks" for name, fresh in found["ranks"].items()}
    states |= dict.fromkeys(late, "lagging ranks")
    for what in ("ranks kept", "lagging ranks", "stale ranks"):
        if ranks := [name for name, state in states.items() if state == what]:
            screen.row(Cell(what, style="dim"), Cell(", ".join(ranks)), indent=2)
    if found["clicks"]:
        screen.row(Cell("clicks", 8, "dim"), Cell(f"{found['clicks']:,.6g}", wide, right=True), indent=2)
    if history := found.get("history"):
        what = f"from {history['first']} to {history['last']}, with {count(history['links'], 'link')} in all"
        number = Cell(f"{history['captures']:,}", wide, right=True)
        screen.row(Cell("captures", 8, "dim"), number, Cell(what, style="dim"), indent=2)
    if layers := found.get("layers"):
        new, total = sum(layer["new"] for layer in layers), size(sum(layer["bytes"] for layer in layers))
        what = f"with {count(new, 'new page')}, {total}; until cocite compact, these lag: {', '.join(found['lagging'])}"
        cells = Cell("layers", 8, "dim"), Cell(f"{len(layers):,}", wide, right=True), Cell(what, style="dim")
        screen.wrapped_row(*cells, indent=2)
    screen.blank()
    show_parts(screen, found)
    screen.blank()
    screen.line(("sources", "dim"), indent=2)
    for source in found["sources"]:
        counts = f"{count(source['records'], 'record')}, {count(source['links'], 'link')}"
        files = [f"{number:,} {kind}" for kind, number in sorted(source.get("files", {}).items())]
        counts += f" (files: {', '.join(files)})" if files else ""
        screen.line(source["source"], (f"  {source['kind']}", "cyan"), (f"  {counts}", "dim"), indent=4)
    if found["skipped"]:
        screen.line(("skipped in the last change", "dim"), indent=2)
        show_reasons(screen, found["skipped"], {})


def show_parts(screen: Screen, found: dict[str, Any]) -> None:
    """The size of each part, per link and page too if there are many links."""
    columns = (13, 10, 14, 15) if found["links"] >= MIN_LINKS_FOR_RATES else (13, 10)
    sums = {name: sum(part[name] for part in found["parts"]) for name in ("bits_per_link", "bytes_per_page")}
    rows = [("size by part", "", "bits per link", "bytes per page")]
    for part in [*found["parts"], {"part": "all", "bytes": found["bytes"], **sums}]:
        per = f"{part['bits_per_link']:,.1f}", f"{part['bytes_per_page']:,.1f}"
        rows.append((part["part"], size(part["bytes"]), *per))
    styles = ["dim", *[""] * (len(rows) - 2), "bold"]
    for row, style in zip(rows, styles, strict=True):
        cells = zip(row, columns, strict=False)
        screen.row(*(Cell(text, wide, style, i > 0) for i, (text, wide) in enumerate(cells)), indent=2)


def show_rank(screen: Screen, asked: Any, result: RankResult) -> None:
    """How the rank was computed, then the first pages with their values."""
    done = f"{count(result.rounds, 'round')}, residual {result.residual:.1e}, {seconds(result.seconds)}"
    screen.line((result.call, "bold"), f"  {count(result.pages, 'page')}, {done}")
    if not result.converged:
        call = f'--by "{result.rank}(rounds=1000)"'
        screen.line((f"The tolerance was not reached: allow more rounds, as in {call}", "yellow"))
    if result.top:
        screen.blank()
    digits, wide = len(str(len(result.top))), max((len(f"{page.value:,.6g}") for page in result.top), default=0)
    column = screen.title_width((page.title for page in result.top), digits + wide + 4) if screen.live else 0
    for page in result.top:
        rank, value = Cell(str(page.rank), digits, "dim", right=True), Cell(f"{page.value:,.6g}", wide, "cyan", True)
        if screen.live:
            screen.page(page.title, page.url, rank, value, column=column)
        else:
            screen.row(rank, value, Cell(page.url), Cell(page.title))


def show_methods(screen: Screen, asked: Methods, result: MethodList) -> None:
    """A line for each method, or everything about one."""
    for about in result.methods:
        if asked.name or not screen.live:
            screen.line((about.name, "bold"), f"  {about.summary}")
        else:
            screen.entry(Cell(about.name, 21, "bold"), about.summary)
        if not asked.name:
            continue
        screen.blank()
        for paragraph in about.description.split("\n\n"):
            show_paragraph(screen, paragraph)
            screen.blank()
        for each in about.parameters:
            value = "" if each.default == () else each.default
            default = f"{each.name}={str(value).lower() if isinstance(value, bool) else value}"
            screen.entry(Cell(default, 24, "cyan"), each.help, Cell(f"({each.kind})", style="dim"), indent=2)
    if not asked.name:
        screen.blank()
        screen.line(("cocite methods METHOD shows the parameters of a method", "dim"))


def show_paragraph(screen: Screen, paragraph: str) -> None:
    """Text, or the items of a list, wrapped by a terminal; formulas and tables as they are."""
    if not screen.live or paragraph.startswith((" ", "|")):
        for line in paragraph.splitlines():
            screen.line(line, indent=2)
        return
    for item in re.split(r"\n(?=- |\d+\. )", paragraph):
        mark, text = re.fullmatch(r"(- |\d+\. )?(.*)", " ".join(item.split())).groups("")  # type: ignore[union-attr]
        if mark:
            screen.entry(Cell(mark.strip(), 2), text, indent=2)
        else:
            screen.line(text, indent=2)


def show_links(screen: Screen, asked: Any, result: LinksAround) -> None:
    """A page, what it links to under its headings, then links to it."""
    page = result.page
    if page["title"]:
        screen.line((page["title"], "bold"))
    screen.line((page["url"], "cyan"), (" (that address leads here)", "dim") if result.is_alias else "")
    notes = [count(page["links_out"], "out-link"), count(page["links_in"], "in-link")]
    notes += [f"captured {str(page['captured'])[:10]}"] if page["captured"] else []
    notes += [f"status {page['status']}"] if page["status"] else []
    notes += [f"language {page['lang']}"] if page["lang"] else []
    notes += [] if page["read"] else ["known from links only"]
    screen.line((" · ".join(notes), "dim"))
    if result.blocks:
        screen.blank()
        screen.line(("Links to", "bold"))
        show_sections(screen, result.blocks)
        show_more(screen, page["links_out"] - sum(len(section.links) for section in result.blocks))
    if result.cited_by:
        screen.blank()
        screen.line(("Linked from", "bold"), (" (most linked first)", "dim"))
        for citation in result.cited_by:
            show_citation(screen, citation)
        show_more(screen, page["links_in"] - len(result.cited_by))


def show_sections(screen: Screen, blocks: list[Section]) -> None:
    """Links out under their headings."""
    labels = [child.text or child.title for block in blocks for child in block.links]
    wide = min(max(map(len, labels), default=0), int(screen.width * 0.42)) if screen.live else 0
    digits = len(str(blocks[-1].links[-1].position))
    for block in blocks:
        heading = block.heading or ("unknown section" if block.block is None else "without a heading")
        style = "green" if block.heading else "dim"
        screen.line((heading, style), (" boilerplate", "dim") if block.boilerplate else "", indent=2)
        for child in block.links:
            marks = " ".join(child.rel + (["boilerplate"] if child.boilerplate and not block.boilerplate else []))
            used = 4 + digits + 2 + wide + 2 + (len(marks) + 2 if marks else 0)
            url = cut_middle(short_address(child.url), max(20, screen.width - used)) if screen.live else child.url
            number, label = Cell(str(child.position), digits, "dim", True), Cell(child.text or child.title, wide)
            screen.row(number, label, Cell(url, 0, "cyan"), Cell(marks, style="yellow"), indent=4)


def show_citation(screen: Screen, citation: Citation) -> None:
    """A link in, with its section and the links next to it."""
    parts = [f"as “{citation.text}”"] if citation.text else []
    parts += [f"under “{citation.heading}”"] if citation.heading else []
    beside = [each["text"] or each["url"] for each in citation.beside]
    parts += [f"next to {', '.join(beside)}"] if beside else []
    parts += ["in boilerplate"] if citation.boilerplate else []
    where = " ".join(parts + citation.rel) or "in an unknown section"
    if screen.live:
        screen.page(citation.title, citation.url, indent=2)
        screen.line((where, "dim"), indent=4)
    else:
        screen.row(Cell(citation.title), Cell(citation.url), Cell(where), indent=2)


def show_more(screen: Screen, more: int) -> None:
    """Say that there is more, and how to see it."""
    if more > 0:
        screen.line((f"and {more:,} more: -k 0 shows all", "dim"), indent=2)


def show_plugins(screen: Screen, asked: Any, result: Any) -> None:
    """A line for each plugin: its kind, name and package; and why it can't be used."""
    for each in result.plugins:
        package = f"{each.package} {each.version}"
        screen.line((f"{each.kind[:-1]:9}  ", "dim"), (each.name, "bold"), f"  {package}  ", (each.target, "dim"))
        if each.failure:
            screen.line((f"not loaded: {each.failure}", "yellow"), indent=11)
