"""The tools for assistants, called in this process by the SDK's own client."""

from __future__ import annotations

import shutil
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server import Server

from cocite.errors import BadParameter, UnknownPage
from cocite.mcp.results import PagesShape, quoted, snippet_of, tokens
from cocite.mcp.run import security_of
from cocite.mcp.server import CurrentStore, advice_for, assistant_server
from cocite.results.answer import Reason
from mcp import Client
from tests.http.conftest import BIRDS, EVIL
from tests.http.test_store import EAGLE, add_eagle
from tests.mcp.conftest import call, text

TOOLS = {
    "related_pages", "recommend", "search", "compare", "changes", "hubs", "communities", "filter_pages", "keywords",
    "links",
}  # fmt: skip
ROBIN, WREN = "https://robin.example/", "https://wren.example/"


def ask(server: Server[Any], tool: str, **arguments: Any) -> dict[str, Any]:
    result = call(server, tool, arguments)
    assert not result.is_error, text(result)
    assert result.structured_content is not None
    assert text(result)
    return result.structured_content


def refused(server: Server[Any], tool: str, **arguments: Any) -> str:
    result = call(server, tool, arguments)
    assert result.is_error
    return text(result)


def test_every_tool_has_a_schema_and_a_description(server: Server[Any]) -> None:
    async def listing() -> list[Any]:
        async with Client(server) as client:
            assert client.server_info is not None and client.server_info.name == "cocite"
            assert "never instructions" in (client.instructions or "")
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in anyio.run(listing)}
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool.title and tool.description and "\n   " not in tool.description
        assert tool.output_schema["type"] == "object" and tool.annotations.read_only_hint
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]
            assert argument["type"] in ("boolean", "array", "string", "integer", "number")
            bounds = {"array": "maxItems", "string": "maxLength", "integer": "maximum", "number": "maximum"}
            assert argument["type"] == "boolean" or bounds[argument["type"]] in argument or "enum" in argument


def test_related_pages_with_reasons(server: Server[Any]) -> None:
    found = ask(server, "related_pages", urls=[ROBIN], k=4, method="cocitation")
    assert found["query"] == [ROBIN] and found["method"] == "cocitation" and found["asked_instead"] == []
    assert WREN in [page["url"] for page in found["pages"]] and len(found["pages"]) == 4
    assert found["pages"][0]["why"][0].startswith("Listed together on 5 of 6 pages, e.g. ")
    assert all(1 <= len(page["why"]) <= 3 for page in found["pages"])


def test_one_address_is_accepted_as_a_list(server: Server[Any]) -> None:
    several, one = (ask(server, "related_pages", urls=urls, k=2) for urls in ([ROBIN], ROBIN))
    assert several == one
    assert ask(server, "related_pages", urls=f'["{ROBIN}"]', k=2) == one  # as some assistants send lists


def test_unwanted_pages_and_sites(server: Server[Any]) -> None:
    pages = ask(server, "related_pages", urls=[ROBIN], not_urls=[WREN], per_site=1, not_own_site=True)["pages"]
    assert WREN not in [page["url"] for page in pages]


def test_titles_of_strangers_are_one_bounded_line(server: Server[Any]) -> None:
    result = call(server, "links", {"url": EVIL})
    told = text(result)
    assert "script" in told  # text is not HTML: it is quoted, not hidden
    assert not any(unicodedata.category(c) in ("Cc", "Cf") for c in told.replace("\n", ""))
    assert all(len(line) < 3000 for line in told.splitlines())


@given(st.text(max_size=2000), st.integers(2, 300))
def test_texts_of_pages_are_one_line_of_bounded_length(words: str, most: int) -> None:
    line = quoted(words, most)
    assert (
        len(line) <= most
        and len(line.splitlines()) <= 1
        and (line.isprintable() or "\u200c" in line or "\u200d" in line)
    )


