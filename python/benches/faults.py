"""Each seeded fault, looked for by nonfinite and its peers: what they name, the time and memory.

    python benches/faults.py [onnx] [torch] [losses] [--rounds N] [--only NAME]

Prints Markdown. Needs the packages of requirements-test.txt and the wheel of engines/onnxruntime.
The peers are polygraphy and transformers (`pip install polygraphy transformers`); where one is not
installed, its cells say so.

The faults are those of tests/onnx_faults.py and tests/torch_faults.py. Each is part of a model that
also has a transformer with finite values, so that there is some work: 4 layers, width 256, 256
tokens (ONNX) or 4 x 128 tokens (torch). In torch the transformer runs before the fault.

Each cell comes from processes of its own, forked from one that has imported all packages, with one
thread. Such a process makes the model, runs it twice to warm up, and then runs the tool `REPEATS`
times. Time is CPU time, as other programs may run: from the file, or from the model of torch, until
the tool has ended or raised its error. A plain run raises none, and runs to its end: torch through
forward and backward. Memory is the most resident memory of the first run of the tool, less that
before. The tools take turns for `--rounds` processes each. The tables have medians.
"""

import argparse
import ctypes
import multiprocessing
import re
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import compose
from torch import nn

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1] / "tests"), str(HERE.parent)]

import onnx_faults  # noqa: E402
import losses  # noqa: E402
import torch_faults  # noqa: E402
import torch_tools  # noqa: E402
from torch_tools import NOTHING, Answer, in_words, printed  # noqa: E402
from trace import cpu, resident, transformer  # noqa: E402

from nonfinite.trace.onnx import trace_onnx  # noqa: E402

try:
    from polygraphy import constants
    from polygraphy.backend.onnx import ModifyOutputs, OnnxFromPath
    from polygraphy.backend.onnxrt import OnnxrtRunner
    from polygraphy.comparator import Comparator
except ImportError:
    OnnxrtRunner = None
REPEATS = 3
WIDTH, LAYERS = 256, 4


@dataclass
class Cell:
    """One tool on one fault."""

    answer: Answer
    seconds: float
    megabytes: float

    def cost(self) -> str:
        return f"{self.seconds * 1e3:.0f} ms, {self.megabytes:.1f} MB"


Tool = Callable[[], Answer]


def measured(tool: Tool) -> Cell:
    """Runs a tool `REPEATS` times in this process."""
    # Free memory goes back to the system, and the peak begins anew.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before, seconds = resident(), []
    for _ in range(REPEATS):
        start = time.process_time()
        answer = tool()
        seconds.append(time.process_time() - start)
        if len(seconds) == 1:
            megabytes = resident("VmHWM") - before
    return Cell(answer, statistics.median(seconds), megabytes)


