#!/usr/bin/env python3
"""Checks the page of `nonfinite check --html` in a browser: html.py BROWSER PROGRAM [FOLDER].

Tensors with planted NaNs are written here, checked by the program, and the page is opened in
Chromium, which is driven by its DevTools protocol over a pipe. Every pixel of every map is compared
with what was planted.
"""

import base64
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

STEPS = 64
HOSTILE = "</script><script>hit=1</script>\"'><img src=x onerror=hit=1> layers.3.\u202ex"


def expect(condition, message):
    if not condition:
        sys.exit(f"html.py: {message}")


class Browser:
    """A browser and one page in it."""

    def __init__(self, program, profile):
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def fds():
            # The browser reads commands from 3 and writes answers to 4.
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)

        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        arguments += [f"--user-data-dir={profile}", "--window-size=1200,900", "about:blank"]
        self.process = subprocess.Popen(
            [program, *arguments],
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

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url=f"file://{path}")
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


def tensors():
    """Names, shapes, and the coordinates of NaNs."""
    random.seed(18)

    def every(*shape):
        places = [()]
        for extent in shape:
            places = [place + (index,) for place in places for index in range(extent)]
        return places

    planted = []
    for layer in range(12):
        for kind, shape in (("attn.q_proj", (64, 32)), ("mlp.up", (32, 64)), ("norm", (48,))):
            planted.append((f"model.layers.{layer}.{kind}.weight", shape, []))
    bad = {
        "model.layers.2.attn.q_proj.weight": lambda at: at[0] == 17,
        "model.layers.5.attn.q_proj.weight": lambda at: at[1] in (3, 4),
        "model.layers.5.norm.weight": lambda at: at[0] > 40,
        "model.layers.9.mlp.up.weight": lambda at: True,
    }
    planted = [
        (name, shape, [at for at in every(*shape) if bad.get(name, lambda at: False)(at)])
        for name, shape, _ in planted
    ]
    scattered = random.sample(every(130, 300), 150)
    planted.append(("scattered", (130, 300), sorted(scattered)))
    disc = [at for at in every(200, 200) if (at[0] - 60) ** 2 + (at[1] - 120) ** 2 < 1600]
    planted.append(("disc", (200, 200), disc))
    experts = [at for at in every(70, 9, 70) if at[0] in (20, 21, 64) and at[1] == at[2] % 9]
    planted.append(("model.layers.7.mlp.experts.weight", (70, 9, 70), experts))
    planted.append(("kernels", (3, 5, 4, 4), [(0, 4, 1, 2), (2, 0, 3, 3)]))
    planted.append(("scalar", (), [()]))
    planted.append((HOSTILE, (2, 3), [(1, 2)]))
    planted.append(('clean"<&', (2, 3), []))
    return planted


