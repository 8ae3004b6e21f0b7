"""Files of settings: `cocite.toml` in the current folder, then the user's. Flags and the environment come before both.

index = "web.cocite"   # for every command that has the option

[related]              # for one command
method = "companion"
k = 20
"""

import logging
import os
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from cocite.errors import BadParameter

FILE = "cocite.toml"


def files() -> tuple[Path, Path]:
    """The files of settings, the stronger one last: the user's, and the folder's."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 - without a home, as it is
    return Path(home) / "cocite" / FILE, Path(FILE)


def settings_of(command: str, options: Sequence[str], parent: click.Context) -> dict[str, Any]:
    """The values that the files have for options of a command; raises BadParameter if one is unknown."""
    found, root = dict[str, Any](), parent.find_root().command
    for path in files():
        content = _read(path)
        group = [] if parent.parent is None else [parent.info_name or ""]
        own = content
        for word in (*group, command):
            own = own.get(word, {}) if isinstance(own, dict) else {}
        for name, value in content.items():
            key = name.replace("-", "_")
            if isinstance(value, dict):
                if isinstance(root, click.Group) and root.get_command(parent, name) is None:
                    raise BadParameter(f"{path}: unknown command {name!r:.100}; see cocite --help")
            elif key in options:
                found[key] = _plain(value)
            elif key not in {each.name for command in _commands(root, parent) for each in command.params}:
                raise BadParameter(f"{path}: unknown option {key!r:.100}; see cocite COMMAND --help")
        for name, value in own.items():
            if isinstance(value, dict):
                continue
            if name.replace("-", "_") not in options:
                of = " ".join((*group, command))
                raise BadParameter(f"{path}: {of} has no option {name!r:.100}; see cocite {of} --help")
            found[name.replace("-", "_")] = _plain(value)
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except (OSError, ValueError) as error:  # tomllib's errors are ValueErrors
        raise BadParameter(f"Can't read the settings of {path}: {error}") from error
    logging.getLogger("cocite.settings").info("Read the settings of %s", path)
    return content


def _plain(value: Any) -> Any:
    """A value as the command line has it."""
    if isinstance(value, list):
        return [str(each) for each in value]
    return value if isinstance(value, bool) else str(value)


def _commands(command: click.Command, ctx: click.Context) -> Iterable[click.Command]:
    def below(group: click.Group) -> Iterator[click.Command]:
        for name in group.list_commands(ctx):
            found = group.get_command(ctx, name)
            yield from _commands(found, ctx) if found else ()

    return below(command) if isinstance(command, click.Group) else [command]