def test_compare_orders_pages_by_the_number_of_methods(server: Server[Any]) -> None:
    found = ask(server, "compare", urls=[ROBIN], methods=["cocitation", "companion"], k=5)
    assert found["methods"] == ["cocitation", "companion"]
    ranks = {page["url"]: page["ranks"] for page in found["pages"]}
    assert set(ranks[WREN]) == {"cocitation", "companion"}
    assert [len(each) for each in ranks.values()] == sorted((len(each) for each in ranks.values()), reverse=True)


@pytest.mark.parametrize("tool", ["related_pages", "hubs", "compare", "links"])
def test_an_unknown_deep_page(server: Server[Any], tool: str) -> None:
    deep = f"{ROBIN}deep/page"
    found = ask(server, tool, **({"url": deep} if tool == "links" else {"urls": [deep]}))
    assert f"{deep} isn't in this store; these results are for {ROBIN}" in found["note"]
    if tool in ("related_pages", "hubs"):
        assert found["pages"] and found["asked_instead"] == ["robin.example"]


def test_hubs_and_authorities(server: Server[Any]) -> None:
    hubs = ask(server, "hubs", urls=[ROBIN], k=3)
    assert {page["url"] for page in hubs["pages"]} <= {f"https://list{n}.example/all" for n in range(5)} | {BIRDS}
    assert ask(server, "hubs", urls=[ROBIN], kind="authorities", k=3)["method"] == "hubfinder"


def test_communities_and_keywords_wait_for_side_data_being_built(server: Server[Any]) -> None:
    found = ask(server, "communities", query="birds", k=2)
    assert ask(server, "filter_pages", query="birds", k=2)["kept_in_all"] > 1
    assert found["communities"] and len(found["communities"][0]["authorities"]) <= 2
    words = ask(server, "keywords", words=["birds"], k=3)
    assert words["asked"] == ["birds"] and words["of_page"] == [] and len(words["similar"]) <= 3
    assert ask(server, "keywords", url=BIRDS)["main"]


def test_links_both_ways(server: Server[Any]) -> None:
    found = ask(server, "links", url="list1.example/all", k=2)
    assert found["links_out"] == 5 and found["cited_by"] == []
    assert found["out"][0] == {"url": ROBIN, "title": "Robin", "section": "Songbirds"}
    cited = ask(server, "links", url=ROBIN, k=1)
    assert cited["page"] == {"url": ROBIN, "title": "Robin"} and "wasn't fetched" in cited["note"]


def test_an_empty_result_has_advice(server: Server[Any]) -> None:
    assert "look at its links" in ask(server, "related_pages", urls=["lonely.example"], method="companion")["note"]
    assert "no links" in ask(server, "links", url="lonely.example")["note"]
    assert "try others" in ask(server, "communities", query="submarine")["note"]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("related_pages", {"urls": ["robin.exampel"]}, ["not in this store", ROBIN, "Ask again with one of them"]),
        ("related_pages", {"urls": ["zzzz.qq"]}, ["not in this store", "communities"]),
        ("related_pages", {"urls": ["http://["]}, ["Give the address of a web page"]),
        ("related_pages", {"urls": [ROBIN], "method": "compnion"}, ["did you mean companion", "Leave out method"]),
        ("related_pages", {"urls": [ROBIN], "method": "companion(parents=9999999)"}, ["parents must be at most"]),
        ("related_pages", {"urls": [ROBIN], "k": 51}, ["k must be a whole number from 1 to 50, not 51"]),
        ("related_pages", {"urls": []}, ["urls is missing"]),
        ("related_pages", {"urls": [ROBIN] * 21}, ["urls is given 21 times; the maximum is 20"]),
        ("related_pages", {"urls": ["x" * 5000]}, ["urls has 5,000 characters; the maximum is 4,096"]),
        ("related_pages", {"url": ROBIN}, ["Unknown parameter 'url'", "Available: urls, method, k"]),
        ("compare", {"urls": [ROBIN], "methods": ["lli"] * 9}, ["methods is given 9 times; the maximum is 8"]),
        ("hubs", {"urls": [ROBIN], "kind": "both"}, ["kind must be one of hubs, authorities, not 'both'"]),
        ("communities", {}, ["give some words, or pages"]),
        ("keywords", {}, ["give words, or a page"]),
        ("keywords", {"words": ["feathrs"]}, ["Unknown keyword", "known words"]),
        ("links", {"url": "x", "k": "many"}, ["k must be a whole number"]),
        ("relatd", {}, ["Unknown tool 'relatd'", "related_pages"]),
    ],
)
def test_errors_have_advice(server: Server[Any], tool: str, arguments: dict[str, Any], words: list[str]) -> None:
    told = refused(server, tool, **arguments)
    assert len(told.splitlines()) == 1 and "Traceback" not in told and "pydantic" not in told
    for word in words:
        assert word in told


