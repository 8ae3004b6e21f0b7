"""A server as processes: one with threads or, if more workers are wanted, one that starts and minds them.

SIGTERM and SIGINT end it: nobody is let in any more, whoever is in gets an answer. SIGHUP has the store looked at now.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import uvicorn

from cocite.errors import BadParameter
from cocite.http.app import make_app
from cocite.http.front import Front
from cocite.http.gate import aside
from cocite.http.log import Log
from cocite.http.metrics import Metrics, Shared
from cocite.http.protocol import Limited
from cocite.http.service import Service
from cocite.http.settings import Settings

BACKLOG = 2048
"""Connections that may wait to be let in."""
GRACE = 5.0
"""Seconds beyond the time-out of questions after which a server stops whatever is left."""
SWITCHING = 0.001
"""Seconds for which a thread may hold the interpreter: with the usual 5 ms an answer from the cache waits that long."""
FLUSHED = 0.25
"""Seconds that a line of log may wait."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
CRASHES, CRASHING = 5, 30.0
"""So many workers that die within so many seconds are no accident."""


def listen(settings: Settings) -> socket.socket:
    """The socket of the server; raises BadParameter if it is not to be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        listening.close()
        why = getattr(error, "strerror", None) or str(error)
        raise BadParameter(
            f"cannot listen at {settings.host} port {settings.port} ({why.lower()}): give another --host or --port"
        ) from error
    listening.listen(BACKLOG)
    listening.setblocking(False)
    return listening


def address_of(listening: socket.socket) -> str:
    """What to type into a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class Server(uvicorn.Server):
    """One worker."""

    def __init__(self, settings: Settings, shared: Shared, worker: int = 0) -> None:
        self.settings = settings
        self.log = Log(worker=worker if settings.workers > 1 else 0)
        self.metrics = Metrics(shared, worker - 1 if worker else 0)
        super().__init__(
            uvicorn.Config(
                self._front,
                factory=True,
                lifespan="on",
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=True,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=int(settings.timeout + GRACE),
                http=Limited,
                ws="none",
            )
        )
        self.service: Service | None = None

    def _front(self) -> Front:
        """The application; uvicorn asks for it inside its event loop."""
        service = self.service = Service(self.settings, self.metrics, self.log)
        app = make_app(service)
        app.router.lifespan_context = self._lifespan
        return Front(app, service)

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
        service = self.service
        assert service is not None
        await aside(service.warm_up)
        with suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, service.holder.look)
        self.metrics.set("workers", 1)
        graph, began = service.web.graph, time.monotonic()
        self.log.say("serving", store=str(graph.path), pages=graph.pages, links=graph.links, pid=os.getpid())
        tasks = [asyncio.create_task(each) for each in (self._housekeeping(), self._minding())]
        yield
        for task in tasks:
            task.cancel()
        service.close()
        self.log.flush()
        self.log.say("stopped", seconds=round(time.monotonic() - began, 1))

    async def _minding(self) -> None:
        """Make ready what the store needs, then watch it."""
        assert self.service is not None
        holder = self.service.holder
        await holder.prepare()
        await holder.watch(self.settings.watch)

    async def _housekeeping(self) -> None:
        """Write the log, and note how things are."""
        assert self.service is not None
        while True:
            await asyncio.sleep(FLUSHED)
            self.log.flush()
            self.service.measure()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End when all is answered. That is all that the signal was for: uvicorn would raise it again."""
        await super().shutdown(sockets)
        self._captured_signals.clear()

    def handle_exit(self, sig: int, frame: object) -> None:
        """Somebody wants it to end: say so to those who ask whether it is well."""
        if self.service is not None:
            self.service.stopping = True
        super().handle_exit(sig, frame)  # type: ignore[arg-type]


def serve_alone(settings: Settings, listening: socket.socket, shared: Shared, worker: int = 0) -> int:
    """Serve in this process until a signal ends it; returns the exit code."""
    sys.setswitchinterval(SWITCHING)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is a store to look at: it would end the process
    server = Server(settings, shared, worker)
    try:
        server.run(sockets=[listening])
    finally:
        server.log.flush()
    return 0 if server.started else 1


def serve(settings: Settings, listening: socket.socket) -> int:
    """Serve until a signal ends it; returns the exit code."""
    shared = Shared(settings.workers)
    if settings.workers == 1:
        return serve_alone(settings, listening, shared)
    return Minder(settings, listening, shared).run()


class Minder:
    """Starts workers, starts another for one that dies, and hands signals on."""

    def __init__(self, settings: Settings, listening: socket.socket, shared: Shared) -> None:
        self._settings, self._listening, self._shared = settings, listening, shared
        self._workers: dict[int, int] = {}  # process → number of the worker
        self._crashes: list[float] = []
        self._ending = False
        self._log = Log()

    def run(self) -> int:
        """Mind the workers until all have ended."""
        for name in SIGNALS:
            signal.signal(name, self._hand_on)
        for worker in range(1, self._settings.workers + 1):
            self._start(worker)
        code = 0
        while self._workers:
            try:
                process, status = os.waitpid(-1, 0)
            except InterruptedError:
                continue
            except ChildProcessError:
                break
            worker = self._workers.pop(process, 0)
            if worker and not self._ending:
                self._log.say("worker died", "error", worker=worker, status=os.waitstatus_to_exitcode(status))
                now = time.monotonic()
                self._crashes = [*(at for at in self._crashes if now - at < CRASHING), now]
                if len(self._crashes) >= CRASHES:
                    self._log.say("giving up", "error", why="workers die again and again")
                    code = 1
                    self._hand_on(signal.SIGTERM, None)
                else:
                    self._start(worker)
        return code

    def _start(self, worker: int) -> None:
        """Start a worker, unless it is to end. Signals wait meanwhile: one that came in between would miss it."""
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            if self._ending:
                return
            process = os.fork()
            if process:
                self._workers[process] = worker
                return
            for name in SIGNALS:
                signal.signal(name, signal.SIG_IGN if name == signal.SIGHUP else signal.SIG_DFL)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        code = 1
        try:
            code = serve_alone(self._settings, self._listening, self._shared, worker)
        except BaseException as error:
            self._log.say("worker failed", "error", worker=worker, why=f"{type(error).__name__}: {error}")
        finally:
            os._exit(code)  # what the parent holds is not this process's to clean up

    def _hand_on(self, name: int, _: object) -> None:
        if name != signal.SIGHUP:
            self._ending = True
        for process in list(self._workers):
            with suppress(ProcessLookupError):
                os.kill(process, name)
