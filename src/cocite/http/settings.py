"""Settings of a server, and limits on requests."""

from dataclasses import dataclass, field
from pathlib import Path

from cocite.system import usable_cores

MAX_BODY_BYTES = 1 << 20
"""Of a page record."""
MAX_READ_AT_ONCE_BYTES = 1 << 11
"""Longer requests are read with slow questions."""
LOCAL_PROXIES = ("127.0.0.1", "::1")


@dataclass(frozen=True)
class Settings:
    """Settings of one server."""

    store: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    threads: int = 0  # that answer questions, in each worker; 0: one per core, and at least two
    queue: int = 0  # maximum of waiting questions, in each worker; 0: 32 per thread
    timeout: float = 10.0  # seconds to answer a question
    cache: int = 256 << 20  # bytes, in each worker
    adapt: bool = True  # limits follow the load
    watch: float = 2.0  # seconds between checks whether the store has changed
    cors: tuple[str, ...] = ()  # origins whose pages may ask
    names: tuple[str, ...] = ()  # host names of this server, beside loopback names and addresses
    proxies: tuple[str, ...] = LOCAL_PROXIES  # whose X-Forwarded-For is believed
    rate: float = 0.0  # requests per second of one client, in each worker; 0: any number
    read_keys: Path | None = None  # the file with the keys of those who may ask; None: anybody may
    write_key: str = field(default="", repr=False)  # of those who may write; empty: nobody may
    record_clicks: bool = False  # clicks on results are counted into the store
    metrics_port: int = 0  # 0: /metrics is at the same port as all else
    quiet: bool = False  # log failed requests only
    study: Path | None = None  # the folder of a rating study

    @property
    def max_threads(self) -> int:
        """Threads that answer questions."""
        return self.threads or max(2, usable_cores() // max(1, self.workers))

    @property
    def max_waiting(self) -> int:
        """Maximum of waiting questions."""
        return self.queue or 32 * self.max_threads
