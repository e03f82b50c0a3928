"""Losses with one fault each, outside of the model. The line of each fault ends with
`# fault: NAME`, as in `torch_faults`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel
from torch_faults import INF

SOURCE = Path(__file__)


def log_of_a_difference(y):
    return torch.log(y - 100).mean()  # fault: difference


def squared_error(y):
    error = y * 1e25
    return (error**2).mean()  # fault: squares


def rows_without_a_score(y):
    scores = y.masked_fill(y < 1e9, -INF)  # fault: rows
    return -scores.logsumexp(-1).mean()


def overflow_beside_a_mask(y):
    logits = (y * 0 + 100).masked_fill(torch.eye(3, 4) > 0, -INF)
    return logits.exp().sum()  # fault: beside a mask


def parts_of_a_tensor(y):
    parts = torch.zeros(3)
    parts[0] = (y[0, 0] - 1e9).log()  # fault: parts
    parts[1] = y[1, 0]
    return parts.mean()


@dataclass
class Scenario:
    """Training with one fault outside of the modules, and what a watch must say."""

    name: str
    make: Callable[[], tuple[nn.Module, Callable[[], None]]]
    """The model, and a function that trains it."""
    fault: str
    operator: str
    """The begin of the name of the operation."""
    kind: str = "origin"
    module: str | None = None


def small():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))


def of_loss(loss):
    """One step with a loss of the model's output."""

    def make():
        torch.manual_seed(0)
        model, x = small(), torch.randn(3, 4)
        return model, lambda: loss(model(x)).backward()

    return make


def regression(activation):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(8, 64), activation(), nn.Linear(64, 64), activation(), nn.Linear(64, 1)
    )
    return model, torch.randn(64, 8), torch.randn(64, 1) * 3


def diverging(name):
    """A model, and a function that trains it until the squared error is infinite. The outputs are
    finite in all steps."""
    activation, make = OPTIMIZERS[name]
    model, x, y = regression(activation)
    optimizer = make(model.parameters())

    def train():
        for _ in range(20):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()  # fault: diverges
            loss.backward()
            optimizer.step()

    return model, train


OPTIMIZERS = {
    "SGD": (nn.Tanh, lambda parameters: torch.optim.SGD(parameters, lr=1.0)),
    "Adam": (nn.ReLU, lambda parameters: torch.optim.Adam(parameters, lr=1e10)),
    "AdamW": (nn.Tanh, lambda parameters: torch.optim.AdamW(parameters, lr=1e4)),
}


def accumulated():
    """Gradients of several steps are added up."""
    model, x = small(), torch.ones(3, 4)

    def train():
        for step in range(3):
            (model(x).mean() / (2 - step)).backward()  # fault: accumulated

    return model, train


def summed():
    """Losses of several calls are added up."""
    model, x = small(), torch.ones(3, 4)

    def train():
        losses = []
        for step in range(3):
            losses.append(model(x).mean() / (1 - step))  # fault: summed
        sum(losses).backward()

    return model, train


def temporal_difference():
    """The model is called again, without gradients, before the loss."""
    model, x = small(), torch.ones(3, 4)

    def train():
        now = model(x)
        with torch.no_grad():
            later = model(x + 1)
        ((now - later) / 0).mean().backward()  # fault: temporal difference

    return model, train


class WithLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = small()

    def forward(self, x):
        return {"loss": torch.log(self.model(x) - 100).mean()}  # fault: returned


def returned():
    model = WithLoss()
    return model, lambda: model(torch.ones(3, 4))["loss"].backward()


def data_parallel():
    model = nn.DataParallel(small())

    def train():
        model(torch.ones(3, 4)).sub(100).log().mean().backward()  # fault: data parallel

    return model, train


def average():
    """A copy of the model follows the weights, and is called, too."""
    model, x = small(), torch.ones(3, 4)

    def train():
        copied = AveragedModel(model)
        for step in range(2):
            distance = (model(x) - copied(x).detach()).square().mean()
            (distance / (1 - step)).backward()  # fault: average
            copied.update_parameters(model)

    return model, train


def penalty():
    """The gradient is a part of the loss."""
    model = small()

    def train():
        x = torch.ones(3, 4, requires_grad=True)
        [slope] = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        (slope.norm() - 1e9).log().backward()  # fault: penalty

    return model, train


def compiled():
    model = torch.compile(small(), backend="aot_eager")

    def train():
        model(torch.ones(3, 4)).sub(100).log().mean().backward()  # fault: compiled

    return model, train


SCENARIOS = [
    Scenario("log of a difference", of_loss(log_of_a_difference), "difference",
             "aten.log.default"),
    Scenario("squared error that overflows", of_loss(squared_error), "squares",
             "aten.pow.Tensor_Scalar"),
    Scenario("logsumexp of rows of -Inf", of_loss(rows_without_a_score), "rows",
             "aten.masked_fill.Scalar", "intended"),
    Scenario("exp beside a mask", of_loss(overflow_beside_a_mask), "beside a mask",
             "aten.exp.default"),
    Scenario("parts of a loss in one tensor", of_loss(parts_of_a_tensor), "parts",
             "aten.log.default"),
    # The squares, or their sum.
    *[Scenario(f"diverges with {name}", partial(diverging, name), "diverges", operator)
      for name, operator in zip(OPTIMIZERS, ("aten.mean", "aten.pow", "aten.mean"), strict=True)],
    Scenario("accumulated gradients", accumulated, "accumulated", "aten.div.Tensor"),
    Scenario("sum of losses", summed, "summed", "aten.div.Tensor"),
    Scenario("temporal difference", temporal_difference, "temporal difference", "aten.div.Tensor"),
    Scenario("a model that returns its loss", returned, "returned", "aten.log.default", module=""),
    Scenario("DataParallel on the CPU", data_parallel, "data parallel", "aten.log.default"),
    Scenario("an average of the model", average, "average", "aten.div.Tensor"),
    Scenario("a gradient penalty", penalty, "penalty", "aten.log.default"),
    Scenario("a compiled model", compiled, "compiled", "aten.log.default"),
]  # fmt: skip
