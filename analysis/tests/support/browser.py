# SPDX-License-Identifier: BSD-3-Clause
"""A real headless Chromium for tests, driven over its DevTools protocol.

Every wait has a deadline; the process and its profile are gone when the block ends.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
START_SECONDS, CALL_SECONDS = 600.0, 600.0
ARGUMENTS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--remote-allow-origins=*",
    "--remote-debugging-port=0",
)


def program() -> str | None:
    """Chromium's path, or None where there is none."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


class Page:
    """One page: calls, and every event seen so far."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self._socket = socket
        self._last = 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a DevTools method; events that arrive meanwhile are kept."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": parameters}))
        deadline = time.monotonic() + CALL_SECONDS
        while True:
            message = self._receive(deadline, method)
            if message.get("id") == self._last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return dict(message["result"])
            self.events.append(message)

    def _receive(self, deadline: float, what: str) -> dict[str, Any]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{what}: no answer from Chromium in {CALL_SECONDS:.0f} s")
        self._socket.settimeout(left)
        return dict(json.loads(self._socket.recv()))

    def open(self, path: Path, width: int, height: int = 900, mobile: bool = False) -> None:
        """Load a file at a size of the window and wait until it is loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=mobile)
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + CALL_SECONDS
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive(deadline, "load"))
        self.settle()

    def settle(self) -> None:
        """Wait until the page has painted twice."""
        script = "new Promise(d => requestAnimationFrame(() => requestAnimationFrame(() => d(1))))"
        self.run(script)

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        deadline = time.monotonic() + CALL_SECONDS
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true within {CALL_SECONDS:.0f} s: {condition}")
            time.sleep(0.05)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Console errors and warnings, and exceptions, since the page was opened."""
        found = []
        for event in self.events:
            method, facts = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(facts["exceptionDetails"].get("exception", {}).get("description")))
            elif method == "Runtime.consoleAPICalled" and facts["type"] in (
                "error",
                "warning",
                "assert",
            ):
                found.append(
                    " ".join(str(a.get("value", a.get("description"))) for a in facts["args"])
                )
            elif method == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
                found.append(facts["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """Every address the page asked for, its own apart."""
        asked = [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in asked[1:] if not url.startswith(("data:", "blob:"))]

    def screenshot(self, path: Path, whole: bool = True) -> None:
        """A PNG of the page, as long as it is."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def print_pdf(self, path: Path) -> None:
        """The page on paper."""
        answer = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        path.write_bytes(base64.b64decode(answer["data"]))


@contextmanager
def browser() -> Iterator[Page]:
    """A page of a new Chromium with an empty profile."""
    executable = program()
    if executable is None:
        raise FileNotFoundError(f"none of {', '.join(PROGRAMS)} is installed")
    with tempfile.TemporaryDirectory(prefix="a2a-chromium-", ignore_cleanup_errors=True) as profile:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        process = subprocess.Popen(
            [executable, *ARGUMENTS, *sandbox, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            socket = websocket.create_connection(
                _address(process, Path(profile)), timeout=CALL_SECONDS
            )
            try:
                yield Page(socket)
            finally:
                socket.close()
        finally:
            process.terminate()
            try:
                process.wait(600)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(600)


def _address(process: subprocess.Popen[bytes], profile: Path) -> str:
    """The DevTools address of the first page, once Chromium has written its port."""
    import urllib.request

    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"Chromium ended at once with status {process.returncode}")
        try:
            port = (profile / "DevToolsActivePort").read_text().split()[0]
            pages_at = f"http://127.0.0.1:{port}/json/list"
            with urllib.request.urlopen(pages_at, timeout=CALL_SECONDS) as answer:
                pages = [page for page in json.load(answer) if page["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
        except (OSError, IndexError, ValueError):
            pass
        time.sleep(0.05)
    raise TimeoutError(f"Chromium did not start within {START_SECONDS:.0f} s")
