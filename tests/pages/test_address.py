"""One page, one canonical spelling; nothing merged that could be two pages; nothing private kept."""

from __future__ import annotations

import can_ada
import pytest
from hypothesis import given, settings

from cocite.errors import BadAddress
from cocite.pages import rules
from cocite.pages.address import canonical, parse, parse_query
from tests.pages.spellings import addresses, sample

SAME_PAGE = {
    "nytimes.com": [
        "https://nytimes.com",
        "http://nytimes.com/",
        "https://www.nytimes.com/",
        "HTTPS://WWW.NYTIMES.COM:443/",
        "http://www.nytimes.com:80",
        "https://nytimes.com./",
        "https://nytimes.com/#top",
        "https://nytimes.com/?",
        "https://nytimes.com/index.html",
        "https://nytimes.com/Default.aspx",
        "https://nytimes.com/a/..",
        "https://nytimes.com/%2e/",
        "https://user:password@nytimes.com/",
        "https://nytimes.com/?utm_source=a&utm_medium=b&gclid=c",
        "https:\\\\nytimes.com\\",
        " https://nytimes.com/\n",
        "//nytimes.com",
        "host:nytimes.com",
        "host:www.nytimes.com/",
    ],
    "example.org/~ann/caf%C3%A9": [
        "http://example.org/~ann/café",
        "http://example.org/%7Eann/caf%c3%a9/",
        "http://example.org/%7eann/%63af%C3%A9/index.htm#menu",
        "http://example.org/~ann/x/../café/index.php?",
    ],
    "example.org/a?b=1&c=2": [
        "https://example.org/a?b=1&c=2",
        "https://example.org/a/?b=1&c=2",
        "https://example.org/a?b=1&&c=2&",
        "https://example.org/a?utm_source=x&b=1&c=2&fbclid=abc",
        "https://example.org/a?b=1&UTM_Campaign=x&c=2",
        "https://example.org/a?b=1&utm%5Fsource=x&c=2",
        "https://example.org/a?b=1&amp;utm_source=x&c=2",
        "https://example.org/a;jsessionid=0A1B2C?b=1&PHPSESSID=123&c=2",
        "https://example.org/(S(lit3py55t21z5v55vlm25s55))/a?b=1&c=2",
        "https://example.org/a?b=1&access_token=s3cret&c=2",
        "https://example.org/a?CFID=1&CFTOKEN=2&b=1&c=2",
        "https://example.org/a?b=1&c=2&sessionid=0123456789abcdef0123456789abcdef",
    ],
    "example.org/x_(y)?q=a%27b%5B%5D": [
        "https://example.org/x_(y)?q=a'b[]",
        "https://example.org/x_%28y%29?q=a%27b%5b%5d",
    ],
    "github.com/alice/project/blob/README.md": [
        "https://github.com/Alice/Project/blob/README.md",
        "https://www.github.com/alice/project/blob/README.md",
    ],
    "reddit.com/r/python/comments/1/Title": ["https://www.reddit.com/r/Python/comments/1/Title/"],
    "xn--mnchen-3ya.de": ["http://münchen.de", "http://MÜNCHEN.DE/", "http://xn--mnchen-3ya.de/"],
    "s3.example.org/key": [
        "https://s3.example.org/key?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Expires=900",
        "https://s3.example.org/key?AWSAccessKeyId=a&Expires=1&Signature=b",
        "https://s3.example.org/key?sv=2020-08-04&se=2021-01-01&sr=b&sp=r&sig=x%3D",
    ],
    "example.org#!/a/b": ["https://example.org/#!/a/b", "http://www.example.org#!/a/b?access_token=x"],
    "1.2.3.4/a": ["http://1.2.3.4/a/"],
    "[::1]:8080": ["http://[0:0::1]:8080/"],
    "name:42": ["name:42"],
}


