"""Hosts, registrable domains and sites."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import publicsuffixlist
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.errors import BadAddress, BadParameter
from cocite.pages import site as site_module
from cocite.pages.address import parse
from cocite.pages.key import host, key
from cocite.pages.site import Sites, built_in_platforms, domain, is_under_icann, version
from tests.pages.guess import guess
from tests.pages.spellings import sample

SITES = Sites()
LIBRARY = publicsuffixlist.PublicSuffixList()
LABELS = ["a", "b", "com", "uk", "co", "ck", "www", "kobe", "jp", "city", "io", "github"]


@pytest.mark.parametrize(
    ("page", "its_host", "its_domain", "its_site"),
    [
        ("nytimes.com", "nytimes.com", "nytimes.com", "nytimes.com"),
        ("cooking.nytimes.com/a", "cooking.nytimes.com", "nytimes.com", "nytimes.com"),
        ("news.bbc.co.uk/1/hi?x", "news.bbc.co.uk", "bbc.co.uk", "bbc.co.uk"),
        ("alice.github.io/x", "alice.github.io", "alice.github.io", "alice.github.io"),
        ("a.b.example:8080/x", "a.b.example", "b.example", "b.example"),
        ("co.uk", "co.uk", "co.uk", "co.uk"),
        ("localhost:8000/a", "localhost", "localhost", "localhost"),
        ("10.0.0.1:80/a", "10.0.0.1", "10.0.0.1", "10.0.0.1"),
        ("[::1]:80/a", "[::1]", "[::1]", "[::1]"),
        ("name:42", "name:42", "name:42", "name:42"),
        ("name:a.b/c", "name:a.b/c", "name:a.b/c", "name:a.b/c"),
        ("xn--mnchen-3ya.de/a", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("a.xn--55qx5d.cn", "a.xn--55qx5d.cn", "a.xn--55qx5d.cn", "a.xn--55qx5d.cn"),
    ],
)
def test_host_domain_site(page: str, its_host: str, its_domain: str, its_site: str) -> None:
    assert SITES.host(page) == host(page) == its_host
    assert SITES.domain(its_host) == domain(its_host) == its_domain
    assert SITES.site(page) == its_site


@pytest.mark.parametrize(
    ("page", "its_site"),
    [
        ("github.com/alice/project/issues/1", "github.com/alice/project"),
        ("github.com/alice/project?tab=readme", "github.com/alice/project"),
        ("github.com/alice?tab=repositories", "github.com/alice"),
        ("github.com/orgs/acme/people", "github.com/orgs/acme"),
        ("github.com/about/team", "github.com"),
        ("github.com/aboutme/x", "github.com/aboutme/x"),
        ("github.com", "github.com"),
        ("github.com?x=1", "github.com"),
        ("gist.github.com/alice/0123", "gist.github.com/alice"),
        ("gitlab.com/group/project/-/issues", "gitlab.com/group/project"),
        ("sourceforge.net/projects/x/files", "sourceforge.net/projects/x"),
        ("x.sourceforge.net/files", "x.sourceforge.net"),
        ("npmjs.com/package/@scope/x", "npmjs.com/package/@scope/x"),
        ("npmjs.com/package/left-pad", "npmjs.com/package/left-pad"),
        ("pypi.org/project/numpy/2.0", "pypi.org/project/numpy"),
        ("pypi.org/help", "pypi.org"),
        ("apps.apple.com/us/app/x/id1?mt=8", "apps.apple.com/us/app/x/id1"),
        ("play.google.com/store/apps/details?id=com.x&hl=en", "play.google.com/store/apps/details?id=com.x"),
        ("play.google.com/store/apps/details?hl=en&id=com.x", "google.com"),
        ("play.google.com/store/apps", "google.com"),
        ("youtube.com/@alice/videos", "youtube.com/@alice"),
        ("youtube.com/watch?v=abc&t=1", "youtube.com/watch?v=abc"),
        ("youtube.com/feed", "youtube.com"),
        ("facebook.com/profile.php?id=1", "facebook.com/profile.php?id=1"),
        ("facebook.com/profile.php?x=1", "facebook.com"),
        ("facebook.com/groups/1/posts", "facebook.com/groups/1"),
        ("facebook.com/groups", "facebook.com"),
        ("reddit.com/r/python/comments", "reddit.com/r/python"),
        ("medium.com/@alice/story", "medium.com/@alice"),
        ("alice.medium.com/story", "alice.medium.com"),
        ("alice.tumblr.com/post/1", "alice.tumblr.com"),
        ("www2.alice.tumblr.com", "alice.tumblr.com"),
        ("en.wikipedia.org/wiki/X", "en.wikipedia.org"),
        ("en.m.wikipedia.org/wiki/X", "en.m.wikipedia.org"),
        ("wikipedia.org", "wikipedia.org"),
        ("docs.google.com/document/d/1/edit", "docs.google.com/document/d/1"),
        ("web.archive.org/web/2001/http://x.org/a", "web.archive.org/web/2001/http://x.org"),
        ("archive.org/details/x/y", "archive.org/details/x"),
        ("cs.example.edu/~ann/papers", "cs.example.edu/~ann"),
        ("cs.example.edu:8080/~ann/papers", "cs.example.edu:8080/~ann"),
        ("cs.example.edu/~", "example.edu"),
        ("cs.example.edu/x/~ann", "example.edu"),
        ("groups.google.com/forum#!forum/x/y", "google.com"),
        ("geocities.com/Athens/Forum/1234/me.htm", "geocities.com/Athens/Forum/1234"),
    ],
)
def test_platforms(page: str, its_site: str) -> None:
    assert parse("https://" + page).canonical == page
    assert SITES.site(page) == its_site


def test_the_table_is_large_and_names_no_host_twice() -> None:
    table = tomllib.loads(Path(site_module.__file__).with_name("platforms.toml").read_text("utf-8"))["platform"]
    lists = [[entry["host"]] if isinstance(entry["host"], str) else entry["host"] for entry in table]
    hosts = Counter(name for names in lists for name in names)
    assert len(table) >= 60
    assert [name for name, count in hosts.items() if count > 1] == []
    for name in hosts:
        assert name == "*" or parse(f"host:{name.removeprefix('*.')}").canonical == name.removeprefix("*.")


def test_a_site_is_one_range_of_keys() -> None:
    """Pages of a site that is a part of a host follow each other; other pages belong to a domain, or a whole host."""
    pages = set()
    for name, platform in built_in_platforms().items():
        for pattern in platform.patterns:
            for filling in ("a", "b-c"):
                parts = [part[:-1] + filling if part.endswith("*") else part for part in pattern.parts]
                for depth in range(len(parts) + 1):
                    path = "/".join([name.replace("*", "any.example"), *parts[:depth]])
                    pages |= {path, path + "/x", path + "/zz/y", path + "?q=1", path + "?zz", path + "!"}
                    pages |= {
                        f"{path}?{pattern.parameter}{value}"
                        for value in ("1", "1&a=2", "12", "1!", "1%20", "1-", "1#!a")
                    }
    for address in sample(3000, seed=3):
        try:
            pages.add(parse(address).canonical)
        except BadAddress:
            continue
    closed: set[str] = set()
    last = ""
    for page in sorted(pages, key=key):
        site = SITES.site(page)
        if site == SITES.rule_for_host(host(page)).site:
            continue
        assert page.startswith(site)
        assert site not in closed, page
        if site != last:
            closed.add(last)
            last = site


def test_suffixes_are_those_of_the_library() -> None:
    rules = Path(publicsuffixlist.PSLFILE).read_text("utf-8").splitlines()
    suffixes = {rule.lstrip("!*.") for rule in rules if rule and rule.isascii() and not rule.startswith("//")}
    assert len(suffixes) > 5000
    for suffix in sorted(suffixes)[::7]:
        for name in (suffix, f"a.{suffix}", f"b.a.{suffix}", f"c.b.a.{suffix}"):
            assert domain(name) == (LIBRARY.privatesuffix(name) or name)
    assert version().startswith("1.") and SITES.version() == version()
    assert is_under_icann("example.co.uk") and not is_under_icann("com") and not is_under_icann("a.example")


@given(st.lists(st.sampled_from(LABELS), min_size=1, max_size=6).map(".".join))
@settings(deadline=None)
def test_suffixes_of_odd_hosts(name: str) -> None:
    assert domain(name) == (LIBRARY.privatesuffix(name) or name)


def test_users_tables(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[[platform]]\nhost = ["github.com", "*.intra.example"]\nsites = ["/*"]\n', "utf-8")
    sites = Sites(file)
    assert sites.site("github.com/alice/project") == "github.com/alice"
    assert sites.site("a.intra.example/x/y") == "a.intra.example/x"
    assert sites.site("gitlab.com/a/b/c") == "gitlab.com/a/b"
    assert SITES.site("github.com/alice/project") == "github.com/alice/project"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[platform]\n", "not valid TOML: .*line 1"),
        ("[[platform]]\nhost = 1\nsites = '/*'", "line 1: host must be"),
        ("\n[[platform]]\nsites = '/*'", "line 2: host must be"),
        ("[[platform]]\nhost = 'a.org'", "line 1: sites must be"),
        ("[[platform]]\nhost = 'www.a.org'\nsites = '/*'", "invalid host"),
        ("[[platform]]\nhost = 'A.org'\nsites = '/*'", "invalid host"),
        ("[[platform]]\nhost = 'a.org'\nsites = 'x'", "begin it with /"),
        ("[[platform]]\nhost = 'a.org'\nsites = '//x'", "begin it with /"),
        ("[[platform]]\nhost = 'a.org'\nsites = '/a*b'", "only the end of a part can be"),
        ("[[platform]]\nhost = 'a.org'\nsites = '/a?b'", "end it as in"),
        ("[[platform]]\nhost = 'a.org'\nsites = '/a'\nsite = 1", "unknown field 'site'"),
        ("[[platform]]\nhost = 'a.org'\nsites = ['/*', '/*/*']", "never matches"),
        ("[[platform]]\nhost = 'a.org'\nsites = ['/*/x', '/*']", "split the pages of a site"),
        ("[other]\nx = 1", "must consist of entries"),
        ("platform = 1", "must consist of entries"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(BadParameter, match=complaint) as raised:
        Sites(file)
    assert str(file) in str(raised.value) and "\n" not in str(raised.value)


def test_tables_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="Cannot read platforms"):
        Sites(tmp_path / "absent.toml")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadParameter, match="Cannot read platforms"):
        Sites(tmp_path / "binary")


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("nytimes.com", "host:nytimes.com"),
        ("12thharmonic.com/wordpress", "host:12thharmonic.com/wordpress"),
        ("http://nytimes.com/", "http://nytimes.com/"),
        ("42", "name:42"),
        ("Ada Lovelace", "name:Ada Lovelace"),
        ("Nytimes.com", "name:Nytimes.com"),
        ("com", "name:com"),
        ("page.html", "name:page.html"),
        ("a.example", "name:a.example"),
        ("1.2.3.4", "name:1.2.3.4"),
        ("a b.com", "name:a b.com"),
        ("a.com/é", "name:a.com/é"),
        ("", "name:"),
    ],
)
def test_guess(name: str, address: str) -> None:
    assert guess(name) == address
