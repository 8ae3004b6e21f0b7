"""The rules of `address.py`: which spellings are one page.

A rule must never merge two different pages. Names of parameters are compared in lower case. Names that some
site needs to distinguish pages (ref, source, id, sid, key) are in no table.
"""

import re


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


MAX_ADDRESS = 4096  # characters; longer ones are data, and browsers and servers truncate them

# Scheme, `www.`, trailing slashes, a final dot of the host and the fragment don't distinguish pages, nor do these
# ports, each the default of one scheme. Fragments that begin with `#!` do, by the convention for pages made by scripts.
PORTS = frozenset({"80", "443"})

# Other schemes in links, counted one by one.
OTHER_SCHEMES = _words(
    "mailto javascript tel sms ftp ftps data file about blob irc news magnet dns whatsapp skype android-app"
)

# Parameters that are dropped.
TRACKING_PREFIXES = (  # campaign tags, each reserved by its product
    "utm_",  # Google Analytics, and many others
    "hsa_",  # HubSpot advertising
    "mtm_",  # Matomo
    "itm_",  # campaigns within a site, named after utm_
    *("pd_rd_", "pf_rd_"),  # Amazon: from which recommendation
)
TRACKING = _words(
    # identifiers of a click, appended by advertising systems
    "gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid fbclid msclkid yclid ymclid ysclid twclid",
    "ttclid li_fat_id igshid igsh epik rdt_cid irclickid irgwc sccid wickedid dicbo tblci ndclid qclid zanpid",
    "admitad_uid rb_clickid ef_id s_kwcid s_cid _trkparms _trksid __twitter_impression",
    # one recipient or one mailing of a newsletter
    "mc_cid mc_eid mkt_tok vero_id vero_conv oly_enc_id oly_anon_id ml_subscriber ml_subscriber_hash ck_subscriber_id",
    "sc_src sc_lid sc_uid sc_llid sc_eid dm_i ss_email_id elqtrackid elqtrack _bta_tid _bta_c _ke _kx __s",
    "bsft_eid bsft_clkid bsft_uid bsft_mid bsft_aaid",
    # identifiers of a visitor, passed between hosts by analytics
    "_ga _gl _hsenc _hsmi __hssc __hstc __hsfp hsctatracking _openstat _branch_match_id _branch_referrer",
    "fb_action_ids fb_action_types fb_source guccounter guce_referrer guce_referrer_sig wt_mc wt_zmc xtor",
    # Matomo under its former names
    "pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content pk_cid piwik_campaign piwik_kwd piwik_keyword",
)
SESSION_PREFIXES = ("aspsessionid",)  # ASP appends eight random letters to the name
SESSION = _words(  # identifiers of a visit
    "phpsessid jsessionid asp.net_sessionid oscsid xtcsid zenid bv_sessionid bv_engineid jservsessionidroot"
)
SECRET_PREFIXES = ("x-amz-", "x-goog-")  # signed links to stored objects: the object is the page
SECRET = _words(  # access rights of a person
    "access_token auth_token oauth_token oauth_token_secret oauth_verifier id_token refresh_token bearer_token",
    "session_token security_token csrf_token csrfmiddlewaretoken authenticity_token api_key apikey api-key",
    "x-api-key client_secret app_secret password passwd pwd awsaccesskeyid googleaccessid key-pair-id",
)
DROPPED_TOGETHER = {  # names that mean this only together; they are dropped with the names on the right
    frozenset({"cftoken", "cfid"}): frozenset(),  # ColdFusion sessions
    frozenset({"awsaccesskeyid", "signature"}): frozenset({"expires"}),  # Amazon S3, older signatures
    frozenset({"googleaccessid", "signature"}): frozenset({"expires"}),  # Google Cloud Storage, older signatures
    frozenset({"key-pair-id", "signature"}): frozenset({"expires", "policy"}),  # Amazon CloudFront
    frozenset({"sig", "sv", "se"}): _words("sr sp st spr sip skoid sktid skt ske sks skv"),  # Azure
}
# token, sig and signature stay: pages of shares and coins are named by them. Certain secrets are in SECRET.
IF_RANDOM = _words("sessionid session_id sess_id")  # dropped if long and random: `sessionid=12` may be a talk
RANDOM = re.compile(r"(?!0x)(?=[^0-9]*[0-9])[A-Za-z0-9%_.~-]{20,}")  # 0x… is a page: a blockchain account
# Empty parameters (`a=1&&b=2&`) are dropped too: parsers of queries ignore them.

DROPPED_NAMES = TRACKING | SESSION | SECRET
PREFIXES = TRACKING_PREFIXES + SESSION_PREFIXES + SECRET_PREFIXES
SUSPECT = DROPPED_NAMES | IF_RANDOM | frozenset().union(*DROPPED_TOGETHER)  # names that need a closer look

SESSION_IN_PATH = re.compile(  # ;jsessionid=… (Java servlets), /(S(…))/ (ASP.NET without cookies)
    r";(?:jsessionid|phpsessid)=[^;/]*|/\((?:[AFX]\([^()/]*\))*S\([a-z0-9]{24}\)(?:[AFX]\([^()/]*\))*\)(?=/)",
    re.IGNORECASE,
)
# Files that servers send for a directory, by default in Apache, nginx and Tomcat, and in IIS, where case is ignored.
# They are dropped at the end of a path, unless a query follows.
INDEX_NAMES = _words("index.html index.htm index.shtml index.xhtml index.php index.jsp")
INDEX_NAMES_ANY_CASE = _words("index.asp index.aspx default.htm default.html default.asp default.aspx")

# Hosts where case doesn't matter in the first n parts of a path, by their own rules for names of users and projects. If
# there is a set, only if the first part is in it.
CASELESS: dict[str, tuple[int, frozenset[str]]] = {
    **dict.fromkeys(_words("github.com gitlab.com bitbucket.org codeberg.org"), (2, frozenset())),
    **dict.fromkeys(_words("gist.github.com twitter.com mobile.twitter.com x.com"), (1, frozenset())),
    **dict.fromkeys(_words("instagram.com facebook.com twitch.tv"), (1, frozenset())),
    **dict.fromkeys(_words("reddit.com old.reddit.com"), (2, _words("r u user"))),
    "linkedin.com": (2, frozenset({"in"})),
    "youtube.com": (2, frozenset({"c", "user"})),
    "pypi.org": (2, frozenset({"project"})),
    "crates.io": (2, frozenset({"crates"})),
}

# Percent-encoding. `%7E` and `~` are the same by RFC 3986, `%28` and `(` by RFC 2396 and encodeURIComponent. Browsers
# write both `'` and `%27`. Brackets, bars and the like are not allowed in addresses, so they are encoded. Others
# keep their spelling, and so do broken escapes (`%zz`).
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!()*")
ENCODED = "\"'<>[]\\^`{|} "