@pytest.mark.parametrize(("page", "spelling"), [(page, s) for page, spellings in SAME_PAGE.items() for s in spellings])
def test_spellings_of_one_page(page: str, spelling: str) -> None:
    assert canonical(spelling) == page


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org/a?id=1", "https://example.org/a?id=2"),
        ("https://example.org/a?ref=1", "https://example.org/a"),
        ("https://example.org/a?source=1", "https://example.org/a"),
        ("https://example.org/a?sid=0123456789abcdef0123456789abcdef", "https://example.org/a"),
        ("https://example.org/a?key=0123456789abcdef0123456789abcdef", "https://example.org/a"),
        ("https://example.org/a?sessionid=12", "https://example.org/a?sessionid=13"),
        ("https://example.org/a?token=0x0123456789abcdef0123456789abcdef01234567", "https://example.org/a"),
        ("https://example.org/a?cfid=12", "https://example.org/a"),
        ("https://example.org/a?expires=12", "https://example.org/a"),
        ("https://example.org/a?sig=1&st=2", "https://example.org/a?sig=1"),
        ("https://example.org/a?b=1&c=2", "https://example.org/a?c=2&b=1"),
        ("https://example.org/a?b", "https://example.org/a?b="),
        ("https://example.org/index.php?id=1", "https://example.org/?id=1"),
        ("https://example.org/index.html", "https://example.org/Index.html"),
        ("https://example.org/index.html.bak", "https://example.org/"),
        ("https://example.org/a%2Fb", "https://example.org/a/b"),
        ("https://example.org/a%3Fb", "https://example.org/a?b"),
        ("https://example.org/a%2541", "https://example.org/a%41"),
        ("https://example.org/a//b", "https://example.org/a/b"),
        ("https://example.org/a;v=1", "https://example.org/a"),
        ("https://example.org/#!a", "https://example.org/#!b"),
        ("https://example.org:8080/", "https://example.org/"),
        ("https://www.com/", "https://com/"),
        ("https://blog.example.org/", "https://example.org/"),
        ("https://youtube.com/watch?v=aB", "https://youtube.com/watch?v=ab"),
        ("https://www.youtube.com/channel/UCab", "https://www.youtube.com/channel/ucab"),
        ("https://github.com/a/b/blob/X", "https://github.com/a/b/blob/x"),
        ("name:042", "name:42"),
        ("name:example.org", "host:example.org"),
    ],
)
def test_different_pages_stay_apart(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("HTTP://WWW.Example.org", "http://www.example.org/"),
        ("https://ann:secret@example.org/a?password=x&b=1#frag", "https://example.org/a?b=1"),
        ("https://example.org/%7Eann/?utm_source=x", "https://example.org/%7Eann/"),
        ("https://github.com/Alice/Project", "https://github.com/Alice/Project"),
        ("host:www.example.org", "www.example.org"),
        ("host:example.org/a/", "example.org/a/"),
        ("name: Ada Lovelace ", " Ada Lovelace "),
    ],
)
def test_shown_keeps_the_spelling_but_nothing_private(address: str, shown: str) -> None:
    assert parse(address).shown == shown


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("https://example.org/%zz%", "example.org/%zz%"),
        ("https://example.org/%%34%31", "example.org/%%34%31"),  # not %41, which would then be A
        ("https://example.org/%4%31%zzé", "example.org/%4%31%zz%C3%A9"),
        ("https://example.org/a\tb\nc\x01", "example.org/abc"),  # the last as browsers: they strip it at the end
        ("https://example.org/\x01a", "example.org/%01a"),
        ("https://example.org/a b|c", "example.org/a%20b%7Cc"),
        ("https://example.org/x?a b", "example.org/x?a%20b"),
        ("https://example.org/a/.b/..", "example.org/a"),
        ("https://example.org/a/.b/%2e%2E/./c/../../../d", "example.org/d"),
        ("https://example.org/.b/a/.", "example.org/.b/a"),
    ],
)
def test_broken_escapes_and_control_characters(address: str, page: str) -> None:
    assert canonical(address) == page


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("mailto:ann@example.org", "mailto address, not a web page: "),
        ("javascript:alert(1)", "javascript address, not a web page: "),
        ("data:text/html,x", "data address, not a web page: "),
        ("ftp://example.org/", "ftp address, not a web page: "),
        ("x-mine:a", "other address, not a web page: "),
        ("nytimes.com", "with https://"),
        ("/relative/path", "with https://"),
        ("", "with https://"),
        ("http://530/", "number instead of a host: "),
        ("http://0x7f.1/", "number instead of a host: "),
        ("http://1.2.3/", "number instead of a host: "),
        ("http://256.1.1.1/", "check the host"),
        ("http://a b.org/", "check the host"),
        ("http://example.org:99999/", "check the host"),
        ("http://a..org/", "invalid host name: "),
        ("http://a,b.org/", "invalid host name: "),
        ("http://" + "a" * 64 + ".org/", "invalid host name: "),
        ("http://" + "a." * 127 + "org/", "invalid host name: "),
        ("http://example.org/\ud800", "check the host"),
        ("http://example.org/" + "a" * 4096, "characters"),
        ("http://example.org/" + "é" * 2000, "once encoded"),
        ("http://name:81/", "give its full name"),
        ("name:", "empty name"),
        ("name:a\x00b", "NUL"),
        ("name:\ud800", "an incomplete character"),
    ],
)
def test_invalid_addresses(address: str, reason: str) -> None:
    with pytest.raises(BadAddress, match=reason) as raised:
        parse(address)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 200


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (" nytimes.com ", "nytimes.com"),
        ("www.nytimes.com/x", "nytimes.com/x"),
        ("nytimes.com:8080/x", "nytimes.com:8080/x"),
        ("http://nytimes.com", "nytimes.com"),
        ("localhost:8000", "localhost:8000"),
        ("[::1]/a", "[::1]/a"),
        ("42", "name:42"),
        ("Ada Lovelace", "name:Ada Lovelace"),
        ("St. Louis", "name:St. Louis"),
        ("name:x.org", "name:x.org"),
        ("//nytimes.com/a", "nytimes.com/a"),
    ],
)
def test_queries_as_people_type_them(text: str, page: str) -> None:
    assert parse_query(text).canonical == page


