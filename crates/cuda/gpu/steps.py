"""The part of measure.py that trains a model: with a guard, in `nonfinite.torch.watch`, bare."""

import contextlib
import importlib
import math
from collections.abc import Callable
from typing import Any

# `watch` may make a step of training so many times as long.
BOUND = 1.02
# Steps of one round.
STEPS = 10


class Steps:
    """Steps of training. `time`, `table` and the rest are those of a measurement."""

    torch: Any
    cuda: Any
    table: Any
    device: Any
    shrink: int
    time: Callable[..., float]

    def model(self) -> tuple[Any, Any]:
        """Six layers of a transformer in bfloat16, and an input."""
        torch = self.torch
        width, batch = (1024, 8) if self.shrink == 1 else (64, 2)
        layer = torch.nn.TransformerEncoderLayer(width, 16, 4 * width, batch_first=True)
        model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
        x = torch.randn(batch, 512 if self.shrink == 1 else 16, width)
        return model.to(self.device, torch.bfloat16), x.to(self.device, torch.bfloat16)

    def compare(self, bare: Callable[[], None], other: Callable[[], None]) -> tuple[float, float]:
        """Microseconds of a step, and how many times as long the other step takes. Steps follow one
        another, as in a training, and the host may be ahead of the device."""
        times = [self.time(call, STEPS, ahead=False) for call in (bare, other, bare, other)]
        return times[0], (times[1] + times[3]) / (times[0] + times[2])

    def training(self) -> None:
        """A step of training with a guard of all gradients, and without."""
        torch = self.torch
        model, x = self.model()

        def step() -> None:
            model(x).float().square().mean().backward()

        step()
        gradients = {name: each.grad for name, each in model.named_parameters()}
        guard = self.cuda.Guard(gradients)

        def bare() -> None:
            torch._foreach_zero_(list(gradients.values()))
            step()

        def guarded() -> None:
            bare()
            guard.launch()

        time, factor = self.compare(bare, guarded)
        self.table.notes.append(
            f"A training step of six transformer layers, {tuple(x.shape)}: {time:.0f} us; with a "
            f"guard of its {len(gradients)} gradients {factor:.3f} times as long."
        )

    def watched(self) -> None:
        """A step of training in `watch`, and without: time, memory, waits, findings."""
        try:
            watch = importlib.import_module("nonfinite.torch").watch
        except ImportError as error:
            self.table.notes.append(f"`watch` was not tried: {error}")
            return
        torch = self.torch
        model, x = self.model()

        def step() -> None:
            for each in model.parameters():
                each.grad = None
            model(x).float().square().mean().backward()

        def memory() -> float:
            torch.cuda.reset_peak_memory_stats()
            step()
            torch.cuda.synchronize()
            return float(torch.cuda.max_memory_allocated())

        inside = contextlib.ExitStack()

        def enter() -> None:
            inside.enter_context(watch(model))
            step()

        def measured(call: Callable[[], Any]) -> tuple[Any, Any]:
            step()
            bare = call()
            enter()
            try:
                return bare, call()
            finally:
                inside.close()

        bare, own = measured(memory)
        rounds = [measured(lambda: self.time(step, STEPS, ahead=False)) for _ in range(2)]
        factor = sum(each[1] for each in rounds) / sum(each[0] for each in rounds)
        self.table.notes.append(
            f"`watch` of the six layers: a training step takes {rounds[0][0]:.0f} us without, and "
            f"{factor:.3f} times as long with `watch`; the bound {BOUND} is "
            f"{'reached' if factor <= BOUND else 'MISSED'}. Most memory: {own / bare:.3f} times."
        )

        # A wait for the device in forward would be an error here.
        enter()
        torch.cuda.set_sync_debug_mode("error")
        try:
            loss = model(x).float().square().mean()
            waits = None
        except RuntimeError as error:
            waits = error
        finally:
            torch.cuda.set_sync_debug_mode("default")
        if waits is None:
            loss.backward()
        inside.close()
        self.table.require(waits is None, f"forward in `watch` waits for nothing: {waits}")

        with watch(model, on_bad="record") as found:
            step()
            found.step()
            with torch.no_grad():
                model.layers[3].linear1.weight[5, 7] = math.nan
            step()
        first = found.first
        self.table.require(
            first is not None and (first.step, first.module) == (1, "layers.3.linear1")
            and first.parameter == "layers.3.linear1.weight",
            f"`watch` names a bad weight: {first}",
        )  # fmt: skip
        root = torch.nn.Linear(8, 8).to(self.device)
        with watch(root, on_bad="record") as found:
            (root(torch.ones(4, 8, device=self.device)) * 0).sqrt().sum().backward()
        first = found.first
        self.table.require(
            first is not None and (first.phase, first.operator) == ("backward", "SqrtBackward0"),
            f"`watch` names the bad gradient of a loss: {first}",
        )
