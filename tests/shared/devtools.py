"""Chromium without a display, steered by its own protocol: pictures of a page, mouse, keys, bytes that arrived."""

import base64
import contextlib
import io
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.request

import numpy as np

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
START = 60.0  # for a browser to start [s]


class Page:
    """A page of a browser: told by its socket what to do.

    received  bytes that have arrived, by the address of the request or the socket;  heard  names of events so far.
    """

    def __init__(self, link, patience):
        self._link, self._patience, self._numbers = link, patience, itertools.count(1)
        self._urls, self.received, self.heard = {}, {}, set()

    def call(self, method, **params):
        """The answer to one call of the protocol."""
        number = self._send(method, params)
        end = time.monotonic() + self._patience
        while True:
            told = json.loads(self._link.recv(timeout=max(0.0, end - time.monotonic())))
            if told.get("id") == number:
                assert "error" not in told, told["error"]
                return told["result"]
            self._note(told.get("method"), told.get("params", {}))

    def _send(self, method, params, **more):
        number = next(self._numbers)
        self._link.send(json.dumps(dict(id=number, method=method, params=params, **more)))
        return number

    def _note(self, method, told):
        self.heard.add(method)
        if method == "Target.attachedToTarget":  # a worker of the page, which waits until it is watched, too
            for what in ("Network.enable", "Runtime.runIfWaitingForDebugger"):
                self._send(what, {}, sessionId=told["sessionId"])
        elif method == "Network.requestWillBeSent":
            self._urls[told["requestId"]] = told["request"]["url"]
        elif method == "Network.webSocketCreated":
            self._urls[told["requestId"]] = told["url"]
        elif method == "Network.dataReceived":
            self._count(told, told["dataLength"])
        elif method == "Network.webSocketFrameReceived":
            frame = told["response"]
            data = frame["payloadData"]
            self._count(told, len(base64.b64decode(data)) if frame["opcode"] == 2 else len(data))

    def _count(self, told, length):
        url = self._urls.get(told["requestId"], "")
        self.received[url] = self.received.get(url, 0) + length

    def bytes_of(self, part):
        """Bytes that have arrived from addresses with this part, up to now."""
        self.call("Runtime.evaluate", expression="0")
        return sum(n for url, n in self.received.items() if part in url)

    def picture(self):
        """What the page shows, (height, width, 3) uint8."""
        from PIL import Image

        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def mouse(self, kind, x, y, button="left", clicks=1):
        """mousePressed, mouseMoved (with the button held) or mouseReleased at a pixel."""
        self.call("Input.dispatchMouseEvent", type=kind, x=int(x), y=int(y), button=button, clickCount=clicks,
                  buttons=0 if kind == "mouseReleased" else 1)  # fmt: skip

    def click(self, x, y, times=1):
        """Clicks at a pixel."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=int(x), y=int(y))
        for k in range(1, times + 1):
            self.mouse("mousePressed", x, y, clicks=k)
            self.mouse("mouseReleased", x, y, clicks=k)

    def drag(self, start, away, parts=8):
        """A drag by (columns, rows)."""
        self.mouse("mousePressed", *start)
        for k in range(1, parts + 1):
            self.mouse("mouseMoved", start[0] + away[0] * k / parts, start[1] + away[1] * k / parts)
        self.mouse("mouseReleased", start[0] + away[0], start[1] + away[1])

    def key(self, name, code, text=""):
        """Presses and releases a key: its name, its number, what it writes."""
        named = dict(key=name, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def run(self, script):
        """The value of a script."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")


@contextlib.contextmanager
def page(url, width, height, profile, patience):
    """A page at an address, drawn by SwiftShader; profile  a folder;  patience  for one answer [s]."""
    from websockets.sync.client import connect

    browser = subprocess.Popen(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--no-first-run", "--hide-scrollbars", "--use-gl=angle",
         "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
         "--remote-debugging-port=0", f"--window-size={width},{height}", f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        port, end = pathlib.Path(profile) / "DevToolsActivePort", time.monotonic() + START
        while not (port.exists() and port.read_text().strip()):
            assert browser.poll() is None and time.monotonic() < end, "the browser did not start"
            time.sleep(0.1)
        asked = f"http://127.0.0.1:{port.read_text().split()[0]}/json/list"
        with urllib.request.urlopen(asked, timeout=START) as answer:
            socket = next(t for t in json.load(answer) if t["type"] == "page")["webSocketDebuggerUrl"]
        with connect(socket, max_size=None, open_timeout=START, ping_interval=None) as link:
            found = Page(link, patience)
            found.call("Page.enable")
            found.call("Network.enable")
            found.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
            size = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
            found.call("Emulation.setDeviceMetricsOverride", **size)
            found.call("Page.navigate", url=url)
            while "Page.frameNavigated" not in found.heard:
                found.run("0")
            yield found
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(browser.pid, 9)
        browser.wait()
