# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Questions about tensors of torch on a GPU, by operations of torch there. For the native module,
which has found that the tensor is not in the memory of the CPU."""

from typing import Any

import torch
from torch import Tensor

_HOLDS = {
    "nan": torch.isnan,
    "inf": torch.isinf,
    "+inf": torch.isposinf,
    "-inf": torch.isneginf,
    "finite": torch.isfinite,
    "non-finite": lambda x: ~x.isfinite(),
    "nan or +inf": lambda x: x.isnan() | x.isposinf(),
    "never": lambda x: torch.zeros_like(x, dtype=torch.bool),
}
_FP4 = getattr(torch, "float4_e2m1fn_x2", None)


def answer(x: Tensor, question: str, predicate: str) -> Any:
    """What the mask of a predicate answers to a question: "any", "all" or "count_nonzero". Waits
    for the device. None about a tensor for which the message of the native module says more."""
    return None if x.is_cpu or x.is_meta else ask(x, question, predicate)


def ask(x: Tensor, question: str, predicate: str) -> Any:
    """As `answer`, on any device."""
    # Other subclasses, such as DTensor, may have no memory of their own.
    if type(x) not in (Tensor, torch.nn.Parameter) or x.layout is not torch.strided:
        return None
    if x.is_nested or x.is_complex() or x.is_quantized or x.dtype is _FP4:
        return None
    # Torch computes little with formats of 8 bits. As f32 each number keeps its class.
    numbers = x.float() if x.is_floating_point() and x.itemsize == 1 else x
    return getattr(_HOLDS[predicate](numbers.detach()), question)().item()