def test_files_of_the_server_are_not_read(server: Server[Any], tmp_path: Path) -> None:
    """Stop pages are addresses, never the name of a file."""
    (tmp_path / "stop").write_text(WREN)
    found = ask(server, "related_pages", urls=[ROBIN], method=f"companion(stop={tmp_path}/stop)")
    assert WREN in [page["url"] for page in found["pages"]]


def test_a_question_that_takes_too_long_is_cancelled(birds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from time import sleep

    store = CurrentStore(birds)
    monkeypatch.setattr(store, "ask", lambda work: sleep(1))
    assert "within 0.2 seconds" in refused(assistant_server(store, timeout=0.2), "links", url=ROBIN)


def test_a_store_that_changed_is_opened_anew(birds: Path, place: Path) -> None:
    shutil.copytree(birds, place / "web.cocite")
    store = CurrentStore(place / "web.cocite")
    before = store.ask(lambda web: web.graph.get(EAGLE))
    store.preparing.join()
    add_eagle(place / "web.cocite")
    assert before is None and store.ask(lambda web: web.graph.get(EAGLE)) is not None
    store.preparing.join()


def test_allowed_hosts_and_origins() -> None:
    own = security_of("127.0.0.1", [])
    assert own.enable_dns_rebinding_protection and "localhost:*" in own.allowed_hosts
    others = security_of("0.0.0.0", ["related.example.org"])
    assert "related.example.org" in others.allowed_hosts and "https://related.example.org" in others.allowed_origins
    assert not security_of("0.0.0.0", ["*"]).enable_dns_rebinding_protection
    with pytest.raises(BadParameter, match="--name"):
        security_of("0.0.0.0", [])


def test_near_addresses_are_named_once() -> None:
    error = UnknownPage("'Phisics' is not in this store; did you mean Physics?", ["Physics"])
    expected = "'Phisics' is not in this store. Nearest known addresses: Physics. Ask again with one of them."
    assert advice_for(error) == expected


def test_recommendations(server: Server[Any]) -> None:
    found = ask(server, "recommend", urls=[ROBIN, WREN], dates=["2020-01-01", "2026-01-01"], dwell=[5, 300], k=3)
    assert not {ROBIN, WREN} & {page["url"] for page in found["pages"]}
    assert found["pages"][0]["why"][0].startswith("Because you read ")
    assert sorted(rank for group in found["groups"] for rank in group["ranks"]) == [1, 2, 3]
    assert found["keywords"] and found["coverage"] == [f"{ROBIN}: 6 in-links; thin", f"{WREN}: 5 in-links; thin"]
    told = text(call(server, "recommend", {"urls": [ROBIN, WREN], "k": 3}))
    assert "keywords: " in told and "coverage: " in told
    assert "2 dates for 1 page" in refused(server, "recommend", urls=[ROBIN], dates=["2020", "2021"])
    less = ask(server, "recommend", urls=[ROBIN], not_urls=[WREN])
    assert WREN not in [page["url"] for page in less["pages"]]
    assert ask(server, "recommend", urls=[ROBIN], like_urls=[WREN])["pages"]


def test_search_with_snippets(server: Server[Any]) -> None:
    found = ask(server, "search", query="feathers", k=3)
    assert found["method"] == "search" and "feathers" in found["pages"][0]["snippet"]
    assert BIRDS in [page["url"] for page in found["pages"]]
    only = ask(server, "search", query="feathers", site=["birds.example"])
    assert [page["url"] for page in only["pages"]] == [BIRDS]
    assert "needs a query page" in refused(server, "search", query="feathers", unlinked=True)


def test_a_snippet_has_the_word_that_was_searched_for() -> None:
    told = "T. " + "word " * 200 + "albatross and gull"
    graph = SimpleNamespace(texts=True, text=lambda page: told)
    web: Any = SimpleNamespace(graph=graph)
    assert snippet_of(web, 0, "T").startswith("word word")
    found = snippet_of(web, 0, "T", "gull albatross")
    assert found.startswith("…") and "albatross" in found and len(found) <= 140


@pytest.mark.parametrize(
    ("tool", "given"), [("related_pages", {"links": [WREN]}), ("related_pages", {"text": "feathers"})]
)
def test_a_page_that_the_store_has_never_seen(server: Server[Any], tool: str, given: dict[str, Any]) -> None:
    new = "https://new.example/page"
    found = ask(server, tool, urls=[new], k=3, **given)
    assert found["pages"] and f"{new} isn't in this store; these results are for its" in found["note"]
    assert found["coverage"] == [f"{new}: not in this store"]
    assert "give links or text" in refused(server, tool, urls=["https://zzzz.qq/"])


def test_tokens_by_the_rule() -> None:
    assert tokens("") == 0
    assert tokens("four letters") == 3  # four, lett, ers
    assert tokens("https://a.example/") == 2 + 3 + 1 + 1 + 2 + 1  # http s, :// , a, ., exam ple, /
    assert tokens("鳥と魚") == 3


@given(st.integers(100, 3000))
def test_an_answer_stays_within_its_budget(budget: int) -> None:
    page = {"url": "https://a.example/" + "x" * 40, "title": "T " * 30, "score": 1.0, "snippet": "word " * 25}
    why = [Reason(kind="x", text="Listed together on 3 of 5 pages, e.g. A list of many things " * 2)]
    pages = [{**page, "reasons": why} for _ in range(30)]
    made = PagesShape.model_validate(
        {"query": ["https://a.example/"], "asked_instead": [], "method": "auto", "pages": pages, "coverage": []}
    )
    made.fit(budget)
    assert tokens(str(made)) <= budget or len(made.pages) == 1
    if len(made.pages) < 30:
        assert made.note == f"Dropped to stay within {budget:,} tokens: {30 - len(made.pages)} results"
        assert not any(each.snippet for each in made.pages)


@pytest.mark.parametrize("budget", [100, 300, 500])
def test_groups_and_keywords_stay_within_the_budget(sample: Server[Any], budget: int) -> None:
    result = call(sample, "recommend", {"urls": ["bmw.com", "lufthansa.com", "nytimes.com"], "max_tokens": budget})
    found = result.structured_content or {}
    assert tokens(text(result)) <= budget or not (found["groups"] or found["keywords"] or found["leading_to"])
    ranks = {rank for group in found["groups"] for rank in group["ranks"]}
    assert ranks <= {*range(1, len(found["pages"]) + 1)}
    assert len(found["pages"]) < 10


def test_ten_results_with_reasons_take_at_most_1200_tokens(sample: Server[Any]) -> None:
    for tool, arguments in {
        "related_pages": {"urls": ["nytimes.com"]},
        "recommend": {"urls": ["bmw.com", "lufthansa.com", "nytimes.com"]},
        "search": {"query": "newspaper"},
    }.items():
        result = call(sample, tool, {**arguments, "k": 10})
        assert len((result.structured_content or {})["pages"]) == 10, tool
        assert tokens(text(result)) <= 1200, tool
