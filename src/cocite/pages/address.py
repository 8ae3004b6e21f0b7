"""What counts as one page: any spelling of an address → one canonical spelling, and a safe one for showing.

`parse("HTTP://www.Example.com:80/a/index.html?utm_source=x#top")` gives the canonical `example.com/a` and, for showing,
`http://www.example.com/a/index.html`. The rules below merge what a person calls one page, and nothing else: a rule that
could merge two different pages has no place here. Keys and spelling flags are in `key.py`.

Beside web addresses there are two forms for edge lists: `name:42` is an opaque name, shown as `42`; `host:nytimes.com/a`
is an address without a scheme, shown as it was given.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import can_ada

from cocite.errors import BadAddress
from cocite.pages.key import from_key, key, shown, spelling_flags

__all__ = ["Address", "canonical", "from_key", "key", "parse", "parse_query", "shown", "spelling_flags"]

# ---------------------------------------------------------------------------------------------------------------- rules
# Names of parameters are compared in lower case. A name that some site uses to tell pages apart (ref, source, id, sid,
# key, s, session) is in none of these tables.

LONGEST = 4096  # characters; longer "addresses" are data, and browsers and servers cut them too

TRACKING_PREFIXES = (  # campaign tags, reserved for their product by its documentation
    "utm_",  # Google Analytics
    "hsa_",  # HubSpot advertising
    "mtm_",  # Matomo
    "itm_",  # internal campaigns, the same convention as utm_
)
TRACKING = frozenset(
    # click identifiers that advertising systems append: one click, not one page
    "gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid fbclid msclkid yclid ysclid twclid ttclid "
    "li_fat_id igshid igsh epik rdt_cid irclickid irgwc sccid wickedid obclid tblci ndclid qclid admitad_uid awc "
    # newsletters: one recipient or one mailing
    "mc_cid mc_eid mkt_tok vero_id vero_conv oly_enc_id oly_anon_id ml_subscriber ml_subscriber_hash ck_subscriber_id "
    "sc_src sc_lid sc_uid sc_llid sc_eid dm_i ss_email_id bsft_eid bsft_clkid bsft_uid bsft_mid bsft_aaid "
    # visitor identifiers that analytics pass between hosts
    "_ga _gl _hsenc _hsmi __hssc __hstc __hsfp hsctatracking _openstat _branch_match_id _branch_referrer _bta_tid "
    "_bta_c _ke _kx _hsq __s fb_action_ids fb_action_types fb_source s_cid s_kwcid ef_id wt_mc wt_zmc "
    # Matomo under its former names, AT Internet
    "pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content pk_cid piwik_campaign piwik_kwd piwik_keyword "
    "xtor".split()
)
SESSION_PREFIXES = ("aspsessionid",)  # ASP appends eight random letters to the name
SESSION = frozenset(  # one visit, not one page
    "phpsessid jsessionid asp.net_sessionid oscsid xtcsid zenid bv_sessionid bv_engineid jservsessionidroot".split()
)
SECRET_PREFIXES = ("x-amz-", "x-goog-")  # signed links to stored objects: the object is the page
SECRET = frozenset(  # whoever has them can act for somebody, and they do not name a page
    "access_token auth_token oauth_token oauth_token_secret oauth_verifier id_token refresh_token bearer_token "
    "session_token security_token csrf_token csrfmiddlewaretoken authenticity_token api_key apikey api-key "
    "x-api-key client_secret app_secret password passwd pwd awsaccesskeyid googleaccessid key-pair-id".split()
)
WITH = {  # a name that, when present, makes these names its companions, to be dropped too; alone they could mean anything
    "cftoken": frozenset({"cftoken", "cfid"}),  # ColdFusion sessions
    "awsaccesskeyid": frozenset({"signature", "expires"}),  # Amazon S3, old signatures
    "googleaccessid": frozenset({"signature", "expires"}),  # Google Cloud Storage, old signatures
    "key-pair-id": frozenset({"signature", "expires", "policy"}),  # Amazon CloudFront
    "sig": frozenset({"sv", "se", "sr", "sp", "st", "spr", "skoid", "sktid", "skt", "ske", "sks", "skv"}),  # Azure
}
IF_RANDOM = frozenset(  # dropped only where the value is long and random: `sessionid=12` may be a conference's talk
    "sessionid session_id sess_id token auth secret sig signature".split()
)
RANDOM = re.compile(r"(?!0x)(?=[^0-9]*[0-9])[A-Za-z0-9%_.~-]{20,}")  # 0x… is an account of a block chain: a page

SESSION_IN_PATH = re.compile(  # ;jsessionid=… (Java servlets), /(S(…))/ (ASP.NET without cookies)
    r";(?:jsessionid|phpsessid)=[^;/]*|/\((?:[AFX]\([^()/]*\))*S\([a-z0-9]{24}\)(?:[AFX]\([^()/]*\))*\)(?=/)",
    re.IGNORECASE,
)

INDEX_NAMES = frozenset(  # what servers send for the directory, by the defaults of Apache, nginx, IIS and Tomcat
    "index.html index.htm index.shtml index.xhtml index.php index.jsp".split()
)
INDEX_NAMES_ANY_CASE = frozenset(  # IIS, whose files have no case
    "index.asp index.aspx default.htm default.html default.asp default.aspx".split()
)

PORTS = frozenset({"80", "443"})  # the scheme does not tell pages apart, so neither scheme's own port does

CASELESS: dict[str, tuple[int, frozenset[str]]] = {
    # Hosts where case does not count in the first n parts of a path, by the host's own rule for user and project names;
    # where a set is given, only if the first part is in it.
    "github.com": (2, frozenset()),
    "gist.github.com": (1, frozenset()),
    "gitlab.com": (2, frozenset()),
    "bitbucket.org": (2, frozenset()),
    "codeberg.org": (2, frozenset()),
    "twitter.com": (1, frozenset()),
    "mobile.twitter.com": (1, frozenset()),
    "x.com": (1, frozenset()),
    "instagram.com": (1, frozenset()),
    "facebook.com": (1, frozenset()),
    "twitch.tv": (1, frozenset()),
    "reddit.com": (2, frozenset({"r", "u", "user"})),
    "old.reddit.com": (2, frozenset({"r", "u", "user"})),
    "linkedin.com": (2, frozenset({"in"})),
    "youtube.com": (2, frozenset({"c", "user"})),
    "pypi.org": (2, frozenset({"project"})),
    "crates.io": (2, frozenset({"crates"})),
}

# Percent-encoding: `%7E` and `~` are the same by RFC 3986, `%28` and `(` by RFC 2396 and by what every browser's
# encodeURIComponent writes; of `'` and `%27` browsers write both. Brackets, bars and the like are in no standard's address
# and are encoded. Everything else that is reserved keeps its spelling.
DECODED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!()*")
ENCODED = "\"'<>[]\\^`{|} "
# ----------------------------------------------------------------------------------------------------------- end of rules


class Address(NamedTuple):
    """One page: `canonical` says which, `shown` is the spelling that was met, without what is private in it."""

    canonical: str
    shown: str


def parse(address: str) -> Address:
    """The page that an absolute address names. Raises BadAddress for what is no web page."""
    if len(address) > LONGEST:
        raise BadAddress(f"an address of {len(address):,} characters: give one of at most {LONGEST:,}")
    if address.startswith("name:"):
        return _parse_name(address)
    if address.startswith("host:"):
        return _parse_bare(address[5:])
    return _parse_web(address)


def canonical(address: str) -> str:
    """The canonical spelling of an absolute address."""
    return parse(address).canonical


def parse_query(text: str) -> Address:
    """What a person types: `nytimes.com`, `www.nytimes.com/x`, a whole address, or an opaque name as it is shown."""
    text = text.strip()
    if not text:
        raise BadAddress("no address given: name a page, such as nytimes.com")
    if _SCHEME.match(text) or text.startswith("//"):
        return parse(text)
    host = _HOST_PART.match(text)
    if host and ("." in host[0] or host[0].startswith(("localhost", "["))):
        try:
            return parse("https://" + text)
        except BadAddress:
            if "/" in text or len(text) > LONGEST:
                raise
    return parse("name:" + text)


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:[/?#]|$))")
_HOST_PART = re.compile(r"[^/?#\\]+")
_UNPRINTABLE = re.compile("[\x00\ud800-\udfff]")


def _parse_name(address: str) -> Address:
    name = address[5:]
    if not name:
        raise BadAddress("an empty name: give every page one")
    if _UNPRINTABLE.search(name):
        raise BadAddress("a name with a NUL or half a character in it: give it in plain UTF-8")
    return Address(address, name)


def _parse_bare(text: str) -> Address:
    page = _parse_web("https://" + text)
    shown = page.shown.removeprefix("https://")
    if shown.endswith("/") and "/" not in text.split("?")[0]:
        shown = shown[:-1]
    return Address(page.canonical, shown)


def _parse_web(address: str) -> Address:
    if address.startswith("//"):
        address = "https:" + address
    try:
        url = can_ada.parse(address)
    except (ValueError, TypeError):
        raise BadAddress(_why_unreadable(address)) from None
    scheme = url.protocol
    if scheme not in ("https:", "http:"):
        raise BadAddress(f"{_short(scheme)} is no web page: only http and https addresses are")
    host, given_host = _host(url.hostname, address)
    port = url.port
    given_port = f":{port}" if port else ""
    if port in PORTS:
        port = ""
    elif port and host == "name":
        raise BadAddress("a host called 'name' with a port: give its full name, as in name.example.org")
    path, given_path = _path(url.pathname, host)
    query, given_query = _query(url.search)
    fragment = _fragment(url.hash)
    if not query and not fragment:
        path = _without_index(path)
    else:
        path = path.rstrip("/")
    port = f":{port}" if port else ""
    return Address(
        f"{host}{port}{path}{query}{fragment}", f"{scheme}//{given_host}{given_port}{given_path}{given_query}{fragment}"
    )


def _why_unreadable(address: str) -> str:
    if not _SCHEME.match(address.strip()):
        return f"{_short(address)!r} is no absolute address: begin it with https://"
    return f"{_short(address)!r} is no address a browser could open: check the host and the port"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


_LABELS = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_IP4 = re.compile(r"\d+\.\d+\.\d+\.\d+")


def _host(hostname: str, address: str) -> tuple[str, str]:
    """The canonical host and the host as given."""
    if _IP4.fullmatch(hostname) and hostname not in address:
        raise BadAddress(f"{_short(address)!r} has a number for a host: name the host or write out its IP address")
    return _checked_host(hostname)


@lru_cache(maxsize=1 << 14)
def _checked_host(hostname: str) -> tuple[str, str]:
    given = hostname.removesuffix(".")
    if given.startswith("["):
        return given, given
    if len(given) > 253 or not _LABELS.fullmatch(given):
        raise BadAddress(f"{_short(hostname)!r} is no host name: check its spelling")
    host = given
    while host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    return host, given


_ODD_IN_PATH = re.compile(r"[^A-Za-z0-9_.~!$&()*+,:;=@/-]")
_ODD_IN_QUERY = re.compile(r"[^A-Za-z0-9_.~!$&()*+,:;=@/?-]")


def _path(path: str, host: str) -> tuple[str, str]:
    """The canonical path, index and trailing slash still on it, and the path as given but for session identifiers."""
    if ";" in path or "S(" in path or "s(" in path:
        path = SESSION_IN_PATH.sub("", path) or "/"
    given = path
    if _ODD_IN_PATH.search(path):
        path = _escapes(path)
    if host in CASELESS:
        path = _lower_names(path, *CASELESS[host])
    return path, given


def _lower_names(path: str, count: int, only: frozenset[str]) -> str:
    parts = path.split("/", count + 1)
    if only and parts[1] not in only:
        return path
    for i in range(1, min(count + 1, len(parts))):
        parts[i] = _ESCAPE.sub(lambda escape: escape[0].upper(), parts[i].lower())
    return "/".join(parts)


def _without_index(path: str) -> str:
    while True:
        path = path.rstrip("/")
        before, _, last = path.rpartition("/")
        if last not in INDEX_NAMES and last.lower() not in INDEX_NAMES_ANY_CASE:
            return path
        path = before


def _query(search: str) -> tuple[str, str]:
    """The canonical query and the query as given but for what is dropped; both with their `?`, or empty."""
    if len(search) < 2:
        return "", ""
    given = _without_dropped(search[1:])
    if not given:
        return "", ""
    query = _escapes(given) if _ODD_IN_QUERY.search(given) else given
    return "?" + query, "?" + given


def _fragment(fragment: str) -> str:
    """A fragment that names a page: `#!…`, by the published convention of pages made by scripts."""
    if not fragment.startswith("#!") or len(fragment) == 2:
        return ""
    place, mark, query = fragment.partition("?")
    if mark:
        query = _without_dropped(query)
    return _escapes(place + ("?" + query if query else ""))


PREFIXES = TRACKING_PREFIXES + SESSION_PREFIXES + SECRET_PREFIXES
NAMES = TRACKING | SESSION | SECRET


def _without_dropped(query: str) -> str:
    """A query without parameters that name no page; the order of the others is kept."""
    parts = query.split("&")
    names = [_name(part) for part in parts]
    companions: set[str] = set()
    for name in names:
        if name in WITH:
            companions |= WITH[name]
    return "&".join(
        part for part, name in zip(parts, names, strict=True) if part and name not in companions and not _drop(name, part)
    )


def _name(part: str) -> str:
    name = part.partition("=")[0]
    if "%" in name:
        name = _escapes(name)
    return name.lower().removeprefix("amp;")  # `&amp;` left over from HTML


def _drop(name: str, part: str) -> bool:
    if name in NAMES or name.startswith(PREFIXES):
        return True
    return name in IF_RANDOM and RANDOM.fullmatch(part.partition("=")[2]) is not None


_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPES = re.compile(r"(%[0-9A-Fa-f]?)?((?:%[0-9A-Fa-f]{2})+)")
_UNSAFE = re.compile("[" + re.escape(ENCODED) + "\x00-\x1f\x7f-\U0010ffff]")


def _escapes(text: str) -> str:
    """One spelling of percent-encoding; what is broken is left as it is, nothing is decoded twice."""

    def one(escape: re.Match[str]) -> str:
        character = chr(int(escape[0][1:], 16))
        return character if character in DECODED else escape[0].upper()

    def run(found: re.Match[str]) -> str:
        if found[1]:  # decoding after a broken escape could complete it: `%%34%31` must not become `%41`
            return found[1] + found[2].upper()
        return _ESCAPE.sub(one, found[2])

    text = _ESCAPES.sub(run, text)
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text)
