"""The processes of a server: one with threads or, with more workers, one that starts and supervises them.

SIGTERM and SIGINT end it after the running requests are answered. SIGHUP checks at once whether the store has changed.
"""

import asyncio
import faulthandler
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from cocite.errors import BadParameter
from cocite.http.app import make_app
from cocite.http.front import Front
from cocite.http.metrics import Metrics, SharedCounters
from cocite.http.service import Service
from cocite.http.settings import Settings
from cocite.kernels.interpreted import SMALL_ITEMS
from cocite.log import Log
from cocite.serving.connections import IDLE_SECONDS, Connections, Door, allowed_connections
from cocite.serving.mapped import survive_lost_files
from cocite.serving.threads import compiling, run_in_thread
from cocite.system import limit_free_memory, release_free_memory

BACKLOG = 2048
"""Connections that may wait to be accepted."""
SHUTDOWN_SECONDS = 5.0
"""Time for a shutdown, beyond the timeout of questions."""
THREAD_SWITCH_SECONDS = 0.0002
"""How long a thread may hold the interpreter: with Python's 5 ms, an answer from the cache would wait that long."""
LOG_FLUSH_SECONDS = 0.25
WARM_UP_SECONDS = 0.5
"""Time for loading kernels before a small store is served. If they have to be compiled, it is served meanwhile."""
RELEASE_MEMORY_SECONDS = 20.0
"""Memory that questions have freed goes back to the system this often: it takes 10 ms of a thread for 500 MB."""
RELOAD = getattr(signal, "SIGHUP", None)
"""Windows hasn't it; the server looks for a new store every few seconds anyway."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, *((RELOAD,) if RELOAD else ()))
MAX_CRASHES, CRASH_SECONDS = 5, 30.0
"""The server gives up when this many workers die within this time."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; raises BadParameter if it can't be opened."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise BadParameter(f"Can't listen at {host} port {port} ({why}); give another --host or --port") from error
    listening.listen(BACKLOG)
    listening.setblocking(False)
    return listening


def address_of(listening: socket.socket) -> str:
    """The address to type into a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class Server(uvicorn.Server):
    """One worker."""

    def __init__(self, settings: Settings, shared: SharedCounters, worker: int = 0) -> None:
        self.settings = settings
        self.log = Log(worker=worker if settings.workers > 1 else 0)
        self.metrics = Metrics(shared, worker - 1 if worker else 0)
        proxies = list(settings.proxies)
        trusted = ProxyHeadersMiddleware(self._front, proxies).trusted_hosts  # type: ignore[arg-type]
        self._connections = Connections(self.log, settings.timeout, trusted, allowed_connections())
        protocol: Any = partial(Door, self._connections)
        shutdown_seconds = int(settings.timeout + SHUTDOWN_SECONDS)
        super().__init__(
            uvicorn.Config(
                self._front, factory=True, lifespan="on", http=protocol, ws="none",
                log_config=None, log_level="critical", access_log=False,
                proxy_headers=True, forwarded_allow_ips=proxies, server_header=False, date_header=True,
                timeout_keep_alive=int(IDLE_SECONDS), timeout_graceful_shutdown=shutdown_seconds,
            )
        )  # fmt: skip
        self.service: Service | None = None

    def _front(self) -> Front:
        """The application, which uvicorn makes inside its event loop."""
        service = self.service = Service(self.settings, self.metrics, self.log)
        app = make_app(service)
        app.router.lifespan_context = self._lifespan
        front = Front(app, service)
        self._connections.refuse_unread = front.refuse_unread
        return front

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
        service = self.service
        assert service is not None
        if service.writes is not None and service.settings.write_key:
            service.writes.start()
        service.start_slow_process()
        warming = asyncio.create_task(self._warm_up(service))
        # A small store needn't wait until kernels are compiled for it.
        await asyncio.wait({warming}, timeout=WARM_UP_SECONDS if service.web.graph.items <= SMALL_ITEMS else None)
        with suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(RELOAD or 0, service.watcher.check_now)
        self.metrics.set("workers", 1)
        graph, began = service.web.graph, time.monotonic()
        self.log.write("serving", store=str(graph.path), pages=len(graph), links=len(graph.links), pid=os.getpid())
        forever = self._housekeeping(service), self._watch_store(service), self._release_memory()
        tasks = [asyncio.create_task(each) for each in forever]
        yield
        for task in tasks:
            task.cancel()
        service.close()
        self.log.flush()
        self.log.write("stopped", seconds=round(time.monotonic() - began, 1))

    async def _warm_up(self, service: Service) -> None:
        """Ask the first questions, which load or compile kernels."""
        try:
            await run_in_thread(partial(service.warming(), service.web))
        except Exception as error:  # who asks first waits longer
            self.log.write("not warmed up", "warning", why=str(error) or type(error).__name__)

    async def _watch_store(self, service: Service) -> None:
        """Build what the store lacks, then watch it."""
        await service.watcher.prepare()
        verifying = service.watcher.start_verifying()
        try:
            await service.watcher.watch(self.settings.watch)
        finally:
            verifying.cancel()

    async def _housekeeping(self, service: Service) -> None:
        """Write the log, update the gauges, and spare the garbage collector."""
        while True:
            await asyncio.sleep(LOG_FLUSH_SECONDS)
            compiling.set_aside()
            self.log.flush()
            service.measure()

    async def _release_memory(self) -> None:
        """Give free memory back to the system now and then. Cached answers lie among what questions have freed."""
        while True:
            await asyncio.sleep(RELEASE_MEMORY_SECONDS)
            await run_in_thread(release_free_memory)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End when everything is answered. uvicorn would raise the signal again."""
        await super().shutdown(sockets)
        self._captured_signals.clear()

    def handle_exit(self, sig: int, frame: object) -> None:
        """Report on /healthz that this server is shutting down."""
        if self.service is not None:
            self.service.stopping = True
        super().handle_exit(sig, frame)  # type: ignore[arg-type]


