"""Times and memory of a trace: `python benches/trace.py onnx`, `... commands` or `... torch`.

Needs the packages of requirements-test.txt, and for the models `pip install --no-deps
magika==1.0.3 rapidocr-onnxruntime==1.4.4 silero-vad==6.2.3`.

ONNX: models of the wheels magika, rapidocr-onnxruntime and silero-vad, and a transformer with
500 MB of weights that is made here. Two sessions in one process run in turns: the model at level
ALL, and the same with sinks. Memory: resident pages after 3 runs, less those before the model was
loaded, and the most of the whole process; medians of five processes.

commands: `nonfinite trace` and `polygraphy run` (pip install polygraphy), from start to end.

torch: a small transformer, also with the hooks of transformers (pip install transformers).
`... torch 100 watch plain` measures 100 rounds of the contexts that begin with one of the words.

Prints Markdown. benches/faults.py measures models with faults.
"""

import copy
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

RUNS = 25


def cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if platform.system() == "Linux" else []
    found = {}
    for line in lines[:30]:
        name, _, text = line.partition(":")
        found[name.strip()] = text.strip()
    keys = ("model name", "cpu family", "model")
    return ", ".join(f"{key} {found[key]}" for key in keys if key in found) or platform.processor()


def in_turns(
    runs: int, *functions: Callable[[], Any], clock: Callable[[], float] = time.process_time
) -> list[float]:
    """The lower quartile of each, in seconds. Every round runs all of them.

    The time of the process, so that other programs on the machine do not count. With two threads
    the time on the wall.
    """
    times: list[list[float]] = [[] for _ in functions]
    for number in range(runs + 3):
        for function, kept in zip(functions, times, strict=True):
            start = clock()
            function()
            if number >= 3:
                kept.append(clock() - start)
    return [statistics.quantiles(kept, n=4)[0] for kept in times]


