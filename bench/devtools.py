"""A browser without a test tool: what a page costs in the browser that people use.

Playwright adds its own scripts to every page, which took most of the time until the first paint. Here the debugging
protocol only opens a page in Chromium, and reads the results afterwards.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect


class Browser:
    """Chromium, by its debugging protocol."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self._socket, self._calls = socket, 0

    async def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Return the result of a command; ignore events that arrive meanwhile."""
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": params} | ({"sessionId": session} if session else {})
        await self._socket.write_message(json.dumps(message))
        while True:
            said = json.loads(await self._socket.read_message() or '{"id": -1}')
            if said.get("id") == self._calls:
                return dict(said["result"])
            if said.get("id") == -1:
                raise SystemExit("the browser has ended")

    @asynccontextmanager
    async def tab(self, width: int, height: int) -> AsyncIterator[str]:
        """An empty page in a fresh context, as a session; closed afterwards."""
        context = (await self.call("Target.createBrowserContext"))["browserContextId"]
        made = {"url": "about:blank", "browserContextId": context, "width": width, "height": height}
        target = (await self.call("Target.createTarget", **made))["targetId"]
        yield (await self.call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        await self.call("Target.disposeBrowserContext", browserContextId=context)

    async def said(self, session: str, script: str) -> Any:
        """The value of a script in the shown page; promises are awaited."""
        asked = {"expression": script, "awaitPromise": True, "returnByValue": True}
        return (await self.call("Runtime.evaluate", session, **asked))["result"].get("value")


@asynccontextmanager
async def chromium(program: str) -> AsyncIterator[Browser]:
    """Start a browser, and end it afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = [
            "--headless",
            "--no-sandbox",
            "--remote-debugging-port=0",
            f"--user-data-dir={folder}",
            "about:blank",
        ]
        process = subprocess.Popen([program, *options], stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            where = next(filter(None, (re.search(r"ws://\S+", line) for line in process.stderr)))
            yield Browser(await websocket_connect(where[0]))
        finally:
            process.terminate()
            process.wait()