def serve_alone(settings: Settings, listening: Sequence[socket.socket], shared: SharedCounters, worker: int = 0) -> int:
    """Serve in this process until a signal ends it; returns the exit code."""
    sys.setswitchinterval(THREAD_SWITCH_SECONDS)
    limit_free_memory()
    if RELOAD:
        signal.signal(RELOAD, signal.SIG_IGN)  # it would end the process before there is a store to check
    server = Server(settings, shared, worker)
    faulthandler.enable()
    survive_lost_files(server.log)
    try:
        server.run(sockets=list(listening))
    finally:
        server.log.flush()
    return 0 if server.started else 1


def serve(settings: Settings, listening: socket.socket) -> int:
    """Serve until a signal ends it; returns the exit code."""
    alone = settings.workers == 1
    if not alone and not hasattr(os, "fork"):
        raise BadParameter("This system can't start several workers: use --workers 1")
    shared = SharedCounters(settings.workers)
    sockets = [listening, *([listen(settings.host, settings.metrics_port)] if settings.metrics_port else [])]
    return serve_alone(settings, sockets, shared) if alone else Supervisor(settings, sockets, shared).run()


class Supervisor:
    """Starts workers, restarts those that die, and forwards signals."""

    def __init__(self, settings: Settings, listening: Sequence[socket.socket], shared: SharedCounters) -> None:
        self._settings, self._listening, self._shared = settings, listening, shared
        self._workers: dict[int, int] = {}  # process → number of the worker
        self._crashes: list[float] = []
        self._ending = False
        self._log = Log()

    def run(self) -> int:
        """Supervise the workers until all have ended."""
        for name in SIGNALS:
            signal.signal(name, self._forward)
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
                self._log.write("worker died", "error", worker=worker, status=os.waitstatus_to_exitcode(status))
                now = time.monotonic()
                self._crashes = [*(at for at in self._crashes if now - at < CRASH_SECONDS), now]
                if len(self._crashes) >= MAX_CRASHES:
                    self._log.write("giving up", "error", why="workers keep dying")
                    code = 1
                    self._forward(signal.SIGTERM, None)
                else:
                    self._start(worker)
        return code

    def _start(self, worker: int) -> None:
        """Start a worker, unless the server is ending. Signals are blocked meanwhile, or the worker could miss one."""
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            if self._ending:
                return
            process = os.fork()
            if process:
                self._workers[process] = worker
                return
            for name in SIGNALS:
                signal.signal(name, signal.SIG_IGN if name == RELOAD else signal.SIG_DFL)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        code = 1
        try:
            code = serve_alone(self._settings, self._listening, self._shared, worker)
        except BaseException as error:
            self._log.write("worker failed", "error", worker=worker, why=f"{type(error).__name__}: {error}")
        finally:
            os._exit(code)  # the parent's objects aren't this process's to clean up

    def _forward(self, name: int, _: object) -> None:
        if name != RELOAD:
            self._ending = True
        for process in list(self._workers):
            with suppress(ProcessLookupError):
                os.kill(process, name)