def in_wheel(package: str, path: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent / path if spec and spec.origin else None


def transformer(folder: Path, width: int = 1024, layers: int = 10) -> Path:
    """A decoder without embedding: about 12 * width * width * layers * 4 bytes of weights."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random, nodes, weights = np.random.default_rng(0), [], []

    def weight(name: str, *shape: int) -> str:
        array = random.standard_normal(shape, np.float32) * np.float32(0.02)
        weights.append(numpy_helper.from_array(array, name))
        return name

    def add(operator: str, inputs: list[str], **attributes: Any) -> str:
        name = f"t{len(nodes)}"
        nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    weights.append(numpy_helper.from_array(np.array([0, 0, 16, width // 16]), "heads"))
    weights.append(numpy_helper.from_array(np.array([0, 0, width]), "joined"))
    weights.append(numpy_helper.from_array(np.float32((width / 16) ** -0.5), "scale"))
    x = "x"
    for n in range(layers):
        h = add("LayerNormalization", [x, weight(f"n{n}", width)])
        q, k, v = (
            add("Transpose", [add("Reshape", [add("MatMul", [h, weight(f"{p}{n}", width, width)]),
                                              "heads"])], perm=perm)
            for p, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]))
        )
        scores = add("Softmax", [add("Mul", [add("MatMul", [q, k]), "scale"])])
        mixed = add("Transpose", [add("MatMul", [scores, v])], perm=[0, 2, 1, 3])
        mixed = add("Reshape", [mixed, "joined"])
        x = add("Add", [x, add("MatMul", [mixed, weight(f"o{n}", width, width)])])
        h = add("LayerNormalization", [x, weight(f"m{n}", width)])
        h = add("Gelu", [add("MatMul", [h, weight(f"u{n}", width, 4 * width)])])
        x = add("Add", [x, add("MatMul", [h, weight(f"d{n}", 4 * width, width)])])
    graph = helper.make_graph(
        nodes,
        "transformer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, "length", width])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, None)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    path = folder / "transformer.onnx"
    onnx.save(model, str(path), save_as_external_data=True, location="transformer.bin")
    return path


def models(folder: Path) -> dict[str, tuple[Path | None, dict[str, list[int]]]]:
    ocr = "rapidocr_onnxruntime"
    return {
        "magika": (in_wheel("magika", "models/standard_v3_3/model.onnx"), {}),
        "OCR detector": (
            in_wheel(ocr, "models/ch_PP-OCRv4_det_infer.onnx"), {"x": [1, 3, 480, 480]},
        ),
        "OCR recogniser": (
            in_wheel(ocr, "models/ch_PP-OCRv4_rec_infer.onnx"), {"x": [1, 3, 48, 320]},
        ),
        "OCR classifier": (
            in_wheel(ocr, "models/ch_ppocr_mobile_v2.0_cls_infer.onnx"), {"x": [1, 3, 48, 192]},
        ),
        "silero-vad": (
            in_wheel("silero_vad", "data/silero_vad_16k_op15.onnx"),
            {"input": [1, 512], "state": [2, 1, 128]},
        ),
        "transformer, 500 MB": (transformer(folder), {"x": [1, 64, 1024]}),
    }  # fmt: skip


class Setting:
    """A model with inputs, plain or traced."""

    def __init__(self, path: Path, shapes: dict[str, list[int]], threads: int) -> None:
        import onnx

        from nonfinite.trace import inputs

        self.path, self.threads = path, threads
        graph = onnx.load(str(path), load_external_data=False).graph
        if "sr" in {value.name for value in graph.input}:
            shapes = {**shapes, "sr": []}
        arrays = inputs.complete(graph, {}, {}, shapes, {}, 0)
        if "sr" in arrays:
            arrays["sr"] = np.array(16000)
        self.feeds = inputs.feeds(graph, arrays)

    def plain(self) -> Callable[[], Any]:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = self.threads
        session = ort.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])
        return lambda: session.run_with_ort_values(None, self.feeds)

    def traced(self) -> Callable[[], Any]:
        from nonfinite.trace.native import Library
        from nonfinite.trace.onnx import Tracer
        from nonfinite.trace.prepare import Options, Prepared

        with tempfile.TemporaryDirectory() as folder:
            tracer = Tracer(self.path, Path(folder), Options(Library(), self.threads, []))
            prepared = Prepared(tracer, "ALL")
        return lambda: prepared.run(self.feeds)


def resident(field: str = "VmRSS") -> float:
    """Resident pages in MB: now, or at most so far (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def memory(kind: str, path: str, shapes: str) -> None:
    """In a process of its own: prints MB of the model, and the most MB of the whole process."""
    setting = Setting(Path(path), eval(shapes, {}), 1)
    import onnxruntime  # noqa: F401

    import nonfinite.trace.prepare  # noqa: F401

    before = resident()
    run = getattr(setting, kind)()
    for _ in range(3):
        run()
    print(resident() - before, resident("VmHWM"))


def memories(path: Path, shapes: dict[str, list[int]]) -> list[str]:
    """MB of the model, plain and traced, and the most MB of the whole process: the medians of five
    processes each, in turns."""
    found: dict[str, list[tuple[float, ...]]] = {"plain": [], "traced": []}
    for _ in range(5):
        for kind, kept in found.items():
            command = [sys.executable, __file__, "memory", kind, str(path), repr(shapes)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            kept.append(tuple(map(float, done.stdout.split())))
    pairs = [[statistics.median(each) for each in zip(*kept)] for kept in found.values()]
    return [f"{value:.1f}" for values in zip(*pairs) for value in values]


def onnx_table() -> None:
    print("| model | plain, 1 thread | traced, 1 thread | 2 threads | MB plain | MB traced "
          "| process plain | process traced |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (path, shapes) in models(Path(folder)).items():
            if path is None:
                print(f"| {name} | not installed | | | | |")
                continue
            cells = []
            for threads in (1, 2):
                setting = Setting(path, shapes, threads)
                clock = time.process_time if threads == 1 else time.perf_counter
                plain, traced = in_turns(RUNS, setting.plain(), setting.traced(), clock=clock)
                cells += [f"{plain * 1e3:.2f} ms", f"{traced / plain:.2f}"]
            del cells[2]
            cells += memories(path, shapes)
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def command(*words: str) -> None:
    """Prints seconds of CPU and the most resident MB of a command, which finds nothing.

    In a process of its own: Linux counts the memory of the process that starts the command.
    """
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{words}: exit status {child.returncode}")
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measured(words: list[str]) -> tuple[float, float]:
    """The least of three runs of a command."""

    def once() -> tuple[float, float]:
        whole = [sys.executable, __file__, "command", *words]
        done = subprocess.run(whole, check=True, stdout=subprocess.PIPE, text=True)
        seconds, megabytes = done.stdout.split()
        return float(seconds), float(megabytes)

    return min(once() for _ in range(3))


def commands_table() -> None:
    """CPU time and memory of whole commands."""
    print("| model | nonfinite trace | polygraphy run | nonfinite MB | polygraphy MB |")
    print("|---|---|---|---|---|")
    bin = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        for name, (path, shapes) in models(Path(folder)).items():
            if path is None or name == "silero-vad":
                continue  # silero-vad needs a rate, which random inputs do not have
            ours = [str(bin / "nonfinite"), "trace", str(path), "--full"]
            theirs = [str(bin / "polygraphy"), "run", str(path), "--onnxrt", "--validate"]
            theirs += ["--onnx-outputs", "mark", "all", "--input-shapes"]
            for key, shape in shapes.items():
                sizes = ",".join(map(str, shape))
                ours += ["--shape", f"{key}={sizes}"]
                theirs.append(f"{key}:[{sizes}]")
            if not shapes:
                theirs.remove("--input-shapes")
            (a, mb_a), (b, mb_b) = measured(ours), measured(theirs)
            print(f"| {name} | {a:.2f} s | {b:.2f} s | {mb_a:.0f} | {mb_b:.0f} |", flush=True)


def ratios(times: dict[str, list[float]]) -> list[str]:
    """The median of the first one in ms. Of the others: the time divided by that of the first one
    in the same round; the median over the rounds, and the standard error of the median."""
    first, *others = times.values()
    cells = [f"{statistics.median(first) * 1e3:.1f} ms"]
    for other in others:
        pairs = [a / b for a, b in zip(other, first, strict=True)]
        # Of normal values. The rounds have outliers, which make it larger.
        error = 1.25 * statistics.stdev(pairs) / len(pairs) ** 0.5
        cells.append(f"{statistics.median(pairs):.3f} ± {error:.3f}")
    return cells


def torch_table(rounds: int = RUNS, *words: str) -> None:
    """A transformer of 4 layers, width 256, 8 x 128 tokens, one thread.

    Each round enters every context and measures one step, in an order that turns: a training enters
    a watch once. What entering and leaving take is printed below the table.
    """
    from contextlib import nullcontext

    import torch
    from torch import nn

    from nonfinite.torch import watch

    torch.set_num_threads(1)
    # In eval mode torch runs another, fused operation if no module has hooks.
    torch.backends.mha.set_fastpath_enabled(False)
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    x = torch.randn(8, 128, 256)

    class Hooks:
        """What users write: isfinite().all() behind each module."""

        def __enter__(self) -> None:
            def hook(_: Any, args: Any, output: Any) -> None:
                for each in output if isinstance(output, tuple) else (output,):
                    if each is not None and not torch.isfinite(each).all():
                        raise ArithmeticError

            self.handles = [each.register_forward_hook(hook) for each in model.modules()]

        def __exit__(self, *_: Any) -> None:
            for each in self.handles:
                each.remove()

    def hooked() -> Any:
        """A copy of the model, as the hooks of transformers stay."""
        from transformers.debug_utils import DebugUnderflowOverflow

        copied = copy.deepcopy(model)
        DebugUnderflowOverflow(copied)
        return copied

    def forward(model: Any) -> None:
        with torch.no_grad():
            model(x)

    def training(kind: str, model: Any) -> None:
        optimizer = optimizers[kind, model]
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    contexts: dict[str, Callable[[], Any]] = {
        "plain": nullcontext,
        "plain again": nullcontext,
        "watch": lambda: watch(model),
        "watch(backward=False)": lambda: watch(model, backward=False),
        "watch(operations=True)": lambda: watch(model, operations=True),
        "hooks with isfinite().all()": Hooks,
        "torch.autograd.detect_anomaly": torch.autograd.detect_anomaly,
        "transformers' DebugUnderflowOverflow": nullcontext,
    }
    if words:
        kept = [name for name in contexts if name.startswith(words)]
        contexts = {name: contexts[name] for name in dict.fromkeys(["plain", *kept])}
    of_transformers = [name for name in contexts if name.startswith("transformers")]
    subjects = {name: hooked() if name in of_transformers else model for name in contexts}
    kinds = {"SGD": torch.optim.SGD, "AdamW": torch.optim.AdamW}
    optimizers = {
        (kind, each): make(each.parameters(), lr=1e-6)
        for kind, make in kinds.items()
        for each in set(subjects.values())
    }

    columns = []
    for work in (forward, *(partial(training, kind) for kind in kinds)):
        times: dict[str, list[float]] = {name: [] for name in contexts}
        names = list(contexts)
        for _ in range(rounds):
            names.append(names.pop(0))
            for name in names:
                subject = subjects[name]
                subject.train(work is not forward)
                with contexts[name]():
                    start = time.process_time()
                    work(subject)
                    times[name].append(time.process_time() - start)
        columns.append(ratios(times))
    print("| | forward | training step, SGD | training step, AdamW |\n|---|---|---|---|")
    for name, *cells in zip(contexts, *columns, strict=True):
        print(f"| {name} | {' | '.join(cells)} |")
    entering = []
    for _ in range(RUNS):
        start = time.process_time()
        with watch(model):
            pass
        entering.append(time.process_time() - start)
    print(f"entering and leaving watch: {statistics.median(entering) * 1e3:.1f} ms")


if __name__ == "__main__":
    if sys.argv[1] == "memory":
        memory(*sys.argv[2:])
    elif sys.argv[1] == "command":
        command(*sys.argv[2:])
    else:
        print(cpu())
        if sys.argv[1] == "torch":
            torch_table(*map(int, sys.argv[2:3]), *sys.argv[3:])
        else:
            {"onnx": onnx_table, "commands": commands_table}[sys.argv[1]]()
