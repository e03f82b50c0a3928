"""The page of dropped files: files are chosen and dropped as a person does.

The report of the page is compared with that of the command.
"""

import array
import contextlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

from chromium import Browser, expect
from files import floats, safetensors

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "checker/fuzz"), str(ROOT / "fuzz")]
import seeds  # noqa: E402

HOSTILE = "<img src=x onerror=hit=1></script><script>hit=1</script>"
ABSENT = "it is not among the files that were chosen"
SECONDS = 600


class Page(Browser):
    """The page, and what a person does there."""

    def begin(self, url):
        self.open(url)
        self.evaluate("ready.then(() => 1)")

    def wait(self):
        """Until the check has ended: what the page says then."""
        end = time.time() + SECONDS
        while not self.evaluate("document.getElementById('run').hidden && !!reporter"):
            expect(time.time() < end, f"no end: {self.said()}, {self.text('far')}")
            time.sleep(0.05)
        return self.said()

    def text(self, name):
        return self.evaluate(f"document.getElementById('{name}').innerText")

    def said(self):
        return self.text("said")

    def put(self, paths, folder=False):
        """Chooses files, or a folder."""
        self.evaluate("reporter = null")
        name = "#choose-folder" if folder else "#choose-files"
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=name)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def choose(self, paths, folder=False):
        self.put(paths, folder)
        return self.wait()

    def drop(self, paths):
        self.evaluate("reporter = null")
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=300, y=300, data=data)
        return self.wait()

    def report(self):
        return json.loads(self.evaluate("reporter.call('json')"))


def expected(program, folder, paths, *options):
    run = subprocess.run(
        [program, "check", "--json", *options, *paths], cwd=folder, capture_output=True
    )
    # A page has no system that says so.
    text = run.stdout.decode().replace("No such file or directory (os error 2)", ABSENT)
    return json.loads(text), run.returncode


def compared(report):
    """Files by their paths, and those of no known format."""
    return {file["path"]: file for file in report["files"]}, sorted(report["no_format"])


def compare(page, program, folder, paths):
    """The report of the page is that of the command."""
    wanted, status = expected(program, folder, paths, "--stats", "--map")
    shown = page.report()
    (wanted, no_format), (shown, others) = compared(wanted), compared(shown)
    expect(others == no_format, f"of no format: {others} instead of {no_format}")
    expect(shown.keys() == wanted.keys(), f"files: {shown.keys() ^ wanted.keys()}")
    for path, file in wanted.items():
        if shown[path] != file:
            for key in file:
                both = f"{shown[path][key]}\n{file[key]}"
                expect(shown[path][key] == file[key], f"{path}: {key}: {both}")
    run = subprocess.run([program, "check", *paths], cwd=folder, capture_output=True, text=True)
    answer = run.stdout.splitlines()[-1].split(". Checked ")[0] + "."
    expect(page.said() == answer and run.returncode == status, f"{page.said()}\n{answer}")
    return len(wanted)


def samples(page, program, shots):
    folder = ROOT / "checker/cli/samples"
    names = ["clean.npy", "sample.npy", "sample.safetensors"]
    page.choose([folder / name for name in names])
    count = compare(page, program, folder, names)
    html = page.evaluate("reporter.call('html')")
    expect(html.startswith("<!doctype html>") and "Content-Security-Policy" in html, "no page")
    page.evaluate("document.querySelectorAll('#numbers details').forEach(d => d.open = true)")
    page.evaluate("new Promise(resolve => setTimeout(resolve, 300))")
    found = page.evaluate("document.querySelectorAll('#numbers .map svg path').length")
    expect(found > 0, "the map of a bad tensor is not drawn")
    page.screenshots(shots, "web")
    logged, loaded = page.complaints()
    own = re.compile(r"/(page\.js|worker\.js|nonfinite\.wasm|)$|^(blob|data):")
    others = [url for url in loaded if not own.search(url)]
    expect(not logged and not others, f"{logged}, {others}")
    print(f"samples: {count} files as the command; maps are drawn")


