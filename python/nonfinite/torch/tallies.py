# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Looks at tensors on CUDA devices by the kernels of `nonfinite.cuda`, without waiting."""

import warnings
from functools import cache

import torch
from torch import Tensor
from torch.nn import Parameter

from nonfinite import cuda
from nonfinite._driver import CudaError, kernels
from nonfinite.trace.results import Look

# Tensors for which memory is taken at once: 48 KiB.
_MANY = 1024


@cache
def _works(device: int) -> bool:
    """Whether the kernels can be loaded. If not, torch is asked, after one warning."""
    if torch.version.hip:
        return False
    try:
        kernels(device)
    except CudaError as error:
        text = f"nonfinite looks at tensors on CUDA devices by operations of torch: {error}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return False
    return True


def elements(numbers: Tensor) -> int | None:
    """How many elements the kernels would look at. None if they cannot: the tensor is not on a CUDA
    device, has gaps between the elements, or may have no memory of its own."""
    if numbers.device.type != cuda._DEVICE or type(numbers) not in (Tensor, Parameter):
        return None
    if numbers.is_neg() or str(numbers.dtype).removeprefix("torch.") not in cuda._FORMATS:
        return None
    return cuda._cover(numbers) if _works(numbers.device.index) else None


class DeviceTallies:
    """Tensors that are looked at one after the other on one stream of a device: the current one.

    Each launch has a tally of its own on the device, and writes there only if an element is bad.
    Everything here is in the order of the stream: zeros, launches, answers. A tensor may be let go
    as soon as its launch is under way: the allocator of torch gives memory of a stream only to
    later operations of the same stream, and a program that uses a tensor on several streams must
    have made these wait for each other, or have called `record_stream`.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.current_stream(device)
        self._blocks: list[Tensor] = []
        self._asked: list[tuple[str, tuple[int, ...], tuple[int, ...], int]] = []

    def ask(self, numbers: Tensor, count: int) -> int:
        """Looks at the `elements` of a tensor. Returns the number of the question."""
        block, at = divmod(len(self._asked), _MANY)
        if block == len(self._blocks):
            # In inference mode they could not be set to 0 again later.
            with torch.inference_mode(False):
                zeros = torch.zeros(_MANY, cuda._TALLY, dtype=torch.int64, device=self._device)
            self._blocks.append(zeros)
        address = self._blocks[block].data_ptr() + 8 * cuda._TALLY * at
        cuda._launch_one(numbers, count, address)
        kind = str(numbers.dtype).removeprefix("torch.")
        self._asked.append((kind, tuple(numbers.shape), numbers.stride(), count))
        return len(self._asked) - 1

    def answers(self) -> dict[int, Look]:
        """What the bad tensors hold, by the numbers of the questions. Waits for the stream."""
        with torch.cuda.stream(self._stream):
            used = self._blocks[: -(-len(self._asked) // _MANY)]
            if not used or not bool(torch.stack(used).any()):
                self._asked.clear()
                return {}
            tallies = torch.cat(used)[: len(self._asked)].tolist()
        bad = {number: tally for number, tally in enumerate(tallies) if any(tally[:3])}
        found = {number: _look(tally, *self._asked[number]) for number, tally in bad.items()}
        self.forget()
        return found

    def forget(self) -> None:
        """Drops all questions. Waits for nothing."""
        with torch.cuda.stream(self._stream):
            for block in self._blocks[: -(-len(self._asked) // _MANY)]:
                block.zero_()
        self._asked.clear()


def _look(
    tally: list[int], kind: str, shape: tuple[int, ...], strides: tuple[int, ...], count: int
) -> Look:
    """From a tally. `first` is the first in the order of memory."""
    size = 1
    for each in shape:
        size *= each
    # Elements that are in memory once.
    times = size // count
    index = min(~word & cuda._ALL for n, word in zip(tally[:3], tally[3:], strict=True) if n)
    first = 0
    for position, length in zip(cuda._index_of(index, strides, shape), shape, strict=True):
        first = first * length + position
    nan, pos_inf, neg_inf = (times * each for each in tally[:3])
    return Look(
        "", kind, shape, size, nan, pos_inf, neg_inf, 0, first, None, None, None,
        torch.finfo(getattr(torch, kind)).max,
    )  # fmt: skip


def census(numbers: Tensor, count: int) -> list[int]:
    """Three counts: NaN, +Inf, -Inf of these elements. Waits for the answer."""
    return cuda._counted(numbers, count)[:3]
