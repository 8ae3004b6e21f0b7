"""The tokens in the links of raters: a server of a study knows from them who rates."""

import json
import re
import secrets
from pathlib import Path

from cocite.errors import BadStore
from cocite.evaluate.study import Study, read
from cocite.system import lock_file, replacing

TOKEN_BYTES, TOKEN = 32, re.compile(r"[A-Za-z0-9_-]{16,}")


def read_tokens(folder: Path, study: Study) -> dict[str, str]:
    """The token of each rater, from tokens.json in the study's folder; made for raters who have none yet."""
    path = folder / "tokens.json"
    with (folder / ".rating").open("w") as lock:  # several workers start at once
        lock_file(lock)
        try:
            known = json.loads(path.read_text("utf-8")) if path.exists() else {}
            fresh = {name: secrets.token_urlsafe(TOKEN_BYTES) for name in study.raters or [""] if name not in known}
            found: dict[str, str] = {**known, **fresh}
            if not all(map(TOKEN.fullmatch, found.values())) or len({*found.values()}) < len(found):
                raise ValueError("a token is too short, or two are the same")
        except (OSError, ValueError, TypeError) as error:
            raise BadStore(f"{path} can't be read: delete it, then raters get new links") from error
        if fresh:
            with replacing(path) as temporary:
                temporary.touch(0o600, exist_ok=False)
                temporary.write_text(json.dumps(found, indent=1), "utf-8")
    return {name: found[name] for name in study.raters or [""]}


def rater_links(folder: Path, address: str) -> dict[str, str]:
    """The link of each rater, at the address of a server."""
    tokens = read_tokens(folder, read(folder))
    return {name: f"{address}/study?token={token}" for name, token in tokens.items()}