@pytest.mark.parametrize("text", ["", "  ", "mailto:ann@example.org", "http://530", "a..b/c"])
def test_invalid_queries(text: str) -> None:
    with pytest.raises(BadAddress):
        parse_query(text)


@given(addresses())
@settings(max_examples=300, deadline=None)
def test_canonical_is_stable_and_safe(address: str) -> None:
    check_stable(address)


def test_canonical_is_stable_and_safe_for_many() -> None:
    for address in sample(15_000, seed=2):
        check_stable(address)


def check_stable(address: str) -> None:
    """The canonical spelling, and the shown one, are spellings of the same page; both are plain ASCII."""
    try:
        page = parse(address)
    except BadAddress:
        return
    if page.canonical.startswith("name:"):
        assert page == (address, address[5:])
        return
    assert page.canonical.isascii() and page.canonical.isprintable() and " " not in page.canonical
    assert canonical("host:" + page.canonical) == page.canonical
    assert canonical("https://" + page.canonical) == page.canonical
    whole = page.shown.startswith(("http://", "https://"))
    assert parse(page.shown if whole else "host:" + page.shown) == page
    if whole:
        assert not can_ada.parse(page.shown).has_credentials()
    assert "ann:secret" not in page.shown and "password=" not in page.shown


def test_every_rule_is_in_lower_case_and_works() -> None:
    for name in rules.DROPPED_NAMES:
        assert canonical(f"https://example.org/a?{name}=1&b=2") == "example.org/a?b=2", name
    for prefix in rules.PREFIXES:
        assert canonical(f"https://example.org/a?{prefix}x=1") == "example.org/a", prefix
    for name in rules.INDEX_NAMES | rules.INDEX_NAMES_ANY_CASE:
        assert canonical(f"https://example.org/a/{name}") == "example.org/a", name
    for host, (count, only) in rules.CASELESS.items():
        first = next(iter(only), "A")
        assert (
            canonical(f"https://{host}/{first}/B/C") == f"{host}/{first if only else 'a'}/{'b' if count > 1 else 'B'}/C"
        )