def policy(page):
    """Neither the page nor its workers can connect."""
    refused = page.evaluate("fetch('page.js').then(() => 'sent', () => 'refused')")
    expect(refused == "refused", "the page can connect")
    refused = page.evaluate(
        """new Promise((resolve) => {
          const text = `fetch("${location.href}").then(() => postMessage("sent"),
            () => postMessage("refused"))`;
          const worker = new Worker(URL.createObjectURL(new Blob([text])));
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = () => resolve("error");
        })"""
    )
    expect(refused == "refused", f"a worker can connect: {refused}")
    print("policy: page and workers cannot connect")


def damaged():
    """Files of each format by their endings, whole and damaged."""
    random.seed(49)
    makers = {
        "npy": seeds.npy_files, "npz": seeds.npz_files, "safetensors": seeds.safetensors_files,
        "gguf": seeds.gguf_files, "pt": seeds.pytorch_files, "onnx": seeds.onnx_files,
    }
    for ending, make in makers.items():
        # Not the largest: many are read again and again.
        whole = [bytes(data) for data in make() if 16 < len(data) < 100_000]
        random.shuffle(whole)
        for number in range(86):
            data = bytearray(whole[number % len(whole)])
            if number >= 20:
                for _ in range(random.choice([1, 1, 3])):
                    data[random.randrange(len(data))] = random.randrange(256)
            if number % 7 == 6:
                del data[random.randrange(len(data)):]
            yield f"{number:03}.{ending}", bytes(data)


