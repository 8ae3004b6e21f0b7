"""deploy/: what can be checked of it without a container or a service manager; and completion of the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.graph.webs import make
from tests.http.conftest import PAGES
from tests.http.test_run import serving

DEPLOY = ROOT / "deploy"
COCITE = [sys.executable, "-c", "from cocite.cli import main; main()"]


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile, an instruction a line."""
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines if line.strip()]


def test_the_image_runs_without_root() -> None:
    found = instructions()
    last = found[[name for name, _ in found].index("FROM", 1) :]
    names = [name for name, _ in last]
    assert dict(last)["USER"] == "10001:10001"
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert not any("curl" in text or "apt-get" in text for _, text in found)
    (copied,) = [text for name, text in found if name == "COPY" and text.startswith("pyproject")]
    assert all((ROOT / each).exists() for each in copied.split()[:-1])
    started = json.loads(dict(last)["ENTRYPOINT"]) + json.loads(dict(last)["CMD"])
    assert started == ["cocite", "serve", "--host", "0.0.0.0", "--port", "8000"]


def test_the_image_contains_only_what_it_needs() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    copied = {
        each for name, text in instructions() if name == "COPY" and "--from" not in text for each in text.split()[:-1]
    }
    assert kept == copied and "*" in ignored


def test_the_health_check_reports_the_state(place: Path) -> None:
    """The very command of the image, at another port."""
    (text,) = [text for name, text in instructions() if name == "HEALTHCHECK"]
    command = json.loads(text[text.index("CMD") + 3 :])
    assert command[0] == "python"
    make(place / "web.cocite", PAGES)
    with serving(place / "web.cocite", place) as (server, _):
        port = server.address.rpartition(":")[2]
        checking = [sys.executable, *(each.replace(":8000/", f":{port}/") for each in command[1:])]
        assert subprocess.run(checking, timeout=60).returncode == 0
    assert subprocess.run(checking, timeout=60, stderr=subprocess.DEVNULL).returncode == 1


def test_the_unit_is_right(place: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze to ask")
    unit = (DEPLOY / "cocite.service").read_text("utf-8")
    assert "ExecStart=/opt/cocite/bin/cocite serve" in unit
    (place / "cocite.service").write_text(unit.replace("/opt/cocite/bin/cocite", "/bin/true"), "utf-8")
    command = ["systemd-analyze", "verify", str(place / "cocite.service")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.strip()) == (0, "")
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(place / "cocite.service")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-300:]  # from 0, closed, to 100


def test_commands_that_are_run_there_exist() -> None:
    """Every `cocite serve` option of unit, image and documents is one that it has."""
    said = "\n".join(
        file.read_text("utf-8") for file in (*DEPLOY.iterdir(), ROOT / "docs" / "deploy.md") if file.is_file()
    )
    known = subprocess.run([*COCITE, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    options = {option for line in re.findall(r"cocite serve (.*)", said) for option in re.findall(r"--[a-z-]+", line)}
    assert options >= {"--host", "--port", "--quiet"} and all(option in known for option in options)


@pytest.mark.parametrize(("program", "file"), [("caddy", "Caddyfile"), ("nginx", "nginx.conf")])
def test_the_proxy_is_set_up_right(place: Path, program: str, file: str) -> None:
    where = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")
    if where is None:
        pytest.skip(f"no {program} to ask")
    text = (DEPLOY / file).read_text("utf-8")
    if program == "caddy":
        (place / file).write_text(text, "utf-8")
        command = [where, "adapt", "--config", str(place / file), "--adapter", "caddyfile"]
    else:
        key = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "1"]
        subprocess.run([*key, "-keyout", place / "key", "-out", place / "own"], check=True, capture_output=True)
        own = re.sub(
            r"/etc/letsencrypt\S+/(fullchain|privkey)\.pem",
            lambda m: str(place / ("own" if m[1] == "fullchain" else "key")),
            text,
        )
        (place / "cocite.conf").write_text(re.sub(r"listen (\d+)", rf"listen unix:{place}/\1", own), "utf-8")
        whole = f"pid {place}/pid; error_log stderr; events {{}} http {{ include {place}/cocite.conf; }}"
        (place / "nginx.conf").write_text(whole, "utf-8")
        command = [where, "-t", "-q", "-c", str(place / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "HOME": str(place)})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "offered"), [("cocite rel", {"related"}), ("cocite serve --wo", {"--workers"}), ("cocite nothing", set())]
)
def test_tab_completes(words: str, offered: set[str]) -> None:
    asked = {"_COCITE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    program = [sys.executable, "-c", "import sys; sys.argv[0] = 'cocite'; from cocite.cli import main; main()"]
    done = subprocess.run(program, capture_output=True, text=True, env={**os.environ, **asked}, timeout=60)
    assert {line.partition(",")[2] for line in done.stdout.split()} == offered
