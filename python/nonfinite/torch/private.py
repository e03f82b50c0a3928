# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""All names of torch on which a watch rests and which are not public: a new torch may lose them.
Then the import of `nonfinite.torch` says which one is lost."""

import sys
from operator import attrgetter, methodcaller
from types import CodeType
from typing import Any

import torch

NAMES: list[str] = []
"""The names in the modules and classes of torch: those that `_private` was asked for."""

ATTRIBUTES = {
    "Module": (
        "_parameters", "_buffers", "_compiled_call_impl", "_forward_pre_hooks",
        "_forward_pre_hooks_with_kwargs", "_forward_hooks", "_forward_hooks_with_kwargs",
        "_forward_hooks_always_called",
    ),
    "Tensor": ("_version", "_backward_hooks"),
    "OpOverload": ("_schema",),
    "OptimizedModule": ("_orig_mod",),
    "GradScaler": ("_scale",),
    "TorchDispatchMode": ("_should_skip_dynamo", "ignore_compile_internals"),
}  # fmt: skip
"""The names in objects of these classes."""


def of_torch(path: str, root: Any) -> Any:
    """What torch calls `path`. Raises ImportError if this torch has no such name."""
    found = root
    for name in path.split("."):
        if not hasattr(found, name):
            has = f"torch {torch.__version__} has no torch.{path}"
            raise ImportError(f"{has}, on which nonfinite.torch.watch rests")
        found = getattr(found, name)
    return found


def _private(path: str) -> Any:
    NAMES.append(path)
    return of_torch(path, torch)


# Autograd.
current_node = _private("_C._current_autograd_node")
_autograd: Any = torch.autograd
_private("autograd._engine_run_backward")


def run_backward() -> Any:
    """The function that begins a backward pass."""
    return _autograd._engine_run_backward


def set_run_backward(function: Any) -> None:
    """Replaces the function that begins a backward pass."""
    _autograd._engine_run_backward = function


_traceback = _private("fx.traceback")
_private("fx.traceback.format_stack")
keeps_stacks = _private("fx.traceback.has_preserved_node_meta")
"""Whether torch.compile traces, and keeps the stack of each operation."""
STACK = "traceback_"
"""Where the metadata of a node has what `format_stack` has returned in anomaly mode."""


def set_format_stack(function: Any) -> Any:
    """Replaces what autograd calls for each node in anomaly mode. Returns what was there."""
    before, _traceback.format_stack = _traceback.format_stack, function
    return before


def saved(node: Any) -> list[tuple[str, torch.Tensor]]:
    """What a forward operation has kept for backward. Empty if it is gone."""
    found = []
    for name in filter(methodcaller("startswith", "_saved_"), dir(node)):
        try:
            # To unpack runs a hook of the program: a checkpoint would compute its part again.
            if getattr(getattr(node, f"_raw{name}", None), "unpack_hook", None) is not None:
                continue
            value = getattr(node, name)
        except RuntimeError:
            continue
        if isinstance(value, torch.Tensor):
            found.append((name.removeprefix("_saved_"), value))
    return found


def exponent(node: Any) -> float | None:
    """The exponent of a power, if that is a number."""
    value = node._saved_exponent if node.name() == "PowBackward0" else None
    return value if isinstance(value, (int, float)) else None


# Dispatch.
TorchDispatchMode = _private("utils._python_dispatch.TorchDispatchMode")
modes = _private("utils._python_dispatch._get_current_dispatch_mode_stack")
modes_on = _private("_C._len_torch_dispatch_stack")
"""How many modes are on the stack."""
without_modes = _private("utils._python_dispatch._disable_current_modes")
"""Sets all modes aside for a while."""
OpOverload = _private("_ops.OpOverload")
schema = attrgetter("_schema")
"""The schema of an OpOverload."""
transform = _private("_C._functorch.peek_interpreter_stack")
"""The transform that runs, such as torch.vmap, or None."""
is_batched = _private("_C._functorch.is_legacy_batchedtensor")

# Tensors and modules.
StorageWeakRef = _private("multiprocessing.reductions.StorageWeakRef")
version = attrgetter("_version")
"""How often a tensor was changed in place."""
hooks_of = attrgetter("_backward_hooks")
"""The hooks on the gradient of a tensor."""
CALL: CodeType = _private("nn.Module._wrapped_call_impl").__code__
"""The code that calls a module."""
HOOKS = ATTRIBUTES["Module"][3:]
"""Where a module has its hooks."""

buffers_of = attrgetter("_buffers")
compiled_call = attrgetter("_compiled_call_impl")
"""What a module calls in place of its `forward`. None in a module that is not compiled."""
ORIGINAL = "_orig_mod"
"""Where an OptimizedModule has the module that torch.compile got."""
scale_of = attrgetter("_scale")
"""The scale of a GradScaler, as a tensor. None before the first use."""


def set_compiled_call(module: torch.nn.Module, call: Any) -> None:
    """Replaces the compiled code of a module."""
    module._compiled_call_impl = call


def dynamo_is_loaded() -> bool:
    """Whether the program has loaded Dynamo, which takes a second and 150 MB."""
    return "torch._dynamo" in sys.modules


def skip(code: CodeType) -> None:
    """Tells Dynamo, which must be loaded, not to compile code."""
    torch._dynamo.eval_frame.skip_code(code)


# Before torch 2.6: whether Dynamo is loaded.
callback = getattr(
    torch._C._dynamo.eval_frame, "get_eval_frame_callback", lambda: dynamo_is_loaded() or None
)
"""What Dynamo does with the next frame. None: nothing."""
