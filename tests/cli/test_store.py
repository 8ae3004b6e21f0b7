"""cocite info, check, export: what they say of a store, whole or damaged."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import cocite
from cocite.cli.views import store as view
from cocite.graph.export import FORMATS
from cocite.graph.generation import read_current
from cocite.graph.store import Graph
from cocite.operations.store.build import Build
from cocite.operations.store.check import sources_of
from cocite.operations.store.export import FORMAT_ALIASES
from cocite.operations.store.info import STORE_PARTS, part_bytes
from cocite.sources.records import Link, Page
from tests.cli.conftest import LIST, NEWS, PAGES, run
from tests.graph.webs import make


@pytest.fixture
def own(store: Path, place: Path) -> Path:
    """A copy of the store that may be damaged."""
    return Path(shutil.copytree(store, place / "web.cocite"))


def test_info(store: Path) -> None:
    ran = run("info", "-i", store)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == str(store)
    assert "generation 1, built " in lines[1]
    assert "  links\t7" in lines
    assert "  aliases\t1" in lines
    assert any(line.startswith("  links out\t") for line in lines)
    assert lines[-1] == "    records  test  5 records, 7 links"


def test_the_store_may_be_named_without_an_option(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COCITE_INDEX", "nowhere")
    for verb in ("info", "check"):
        assert run(verb, store, "--json").out == run(verb, "-i", store, "--json").out
        assert run(verb, store).code == 0


def test_info_of_a_small_store_has_no_sizes_per_link(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "bits per link" not in run("info", store).out
    monkeypatch.setattr(view, "MIN_LINKS_FOR_RATES", 7)
    assert "bits per link" in run("info", store).out


def test_info_of_opaque_names(place: Path) -> None:
    make(place / "web.cocite", [Page("name:1", links=[Link("name:2"), Link("name:Ada"), Link(NEWS)])])
    found = json.loads(run("info", place / "web.cocite", "--json").out)
    assert [found[name] for name in ("pages", "names", "sites", "hosts")] == [4, 3, 1, 1]
    make(place / "web.cocite", [Page("name:1", links=[Link("name:2")])])
    lines = run("info", place / "web.cocite").out.splitlines()
    assert "  names\t2" in lines
    assert not any(line.startswith(("  sites\t", "  hosts\t")) for line in lines)


def test_info_counts_what_a_folder_contained(place: Path) -> None:
    folder = place / "mixed"
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text("- [x](https://x.example/)\n")
    (folder / "links.tsv").write_text("https://a.example/\thttps://b.example/\n")
    assert run("build", folder, "--base", "https://me.example/", "-o", place / "web.cocite", "-q").code == 0
    assert run("info", place / "web.cocite").out.splitlines()[-1] == (
        f"    {folder}  folder  3 records, 3 links (files: 1 edges, 2 markdown)"
    )


def test_info_as_json(store: Path) -> None:
    found = json.loads(run("info", "-i", store, "--json").out)
    folder, manifest = read_current(store)
    assert found["links"] == 7
    assert found["sources"] == manifest["sources"]
    assert found["bytes"] == sum(file.stat().st_size for file in folder.glob("*.bin")), "every array is in some part"
    assert "other" not in [part["part"] for part in found["parts"]]
    for part in found["parts"]:
        assert part["bits_per_link"] == pytest.approx(part["bytes"] * 8 / 7, abs=1e-3)


def test_parts_of_a_store() -> None:
    arrays = {
        "out.words": ("<u8", 3),
        "in.skip.bit": ("<u4", 2),
        "page.site": ("<u4", 5),
        "page.kind": ("|u1", 5),
        "new": ("<f4", 1),
    }
    entries = {name: {"type": kind, "length": length} for name, (kind, length) in arrays.items()}
    assert part_bytes(entries) == {"links out": 24, "kept ready": 8, "sites, hosts": 20, "page facts": 5, "other": 4}
    assert list(STORE_PARTS)[-1] == "other"


def test_check_of_a_whole_store(store: Path) -> None:
    ran = run("check", "-i", store)
    assert ran.code == 0
    assert ran.out.startswith(f"{store}: OK\n")
    assert "Checked 9 pages and 7 links in" in ran.out
    assert json.loads(run("check", "-i", store, "--json", "-q").out) == {
        "store": str(store), "whole": True, "faults": [], "notes": [], "repair": "",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["out.words.bin", "manifest.json", "fingerprint.bin"])
def test_check_finds_a_flipped_byte_and_names_the_repair(own: Path, name: str) -> None:
    file = next(own.glob(f"g*/{name}"))
    raw = bytearray(file.read_bytes())
    at = raw.index(b'"digest": "') + 12 if name == "manifest.json" else len(raw) // 2
    raw[at] ^= 1
    file.write_bytes(raw)
    ran = run("check", own, "-q")
    assert ran.code == 2
    assert ran.out.startswith(f"{own}: damaged\n")
    assert ran.err.count("\n") == 1
    assert ran.err.endswith(f"repair it with: cocite build records -o {own}\n")
    found = json.loads(run("check", "-i", own, "-q", "--json").out)
    assert found["whole"] is False
    assert len(found["faults"]) == 1


def test_the_repair_of_side_data_leaves_the_store_alone(own: Path) -> None:
    assert run("rank", "-i", own, "--by", "pagerank", "-q").code == 0
    values = next((own / "side").glob("rank_pagerank-*/values.bin"))
    raw = values.read_bytes()
    values.write_bytes(bytes([raw[0] ^ 1]) + raw[1:])
    ran = run("check", "-i", own, "-q")
    assert ran.code == 2
    assert ran.err.endswith(f"repair it with: rm -r {own}/side/rank_pagerank.json {own}/side/rank_pagerank-*\n")
    subprocess.run(ran.err.partition("repair it with: ")[2], shell=True, check=True)
    assert run("check", "-i", own, "-q").code == 0


def test_the_repair_reads_sources_as_they_were_read(place: Path) -> None:
    notes, odd, store = place / "notes", place / "odd name.txt", place / "web.cocite"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\n- [b](https://b.example/)\n")
    odd.write_text("1 2\n2 3\n")
    table = place / "platforms.toml"
    table.write_text('[[platform]]\nhost = "a.example"\nsites = ["/*"]\n')
    base = ("--base", "https://a.example/")
    assert run("build", notes, *base, "--platforms", table, "-o", store, "-q", "--no-text").code == 0
    assert run("add", odd, "--kind", "edges", "--platforms", table, "-i", store, "-q").code == 0
    before = Graph(store).manifest["id"]
    next(store.glob("g*/name.words.bin")).write_bytes(b"")
    command = run("check", store, "-q", "--json")
    repair = json.loads(command.out)["repair"]
    assert repair == (
        f"cocite build {notes} --base https://a.example/ --platforms {table} -o {store} --no-text && "
        f"cocite add '{odd}' --kind edges --platforms {table} -i {store}"
    )
    for step in repair.split(" && "):
        assert run(*shlex.split(step)[1:], "-q").code == 0
    assert Graph(store).manifest["id"] == before


def test_the_repair_command_has_the_options_given_in_python(place: Path) -> None:
    (place / "notes.md").write_text("- [b](https://b.example/)\n")
    cocite.build([place / "notes.md"], place / "web.cocite", base="https://a.example/", kind="markdown")
    assert sources_of(Graph(place / "web.cocite").manifest) == [
        (str(place / "notes.md"), " --base https://a.example/ --kind markdown")
    ]


def test_the_repair_of_a_crawl_keeps_its_limits() -> None:
    said = Build(sources=("a",), depth=3, scope="host", allow_private=True).said
    entry = {"source": "https://a.example/", "said": said}
    assert sources_of({"sources": [entry, {"source": "b", "said": 5}]}) == [
        ("https://a.example/", " --depth 3 --scope host --allow-private"), ("b", ""),
    ]  # fmt: skip


def test_check_of_a_store_without_its_manifest(own: Path) -> None:
    for file in own.glob("g*/manifest.json"):
        file.write_text("{")
    ran = run("check", "-i", own, "-q")
    assert ran.code == 2
    assert ran.err.endswith(f"repair it with: cocite build SOURCE... -o {own}\n")


def test_check_survives_any_manifest(own: Path) -> None:
    for text in ("[]", "null", '{"sources": 5}', '{"sources": [1, {"source": 2}, {"source": "a b"}], "arrays": [1]}'):
        for file in own.glob("g*/manifest.json"):
            file.write_text(text)
        assert run("check", "-i", own, "-q").code == 2
    assert "cocite build 'a b' -o" in run("check", "-i", own, "-q").err


def test_check_warns_that_removed_pages_come_back(place: Path) -> None:
    store = place / "web.cocite"
    make(store, PAGES)
    run("remove", NEWS, "-i", store, "-q")
    next(store.glob("g*/title.data.bin")).write_bytes(b"")
    assert "1 removed page will be back after the repair" in run("check", "-i", store, "-q").out


def test_a_damaged_pointer_hides_no_source_and_no_removed_page(place: Path) -> None:
    store, more = place / "web.cocite", place / "more.txt"
    more.write_text("1 2\n2 3\n")
    make(store, PAGES)
    run("add", more, "-i", store, "-q")
    run("remove", NEWS, "-i", store, "-q")
    pointer, layers = store / "CURRENT", sorted(store.glob("*.layer"))
    assert len(layers) == 2 and "Checked 10 pages and 7 links" in run("check", "-i", store).out
    for damage in (pointer.read_bytes()[:30], b"\xff", b"", pointer.read_bytes()[:-40]):
        pointer.write_bytes(damage)
        ran = run("check", "-i", store, "-q")
        assert ran.code == 2 and ran.err.endswith(f"cocite build records {more} -o {store}\n")
        assert "1 removed page will be back" in ran.out
    for nonsense in (b"", b"cocite\nL" + bytes(8), b"\xff" * 99, b"cocite\nL\x02" + bytes(7) + b"[]"):
        layers[0].write_bytes(nonsense)
        ran = run("check", "-i", store, "-q")
        assert ran.code == 2 and ran.err.endswith(f"cocite build records -o {store}\n")
        assert "1 removed page will be back" in ran.out


def test_check_of_nothing(place: Path) -> None:
    ran = run("check", "-i", place / "none")
    assert ran.code == 2
    assert "no store at" in ran.err
    (place / "folder").mkdir()
    assert run("check", "-i", place / "folder", "-q").code == 2


def test_a_newer_format_is_not_damage(own: Path) -> None:
    file = next(own.glob("g*/manifest.json"))
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps(manifest | {"format": 99}))
    from cocite.graph.generation import digest

    (own / "CURRENT").write_text(f"{file.parent.name} {digest(file.read_bytes())}\n")
    ran = run("check", "-i", own, "-q")
    assert ran.code == 2
    assert "upgrade" in ran.err
    assert "repair" not in ran.err


def test_export(store: Path, place: Path) -> None:
    ran = run("export", "-i", store, "-o", place / "links.tsv")
    assert ran.code == 0
    assert ran.out.startswith(f"{place}/links.tsv  7 links, ")
    assert f"{LIST}\t{NEWS}" in (place / "links.tsv").read_text().splitlines()
    found = json.loads(run("export", "-i", store, "--format", "jsonl", "-o", place / "p.jsonl", "--json", "-q").out)
    assert found["records"] == 5
    piped = run("export", "-i", store, "-o", "-")
    assert piped.out == (place / "links.tsv").read_text()
    assert piped.err == ""


def test_export_of_a_matrix_names_both_its_files(store: Path, place: Path) -> None:
    ran = run("export", "-i", store, "-o", place / "links.npz", "-q")
    assert ran.out.splitlines()[1] == f"{place}/links.pages.txt.gz  the address of each row, one per line"
    found = json.loads(run("export", "-i", store, "-o", place / "links.npz", "-q", "--json").out)
    assert Path(found["rows"]).is_file()


def test_export_lists_the_known_formats(store: Path, place: Path) -> None:
    refused = run("export", "-i", store, "-o", place / "a.doc").err
    for ending in (".tsv", ".csv", ".parquet", ".jsonl", ".npz", ".graphml", ".gexf"):
        assert ending in refused
    assert run("export", "-i", store, "-o", place / "links.csv", "-q").code == 0
    assert (place / "links.csv").read_text().splitlines()[0] == "source,target"


def test_export_refuses_in_one_line(store: Path, place: Path) -> None:
    for args in (["-o", place / "a.doc"], ["-o", place / "a", "--format", "x"], ["-o", "-", "--format", "npz"], []):
        ran = run("export", "-i", store, *args)
        assert ran.code == 2
        assert ran.err.startswith("cocite: ")
        assert ran.err.count("\n") == 1


def test_export_refuses_a_place_before_it_opens_the_store(place: Path) -> None:
    for path, message in ((place, "is a folder"), (place / "nowhere" / "a.tsv", "Unknown folder")):
        ran = run("export", "-i", place / "none.cocite", "-o", path)
        assert (ran.code, message in ran.err) == (2, True)


def test_every_format_is_in_the_help() -> None:
    help_text = run("export", "--help").out
    for name in FORMATS:
        assert f"\n    {name} " in help_text
    assert set(FORMAT_ALIASES.values()) <= set(FORMATS)
