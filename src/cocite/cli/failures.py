"""How the command line fails: one line on standard error that says what to do, and an exit code.

0 answered · 1 the page is known, but there is nothing to show · 2 wrong use or bad input · 3 unknown page or word ·
70 a bug in cocite · 130 interrupted · 141 the reader of a pipe went away
"""

import os
import re
import signal
import sys
import threading
import traceback
from difflib import get_close_matches
from typing import Any

import click
from click.exceptions import Abort, Exit, UsageError

from cocite.errors import CociteError, UnknownPage, UnknownWord, os_message
from cocite.text import clean

NOTHING, WRONG, UNKNOWN, BUG, INTERRUPTED, PIPE = 1, 2, 3, 70, 130, 141


def complain(message: str) -> None:
    """Print a message on standard error, on one line."""
    line = clean(message)
    if sys.stderr.isatty() and "NO_COLOR" not in os.environ:
        sys.stderr.write(f"\x1b[1;31mcocite:\x1b[0m {line}\n")
    else:
        sys.stderr.write(f"cocite: {line}\n")


def explain(error: BaseException) -> int:
    """Report an error; returns the exit code."""
    if os.environ.get("COCITE_DEBUG", "") not in ("", "0") and not isinstance(error, BrokenPipeError):
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        complain(str(error) or "Interrupted; nothing was changed")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        discard_output()
        return PIPE
    if isinstance(error, CociteError):
        complain(str(error))
        return UNKNOWN if isinstance(error, UnknownPage | UnknownWord) else WRONG
    if system := os_error(error):
        complain(os_message(system))
        return WRONG
    if isinstance(error, MemoryError):
        complain("Out of memory: give a smaller --memory, or close other programs; nothing was changed")
        return WRONG
    name = type(error).__name__
    complain(f"A bug in cocite ({name}: {error}): please report it, with the output of COCITE_DEBUG=1")
    return BUG


def stop_kernels_at_interrupts() -> None:
    """Let Ctrl-C end a kernel, after which Python raises KeyboardInterrupt.

    Python runs its signal handlers between two of its own instructions, so not before a kernel returns. But the system
    writes the signal's number into a pipe at once. A thread reads it and cancels the work of all kernels, unless the
    command handles Ctrl-C itself.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def watch() -> None:
        while number := os.read(reader, 1):
            handled = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
            if number[0] == signal.SIGINT and not handled and (budget := sys.modules.get("cocite.budget")):
                budget.cancel(budget.NO_LIMIT)

    threading.Thread(target=watch, daemon=True).start()


_RUST_ERROR = re.compile(r"\(os error (\d+)\)(?: at path \"([^\"]+)\")?")


def os_error(error: BaseException) -> OSError | None:
    """The error of the operating system, if it is one. Libraries in Rust, such as tantivy, raise it as a ValueError."""
    if isinstance(error, OSError):
        return error
    found = _RUST_ERROR.search(str(error)) if isinstance(error, ValueError) else None
    return found and OSError(int(found[1]), os.strerror(int(found[1])), found[2])


def discard_output() -> None:
    """Discard what is still buffered for standard output, after its reader went away."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # a test's stand-in for standard output has no number
        pass


class Commands(click.Group):
    """The commands, failing as described above."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command and exit with its code."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a terminal that cannot show a character still shows the rest
        try:
            extra["standalone_mode"] = False
            code = super().main(*args, **extra)
            sys.stdout.flush()
        except UsageError as error:
            command = error.ctx.command_path if error.ctx is not None else "cocite"
            complain(f"{error.format_message().rstrip('.')} (see {command} --help)")
            code = WRONG
        except BrokenPipeError as error:
            code = explain(error)
        except Abort:
            code = INTERRUPTED
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; errors become one line and an exit code."""
        try:
            return super().invoke(ctx)
        except (UsageError, Exit, Abort):
            raise
        except (KeyboardInterrupt, Exception) as error:
            raise Exit(explain(error)) from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """A command by its name. An address in its place is a question."""
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            if close := get_close_matches(args[0], self.list_commands(ctx), 1):
                hint = f"{ctx.command_path} {close[0]}"
            elif "." in args[0].strip("."):
                hint = f"cocite related {args[0]}"
            else:
                raise
            raise UsageError(f"No such command {args[0]!r:.100}; did you mean {hint}?", error.ctx) from error