def folders(page, program, folder):
    """500 damaged files, a sharded set, and 2,000 small files."""
    many = folder / "damaged"
    many.mkdir()
    for name, data in damaged():
        (many / name).write_bytes(data)
    (many / "README.md").write_text("no model\n")
    (many / "empty").touch()
    (many / "other.xyz").write_bytes(bytes(range(256)))
    page.choose([many], folder=True)
    count = compare(page, program, folder, ["damaged"])
    wanted = page.evaluate("document.getElementById('said').innerText")
    print(f"damaged files: {count} as the command. {wanted}")

    shards = folder / "sharded"
    shards.mkdir()
    nan = float("nan")
    tensors = [("a", "F32", [2, 2], floats(1, 2, nan, 4)), (HOSTILE, "F32", [2], floats(1, nan))]
    for number, tensor in enumerate(tensors, 1):
        safetensors(shards / f"model-{number:05}-of-00003.safetensors", [tensor])
    index = {"a": 1, HOSTILE: 2, "c": 3}
    index = {name: f"model-{number:05}-of-00003.safetensors" for name, number in index.items()}
    (shards / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    page.choose([shards], folder=True)
    compare(page, program, folder, ["sharded"])
    hit = page.evaluate("[typeof hit, document.images.length]")
    expect(hit == ["undefined", 0], f"a name became an element: {hit}")
    missing = page.text("missed")
    expect("00003-of-00003" in missing, "the missing shard is not named")
    print("a sharded set with a missing shard, and a hostile name")

    small = folder / "small"
    for number in range(2000):
        (small / f"{number // 100}").mkdir(parents=True, exist_ok=True)
        values = floats(1, nan if number % 500 == 3 else 2)
        path = small / f"{number // 100}" / f"{number:04}.safetensors"
        safetensors(path, [("x", "F32", [2], values)])
    since = time.time()
    said = page.drop([small])
    expect(said.startswith("4 of 2000 tensors hold NaN or infinity; the first is x in "), said)
    print(f"a folder of 2,000 files, dropped: {time.time() - since:.1f} s")


def lint(page, program, folder):
    """The findings of lint are those of the command."""
    tensors = [("a.weight", "F8_E4M3", [2, 2], b"\x38" * 4)]
    tensors.append(("a.weight_scale", "F32", [1], bytes(4)))
    safetensors(folder / "lint.safetensors", tensors)
    page.choose([folder / "lint.safetensors"])
    run = subprocess.run(
        [program, "lint", "--json", "lint.safetensors"], cwd=folder, capture_output=True
    )
    shown = json.loads(page.evaluate("reporter.call('findings')"))
    expect(shown == json.loads(run.stdout), f"{shown}\n{run.stdout}")
    expect(len(shown["findings"]) == 1 and "scale-zero" in page.text("rules"), f"{shown}")
    print("lint: the findings of the command")


def pieces(page, program, folder):
    """Tensors of several pieces, no two numbers of which are the same."""
    numbers = array.array("f", range(8_000_000))
    for place in (0, 2_097_151, 2_097_152, 5_000_001, 7_999_999):
        numbers[place] = float("nan")
    ends = [0, 3, 2_500_003, 2_500_004, len(numbers)]
    parts = [numbers[start:end] for start, end in zip(ends, ends[1:])]
    tensors = [(f"t{i}", "F32", [len(part)], part.tobytes()) for i, part in enumerate(parts)]
    safetensors(folder / "pieces.safetensors", tensors)
    page.choose([folder / "pieces.safetensors"])
    compare(page, program, folder, ["pieces.safetensors"])
    shards = folder / "shards"
    shards.mkdir()
    for number, tensor in enumerate(tensors):
        safetensors(shards / f"{number}.safetensors", [tensor])
    index = {tensor[0]: f"{number}.safetensors" for number, tensor in enumerate(tensors)}
    (shards / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    page.choose([shards], folder=True)
    compare(page, program, folder, ["shards"])
    print("32 MB in pieces, in a file and in shards: as the command")


def large(page, folder):
    """A sparse file of 6 GB, with a NaN at its beginning; stopping."""
    path = folder / "large.safetensors"
    safetensors(path, [("first", "F32", [2], floats(1, float("nan")))], sparse=6 << 30)
    with open(path, "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(floats(float("inf")))
    since = time.time()
    said = page.choose([path])
    seconds = time.time() - since
    tensors = {tensor["name"]: tensor for tensor in page.report()["files"][0]["tensors"]}
    first = tensors["sparse"]["pos_inf"]["first"]["coordinate"]
    expect(first == [(6 << 30) // 4 - 1], f"{first}: {said}")
    print(f"6 GB: {6.44 / seconds:.2f} GB/s, the last element is found")

    page.put([path])
    rows = "[...document.querySelectorAll('#bad tbody tr')].map(row => row.innerText)"
    while not page.evaluate(f"{rows}.length && $('far').textContent.includes(' s left')"):
        time.sleep(0.05)
    row = page.evaluate(rows)[0].split("\t")
    expect(row == ["first", path.name, "F32", "1", "", "", "[1]"], f"{row}")
    page.evaluate("document.getElementById('stop').focus()")
    since = time.time()
    page.key("Enter", 13, "\r")
    at_once = page.said()
    seconds = time.time() - since
    said = page.wait()
    words = r"Stopped after [\d.]+ .B of 6.44 GB\. "
    found = "1 tensor holds NaN or infinity: first, at [1]."
    expect(re.fullmatch(words + re.escape(found), said) and said.startswith(at_once), said)
    expect(page.evaluate(rows)[0].split("\t") == row, "the row of a stopped run is gone")
    focused = page.evaluate("document.activeElement.id")
    expect(focused == "said", f"the focus is at {focused!r}")
    error = page.report()["files"][0]["error"]
    expect(error and "stopped" in error, f"{error}")
    expect(seconds < 1, f"stopping took {seconds:.1f} s")
    print(f"stopped by the keyboard in {seconds:.2f} s; the row of the NaN stays")


def plain(page, folder):
    """The sample, an empty folder, and a file that has changed when it is read."""
    page.evaluate("reporter = null; document.getElementById('sample').click()")
    said = page.wait()
    expect(said.startswith("1 of 3 tensors holds NaN or infinity: layer.0.weight, at [2, 5]"), said)
    (folder / "nothing").mkdir()
    page.evaluate("begin([])")
    expect(page.said() == "There is no file to check.", page.said())
    changed, data = folder / "changed.npy", (ROOT / "checker/cli/samples/sample.npy").read_bytes()
    changed.write_bytes(data)
    page.evaluate("begun = begin; begin = (files) => later = files")
    page.put([changed])
    page.evaluate("later[0][1].size")
    changed.write_bytes(data + data)
    page.evaluate("begin = begun; begin(later)")
    said = page.wait()
    expect("was not checked" in said and "has changed or is gone" in page.text("missed"), said)
    print("the sample, no file, and a changed file: a sentence each")


def interrupted(page, folder):
    """A second choice, stops, a worker that ends, and an unknown format. After `folders`."""
    path, clean = folder / "long.safetensors", ROOT / "checker/cli/samples/clean.npy"
    safetensors(path, [("first", "F32", [2], floats(1, float("nan")))], sparse=2 << 30)
    page.put([path])
    said = page.choose([clean])
    rows = page.evaluate("document.querySelectorAll('#bad tbody tr').length")
    answer = "The one tensor that was looked at holds no NaN or infinity."
    expect(said == answer and not rows, f"{rows} rows: {said}")
    page.put([path])
    page.evaluate("run.stop()")
    said = page.wait()
    expect(said.startswith("Stopped") and said.endswith(" Nothing was looked at."), said)
    page.put([folder / "small"], folder=True)
    while not page.evaluate("run.jobs.length"):
        time.sleep(0.01)
    page.evaluate("run.stop()")
    said = page.wait()
    found = re.match(r"Stopped after (\d+) of 2000 files\. ", said)
    expect(found and 0 < int(found[1]) < 2000, said)
    # A stop as soon as maps are drawn keeps the answer and the numbers.
    page.evaluate("draw = Run.prototype.draw; Run.prototype.draw = function () {"
                  " const end = draw.call(this); this.stop(); return end; }; 1")
    said = page.choose([folder / "pieces.safetensors"])
    expect(said.startswith("3 of 4 tensors hold NaN") and "3 of 4" in page.text("numbers"), said)
    page.evaluate("Run.prototype.draw = draw; 1")
    page.put([path])
    while not page.evaluate("run.done > 0"):
        time.sleep(0.05)
    page.evaluate("run.workers[0].worker.onerror({ message: 'no memory' })")
    said = page.wait()
    expect(said.startswith("The check broke off: no memory. Nothing was looked at; 1 file "), said)
    unknown = folder / "weights.xyz"
    unknown.write_bytes(bytes(range(256)))
    said = page.choose([clean, unknown])
    missed = page.text("missed")
    expect(said == answer and "1 file of no known format: weights.xyz" in missed, missed)
    print("interrupted: each run ends, with a sentence")


def stalls(page, url, folder):
    """Streams that never answer cost 5 seconds, once."""
    script = """const Plain = Blob; Blob = class extends Plain { constructor(parts, options) {
      const stall = "ReadableStreamBYOBReader.prototype.read = () => new Promise(() => {});";
      super(options?.type === "text/javascript" ? [stall, ...parts] : parts, options); } };"""
    page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
    page.begin(url)
    path = folder / "stalls.safetensors"
    safetensors(path, [("first", "F32", [2], floats(1, float("nan")))], sparse=300 << 20)
    since = time.time()
    said = page.choose([path])
    seconds = time.time() - since
    expect(said.startswith("1 of 2 tensors holds") and 5 < seconds < 60, f"{seconds:.1f} s: {said}")
    print(f"300 MB without a working stream: {seconds:.1f} s")


def check(page, folder_of_page, program, folder, shots):
    server = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"]
    with contextlib.ExitStack() as stack:
        server = subprocess.Popen(
            server, cwd=folder_of_page, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        stack.callback(server.kill)
        port = re.search(rb"port (\d+)", server.stdout.readline())[1].decode()
        url = f"http://127.0.0.1:{port}/"
        page.call("DOM.enable")
        page.begin(url)
        samples(page, program, shots)
        policy(page)
        plain(page, folder)
        lint(page, program, folder)
        pieces(page, program, folder)
        folders(page, program, folder)
        large(page, folder)
        interrupted(page, folder)
        stalls(page, url, folder)
    print("all as the command")