def write(path, planted):
    header, data = {}, bytearray()
    for name, shape, places in planted:
        elements = 1
        for extent in shape:
            elements *= extent
        numbers = [0.5] * elements
        for place in places:
            index = 0
            for extent, at in zip(shape, place):
                index = index * extent + at
            numbers[index] = float("nan")
        start = len(data)
        data += struct.pack(f"<{elements}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, len(data)]}
    header = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def maps(shape, places):
    """By group: height and width of its map, steps, and how many are bad in each cell."""
    shape = (1,) * (2 - len(shape)) + tuple(shape)
    *leading, rows, columns = shape
    row_step, column_step = -(-rows // STEPS), -(-columns // STEPS)
    groups = 1
    for extent in leading:
        groups *= extent
    group_step = max(1, -(-groups // STEPS))
    height, width = -(-rows // row_step), -(-columns // column_step)
    cells = {}
    for place in places:
        place = (0,) * (2 - len(place)) + tuple(place)
        group = 0
        for extent, at in zip(leading, place):
            group = group * extent + at
        key = group // group_step
        count = cells.setdefault(key, [[0] * width for _ in range(height)])
        count[place[-2] // row_step][place[-1] // column_step] += 1
    steps = (rows, row_step, columns, column_step)
    return height, width, steps, [cells[key] for key in sorted(cells)]


# The colours of the pixels of a map, by cell.
PIXELS = """(canvas => {
  const context = canvas.getContext("2d");
  const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
  const cells = [];
  const [down, across] = [height / %d, width / %d];
  for (let row = 0; row < %d; row++) for (let column = 0; column < %d; column++) {
    const colours = new Set();
    for (let y = row * down; y < (row + 1) * down; y++) {
      for (let x = column * across; x < (column + 1) * across; x++) {
        colours.add(data.slice((y * width + x) * 4, (y * width + x) * 4 + 4).join());
      }
    }
    cells.push([...colours]);
  }
  return { cells, down, across };
})(document.querySelectorAll("details")[%d].querySelectorAll("canvas")[%d])"""


def check_maps(browser, bad):
    """Every pixel of every map."""
    lit = cells = drawn = 0
    for entry, (name, shape, places) in enumerate(bad):
        height, width, _, groups = maps(shape, places)
        found = browser.evaluate(
            f"document.querySelectorAll('details')[{entry}].querySelectorAll('canvas').length"
        )
        expect(found == len(groups), f"{name}: {found} maps instead of {len(groups)}")
        for group, counts in enumerate(groups):
            pixels = browser.evaluate(PIXELS % (height, width, height, width, entry, group))
            expect(pixels["down"] == pixels["across"] >= 3, f"{name}: cells of {pixels['down']}")
            for index, colours in enumerate(pixels["cells"]):
                row, column = divmod(index, width)
                expect(len(colours) == 1, f"{name}: {row}, {column} has {colours}")
                is_lit = colours[0] != "255,255,255,255"
                is_bad = counts[row][column] > 0
                expect(is_lit == is_bad, f"{name}: cell {row}, {column} of map {group}: {colours}")
                lit += is_lit
                cells += 1
            drawn += 1
    print(f"{drawn} maps of {len(bad)} tensors: {cells} cells, {lit} lit, all as planted")


def words(steps, counts, row, column):
    rows, row_step, columns, column_step = steps

    def span(at, step, extent):
        first, last = at * step, min(at * step + step, extent) - 1
        return (str(first) if first == last else f"{first}-{last}"), last - first + 1

    row_text, down = span(row, row_step, rows)
    column_text, across = span(column, column_step, columns)
    return f"row {row_text}, column {column_text}: {counts[row][column]} of {down * across} bad"


def check_readouts(browser, bad):
    """Coordinates under the pointer and by the keyboard."""
    entry = [name for name, _, _ in bad].index("scattered")
    _, shape, places = bad[entry]
    height, width, steps, (counts,) = maps(shape, places)
    canvas = f"document.querySelectorAll('details')[{entry}].querySelector('canvas')"
    output = f"document.querySelectorAll('details')[{entry}].querySelector('output').textContent"
    lit = [(row, column) for row in range(height) for column in range(width) if counts[row][column]]
    most = max(lit, key=lambda at: counts[at[0]][at[1]])
    # The last cells of a row and of a column are shorter.
    for row, column in ((0, 0), lit[0], lit[-1], most, (height - 1, width - 1), (height - 1, 3)):
        at = browser.evaluate(
            f"(c => {{ c.scrollIntoView(); const r = c.getBoundingClientRect();"
            f" return [r.x + ({column} + .5) * r.width / {width},"
            f" r.y + ({row} + .5) * r.height / {height}]; }})({canvas})"
        )
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
        shown = browser.evaluate(output)
        expect(shown == words(steps, counts, row, column), f"pointer at {row}, {column}: {shown}")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    browser.evaluate(f"{canvas}.focus()")
    right = ("ArrowRight", 39)
    for key, code in (("Home", 36), ("PageUp", 33), ("ArrowDown", 40), right, right):
        browser.key(key, code)
    shown = browser.evaluate(output)
    expect(shown == words(steps, counts, 1, 2), f"keyboard: {shown}")
    for _ in range(3):
        browser.key("ArrowUp", 38)
    browser.key("End", 35)
    shown = browser.evaluate(output)
    expect(shown == words(steps, counts, 0, width - 1), f"keyboard: {shown}")
    print("coordinates: pointer and keyboard")


def check_overview(browser, bad):
    """Each bad tensor of the overview leads to its entry, by the keyboard."""
    cells = browser.evaluate(
        "[...document.querySelectorAll('td.b a')].map(a => [a.textContent, a.getAttribute('href'),"
        " document.querySelector(a.getAttribute('href') + ' b').textContent])"
    )
    names = sorted(name for _, _, name in cells)
    expected = sorted(name.replace("\u202e", "\\u{202e}") for name, _, _ in bad)
    expect(names == expected, f"overview: {names} instead of {expected}")
    expect(all(text == "1" for text, _, _ in cells), f"overview: {cells}")
    clean = browser.evaluate(
        "[...document.querySelectorAll('td')].filter(td => td.textContent.trim() === '.').length"
    )
    expect(clean == 36 - 4 + 1, f"overview: {clean} clean cells")
    browser.evaluate("document.querySelector('td.b a').focus()")
    browser.key("Enter", 13, "\r")
    browser.evaluate("new Promise(resolve => setTimeout(resolve, 200))")
    target = browser.evaluate(
        "(t => [t.open, t.contains(document.activeElement)])"
        "(document.querySelector(document.querySelector('td.b a').getAttribute('href')))"
    )
    expect(target == [True, True], f"a link of the overview leads to {target}")
    # Tab goes on to the map of the entry.
    browser.key("Tab", 9)
    focused = browser.evaluate("document.activeElement.tagName")
    expect(focused == "CANVAS", f"Tab leads to {focused}")
    print(f"overview: {len(cells)} bad, {clean} clean, links by keyboard")


def main():
    browser_program, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shots = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else folder
        shots.mkdir(parents=True, exist_ok=True)
        planted = tensors()
        bad = [tensor for tensor in planted if tensor[2]]
        write(folder / "model.safetensors", planted)
        page = folder / "page.html"
        run = subprocess.run([program, "check", "-q", "--html", page, folder / "model.safetensors"])
        expect(run.returncode == 1, f"exit status {run.returncode}")
        browser = Browser(browser_program, folder / "profile")
        try:
            browser.open(page)
            check_overview(browser, bad)
            browser.screenshot(shots / "overview.png")
            browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            browser.evaluate("new Promise(resolve => setTimeout(resolve, 500))")
            check_maps(browser, bad)
            check_readouts(browser, bad)
            browser.screenshot(shots / "maps.png")
            hit = browser.evaluate("[typeof hit, document.images.length, document.scripts.length]")
            expect(hit == ["undefined", 0, 1], f"names became elements: {hit}")
            logged, loaded = browser.complaints()
            expect(not logged, f"the browser complains: {logged}")
            expect(loaded == [f"file://{page}"], f"loaded {loaded}")
            # A policy that lets changed scripts run would be none.
            text = page.read_text()
            expect(text.count('"use strict";') == 1, "the script has changed its begin")
            page.write_text(text.replace('"use strict";', '"use strict"; '))
            browser.open(page)
            browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            browser.evaluate("new Promise(resolve => setTimeout(resolve, 200))")
            drawn = browser.evaluate("document.querySelectorAll('canvas[width]').length")
            logged, _ = browser.complaints()
            expect(drawn == 0 and logged, f"a changed script ran: {drawn} maps, {logged}")
            print("policy: nothing loaded, names stay text, a changed script does not run")
        finally:
            browser.process.kill()
            browser.process.wait()
            time.sleep(0.2)


main()
