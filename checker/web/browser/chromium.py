"""Chromium without a window, driven by its DevTools protocol over a pipe."""

import base64
import json
import os
import pathlib
import subprocess
import sys


def expect(condition, message):
    if not condition:
        sys.exit(f"checker/web/test: {message}")


class Browser:
    """A browser and one page in it."""

    def __init__(self, program, profile, *options):
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def fds():
            # The browser reads commands from 3 and writes answers to 4.
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)

        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        arguments += [f"--user-data-dir={profile}", "--window-size=1200,900", *options]
        self.process = subprocess.Popen(
            [program, *arguments, "about:blank"],
            preexec_fn=fds,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.answers, 1 << 20)
            expect(more, "the browser ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                expect("error" not in message, f"{method}: {message.get('error')}")
                return message["result"]
            self.events.append(message)

    def open(self, url):
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def evaluate(self, script):
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        expect("exceptionDetails" not in result, f"{script}: {result}")
        return result["result"].get("value")

    def key(self, key, code, text=""):
        parameters = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        kind = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=kind, text=text, **parameters)
        self.call("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def resize(self, width, scheme):
        """Shows the page in a window of this width, light or dark."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def screenshots(self, folder, name):
        """Of a phone and a desktop, light and dark, if there is a folder for them: they take
        minutes. No page is wider than its window."""
        for width in (420, 1200):
            for scheme in ("light", "dark"):
                self.resize(width, scheme)
                wide = self.evaluate("document.documentElement.scrollWidth")
                expect(wide <= width, f"{name}: {wide} pixels in a window of {width}")
                if folder:
                    self.screenshot(folder / f"{name}-{width}-{scheme}.png")
        self.resize(1200, "light")

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """The log of the browser, and the resources that it loaded besides the page."""
        self.evaluate("new Promise(resolve => setTimeout(resolve, 50))")
        complaints = ("Log.entryAdded", "Runtime.exceptionThrown")
        logged = [e["params"] for e in self.events if e["method"] in complaints]
        loaded = [
            e["params"]["request"]["url"]
            for e in self.events
            if e["method"] == "Network.requestWillBeSent"
        ]
        return logged, loaded
