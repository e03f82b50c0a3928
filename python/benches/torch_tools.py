"""What nonfinite and other tools for torch say of a program with a fault. Used by faults.py."""

import contextlib
import io
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.utils._debug_mode import DebugMode

from nonfinite.torch import BadValueError, watch

try:
    from transformers.debug_utils import DebugUnderflowOverflow
except ImportError:
    DebugUnderflowOverflow = None

NOTHING = "finds nothing"
TORCH = str(Path(torch.__file__).parent)
Run = Callable[[], None]
Place = tuple[str, int]


@dataclass
class Answer:
    """What a tool says of a fault, and whether it names the place. None: a plain run."""

    said: str
    right: bool | None

    def __str__(self) -> str:
        return "" if self.right is None else f"{'yes' if self.right else 'no'}: {self.said}"


@contextlib.contextmanager
def printed() -> Iterator[io.StringIO]:
    """What is printed, and the warnings."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            yield text


def in_words(error: Exception) -> str:
    """The first line of an error, for a cell."""
    line = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {line[:80]}".replace("|", "/")


def users_line(trace: str) -> Place:
    """The innermost line of a traceback that is not one of torch."""
    lines = re.findall(r'File "([^"]+)", line (\d+)', trace)
    users = [(file, int(line)) for file, line in lines if not file.startswith(TORCH)]
    return users[-1] if users else ("", 0)


def nonfinite(model: nn.Module, run: Run):
    """The finding of a watch, or None."""
    try:
        with watch(model):
            run()
    except BadValueError as error:
        return error.finding
    return None


def detect_anomaly(run: Run, place: Place) -> Answer:
    """The function of autograd, and the line that the warning has."""
    with printed() as text:
        try:
            with torch.autograd.detect_anomaly():
                run()
        except RuntimeError as error:
            name = re.search(r"Function '(\w+)'", str(error))
            if name is None:
                return Answer(in_words(error), False)
        else:
            return Answer(NOTHING, False)
    found = users_line(text.getvalue())
    return Answer(f"{name[1]}, line {found[1]}", found == place)


def debug_mode(run: Run, place: Place) -> Answer:
    """DebugMode prints no answer. The first operation whose hash is not finite and whose inputs
    have finite hashes is taken for it."""

    def bad(hashes: object) -> bool:
        return any(not math.isfinite(each) for each in torch.utils._pytree.tree_leaves(hashes)
                   if isinstance(each, float))  # fmt: skip

    with printed(), DebugMode(record_stack_trace=True) as mode:
        with DebugMode.log_tensor_hashes("norm", hash_inputs=True):
            try:
                run()
            except RuntimeError as error:
                return Answer(in_words(error), False)
    for call in mode.operators:
        log = getattr(call, "log", None) or {}
        if bad(log.get("hash")) and not bad(log.get("input_hash")):
            trace = call.fwd_stack_trace or call.stack_trace
            found = users_line(trace)
            return Answer(f"{call.op}, line {found[1]}", found == place)
    return Answer(NOTHING, False)


def transformers(model: nn.Module, run: Run, module: str | None) -> Answer:
    """The module whose values are printed last. None: the fault is in no module."""
    with printed() as text:
        try:
            DebugUnderflowOverflow(model)
            run()
        except ValueError:
            pass
        except Exception as error:
            return Answer(in_words(error), False)
        else:
            return Answer(NOTHING, False)
        finally:
            for each in model.modules():
                each._forward_hooks.clear()
    modules = re.findall(r"^ {18}(\S*) (\w+)$", text.getvalue(), re.MULTILINE)
    if not modules:
        return Answer(NOTHING, False)
    path, kind = modules[-1]
    return Answer(f"module {path} ({kind})", path == module)