def in_child(make: Callable[[], Tool]) -> Cell:
    """Measures a tool in a process of its own."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def child() -> None:
        try:
            sender.send(measured(make()))
        except BaseException:
            sender.send(traceback.format_exc())

    process = context.Process(target=child)
    process.start()
    sender.close()
    try:
        found = receiver.recv()
    except EOFError:
        found = "the process ended without an answer"
    process.join()
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


def in_turns(fault: str, tools: dict[str, Callable[[], Tool]], rounds: int) -> dict[str, Cell]:
    """The medians of processes of each tool."""
    cells: dict[str, list[Cell]] = {name: [] for name in tools}
    for _ in range(rounds):
        for name, make in tools.items():
            cells[name].append(in_child(make))
    found = {}
    for name, kept in cells.items():
        seconds = statistics.median(each.seconds for each in kept)
        megabytes = statistics.median(each.megabytes for each in kept)
        found[name] = Cell(kept[0].answer, seconds, megabytes)
    progress = "; ".join(f"{name} {each.answer}, {each.cost()}" for name, each in found.items())
    print(f"{fault}: {progress}", file=sys.stderr, flush=True)
    return found


# ONNX.


@dataclass
class OnnxFault:
    """A case of tests/onnx_faults.py beside a transformer, in a file."""

    case: onnx_faults.Case
    path: Path
    inputs: dict[str, Any]

    def options(self) -> onnxruntime.SessionOptions:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        return options

    def session(self, model: str | bytes) -> onnxruntime.InferenceSession:
        return onnxruntime.InferenceSession(
            model, self.options(), providers=["CPUExecutionProvider"]
        )

    def feeds(self) -> dict[str, Any]:
        return {name: np.asarray(array) for name, array in self.inputs.items()}

    def plain(self) -> Answer:
        """One run of the model."""
        self.session(str(self.path)).run(None, self.feeds())
        return Answer("", None)

    def nonfinite(self) -> Answer:
        report = trace_onnx(self.path, self.inputs, threads=1)
        first, case = report.first, self.case
        if first is None:
            return Answer(NOTHING, False)
        where = f" in {first.graph}, call {first.call}" if first.graph else ""
        right = (first.node, first.kind, first.graph, first.call) == (
            case.node, case.kind, case.graph, case.call,
        )  # fmt: skip
        return Answer(f"{first.node} ({first.operator}){where}", right)

    def polygraphy(self) -> Answer:
        """What `polygraphy run --onnxrt --onnx-outputs mark all --validate` does, with one thread.

        All tensors become outputs, and each is said to pass or to fail, in the order of the nodes.
        The first one that fails is taken for the answer.
        """
        with printed() as text:
            try:
                marked = ModifyOutputs(OnnxFromPath(str(self.path)), constants.MARK_ALL)()
                runner = OnnxrtRunner(partial(self.session, marked.SerializeToString()))
                results = Comparator.run([runner], data_loader=[self.feeds()])
                Comparator.validate(results, check_nan=True, check_inf=True)
            except Exception as error:
                return Answer(in_words(error), False)
        failed = re.search(r"Errors detected in output: (\S+)", text.getvalue())
        if failed is None:
            return Answer(NOTHING, False)
        [node] = [each for each in marked.graph.node if failed[1] in each.output]
        return Answer(f"{node.name} ({node.op_type})", node.name == self.case.node)


def onnx_fault(
    make: Callable[[], onnx_faults.Case], beside: onnx.ModelProto, folder: Path
) -> OnnxFault:
    """Writes the model of a case with a transformer beside."""
    case = make()
    # polygraphy takes an input without a shape for a scalar.
    for value in case.model.graph.input:
        kind = value.type.tensor_type
        if not kind.HasField("shape"):
            for length in np.shape(case.inputs[value.name]):
                kind.shape.dim.add().dim_value = length
    case.model.graph.MergeFrom(beside.graph)
    path = folder / "fault.onnx"
    onnx.save(case.model, str(path))
    x = np.random.default_rng(0).standard_normal((1, 256, WIDTH), np.float32)
    return OnnxFault(case, path, case.inputs | {"beside/x": x})


def onnx_tools(fault: OnnxFault) -> dict[str, Callable[[], Tool]]:
    def warm(tool: Tool) -> Tool:
        for _ in range(2):
            fault.plain()
        return tool

    tools: dict[str, Tool] = {"plain": fault.plain, "nonfinite": fault.nonfinite}
    if OnnxrtRunner is not None:
        tools["polygraphy"] = fault.polygraphy
    return {name: partial(warm, tool) for name, tool in tools.items()}


def onnx_rows(rounds: int, only: str) -> Iterator[tuple[str, dict[str, Cell]]]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        beside = onnx.load(str(transformer(folder, WIDTH, LAYERS)))
        beside = compose.add_prefix(beside, "beside/")
        for make in onnx_faults.CASES:
            name = make.__name__.replace("_", " ")
            if only in name:
                yield name, in_turns(name, onnx_tools(onnx_fault(make, beside, folder)), rounds)


# torch.


class Beside(nn.Module):
    """A model with a fault, and a transformer without one, which runs first in both directions."""

    def __init__(self, fault: torch_faults.Fault) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True)
        self.beside = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.register_buffer("tokens", torch.randn(4, 128, WIDTH))
        self.fault, self.x = fault.make()
        self.fault_is_first = fault.phase == "backward"

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        # Backward begins with the part that ran last.
        if self.fault_is_first:
            return self.fault(x), self.beside(self.tokens)
        other = self.beside(self.tokens)
        return self.fault(x), other


@dataclass
class TorchFault:
    """A fault of tests/torch_faults.py beside a transformer."""

    fault: torch_faults.Fault
    model: Beside

    def plain(self) -> Answer:
        """A step without the optimizer."""
        self.model.zero_grad()
        y, other = self.model(self.model.x)
        gradients = [torch.full_like(y, self.fault.gradient), torch.ones_like(other)]
        torch.autograd.backward([y, other], gradients)
        return Answer("", None)

    def nonfinite(self) -> Answer:
        found, fault = torch_tools.nonfinite(self.model, self.plain), self.fault
        if found is None:
            return Answer(NOTHING, False)
        place = (found.file, found.line) == (str(torch_faults.SOURCE), fault.line)
        said, parameter = f"{found.operator}, line {found.line}", fault.parameter
        if parameter is not None:
            said = f"{found.operator}, {found.parameter}"
            parameter = parameter if parameter.startswith("input") else f"fault.{parameter}"
            place = found.parameter == parameter
        right = place and (found.kind, found.phase) == (fault.kind, fault.phase)
        right = right and found.operator.startswith(fault.operator)
        return Answer(said, right and found.module == f"fault.{fault.module}".rstrip("."))

    def place(self) -> tuple[str, int | None]:
        return str(torch_faults.SOURCE), self.fault.line

    def detect_anomaly(self) -> Answer:
        return torch_tools.detect_anomaly(self.plain, self.place())

    def transformers(self) -> Answer:
        module = f"fault.{self.fault.module}".rstrip(".")
        return torch_tools.transformers(self.model, self.plain, module)


def tools_of_torch(fault: torch_faults.Fault) -> dict[str, Callable[[], Tool]]:
    def warm(name: str) -> Tool:
        torch.manual_seed(0)
        made = TorchFault(fault, Beside(fault))
        for _ in range(2):
            made.plain()
        made.model.zero_grad()
        return getattr(made, name)

    names = ["plain", "nonfinite", "detect_anomaly", "transformers"]
    if torch_tools.DebugUnderflowOverflow is None:
        names.remove("transformers")
    return {name: partial(warm, name) for name in names}


def torch_rows(rounds: int, only: str) -> Iterator[tuple[str, dict[str, Cell]]]:
    torch.set_num_threads(1)
    for fault in torch_faults.faults():
        if only in fault.name:
            yield fault.name, in_turns(fault.name, tools_of_torch(fault), rounds)


# Both.


def tables(rows: list[tuple[str, dict[str, Cell]]], tools: list[str]) -> None:
    """What is named, and what it takes. The last rows count and have the medians."""
    print(f"\n| fault | {' | '.join(tools[1:])} |\n|---|{'---|' * len(tools[1:])}")
    for name, cells in rows:
        said = [str(cells[tool].answer) if tool in cells else "not installed" for tool in tools[1:]]
        print(f"| {name} | {' | '.join(said)} |")
    print(f"\n| fault | {' | '.join(tools)} |\n|---|{'---|' * len(tools)}")
    for name, cells in rows:
        costs = [cells[tool].cost() if tool in cells else "not installed" for tool in tools]
        print(f"| {name} | {' | '.join(costs)} |")
    summary = []
    for tool in tools:
        found = [(cells[tool], cells["plain"]) for _, cells in rows if tool in cells]
        if not found:
            continue
        ratio = statistics.median(cell.seconds / plain.seconds for cell, plain in found)
        more = statistics.median(cell.megabytes - plain.megabytes for cell, plain in found)
        named = sum(cell.answer.right is True for cell, _ in found)
        line = f"{tool}: names {named} of {len(found)}, {ratio:.2f} of the time of plain"
        summary.append(f"{line}, {more:+.1f} MB")
    print("\nMedians over the faults (memory: more than plain):\n")
    print("\n".join(f"- {each}" for each in summary[1:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="onnx|torch|losses")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="part of the name of a fault")
    options = parser.parse_args()
    print(f"{cpu()}; torch {torch.__version__}, onnxruntime {onnxruntime.__version__}")
    if "onnx" in (options.parts or ["onnx"]):
        rows = list(onnx_rows(options.rounds, options.only))
        tables(rows, ["plain", "nonfinite", "polygraphy"])
    if "torch" in (options.parts or ["torch"]):
        rows = list(torch_rows(options.rounds, options.only))
        tables(rows, ["plain", "nonfinite", "detect_anomaly", "transformers"])
    if "losses" in (options.parts or ["losses"]):
        losses.table(options.only)


if __name__ == "__main__":
    main()
