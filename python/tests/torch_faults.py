"""Models of torch with one fault each. The line of each fault ends with `# fault: NAME`."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from nonfinite.torch import BadValueError, watch

SOURCE = Path(__file__)
INF, NAN = math.inf, math.nan
# The options of a watch.
MODES = [{}, {"operations": True}, {"once_a_step": True}]
X = torch.ones(3, 4)


def line_of(name, source=SOURCE):
    lines = source.read_text().splitlines()
    found = [n for n, line in enumerate(lines, 1) if line.endswith(f"# fault: {name}")]
    assert len(found) == 1, name
    return found[0]


def finding_of(model, train, **options):
    torch.manual_seed(0)
    with pytest.raises(BadValueError) as error, watch(model, **options):
        train()
    return error.value.finding


class WithLayer(nn.Module):
    """A model of which only `forward` is missing."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)


class Of(nn.Module):
    """What a function computes."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, *inputs):
        return self.make(*inputs)


class Faulty(nn.Module):
    """A model with a good layer, a faulty block and another good layer."""

    def __init__(self, block, width=4):
        super().__init__()
        self.before, self.block, self.after = nn.Linear(width, width), block, nn.Linear(4, width)

    def forward(self, x):
        return self.after(self.block(self.before(x)))


class MaskedAttention(nn.Module):
    def forward(self, x):
        mask = torch.ones(len(x), len(x), dtype=torch.bool)
        mask[1] = False
        scores = (x @ x.T).masked_fill(~mask, -INF)
        weights = scores.softmax(-1)  # fault: softmax
        return weights @ x


class Logarithm(nn.Module):
    def forward(self, x):
        return torch.log(x - 1e3).tanh()  # fault: log


class HalfScores(nn.Module):
    def forward(self, x):
        half = (x * 0 + 300).half()
        scores = half * half  # fault: half
        return scores.float().softmax(-1)


class Uninitialised(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            buffer = torch.full_like(x, 3e38)
        return x.sign() * 5 * buffer  # fault: buffer


class InPlace(nn.Module):
    def forward(self, x):
        x = x.clone()
        x.abs_()
        x.neg_().sub_(1).sqrt_()  # fault: in place
        return x * 2


class Inner(nn.Module):
    def forward(self, x):
        return torch.reciprocal(x * 0)  # fault: inner


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Identity(), nn.Dropout(0.5), Inner(), nn.ReLU()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return {"x": x}["x"]


class Between(nn.Module):
    """The fault stands between two layers, in code of the parent."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        x = self.one(x)
        x = torch.acos(x.abs() + 2)  # fault: between
        return self.two(x)


class Eight(nn.Module):
    def forward(self, x):
        wide = torch.ones_like(x) * 3e6
        small = wide.to(torch.float8_e5m2)  # fault: fp8
        return small.float()


class Random(nn.Module):
    """Dropout decides whether there is a fault: a replay with other random numbers misses it."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        kept = self.drop(torch.ones_like(x))
        return torch.log(kept[:1, :1]) + x  # fault: random


FAULTS = [
    ("softmax", MaskedAttention, "block", "aten._softmax.default", "NaN from Inf"),
    ("log", Logarithm, "block", "aten.log.default", "origin"),
    ("half", HalfScores, "block", "aten.mul.Tensor", "origin"),
    ("buffer", Uninitialised, "block", "aten.mul.Tensor", "origin"),
    ("in place", InPlace, "block", "aten.sqrt_.default", "origin"),
    ("inner", Outer, "block.layers.2", "aten.reciprocal.default", "origin"),
    ("between", Between, "block", "aten.acos.default", "origin"),
    ("fp8", Eight, "block", "aten._to_copy.default", "origin"),
]


class Root(nn.Module):
    def forward(self, x):
        return torch.sqrt(x * 0)  # fault: sqrt backward


class Norm(nn.Module):
    """The square root has an infinite slope at 0, and 0 times infinity is a NaN."""

    def forward(self, x):
        squares = (x - x.detach()) ** 2
        root = squares.sum(-1).sqrt()  # fault: norm backward
        return x + root[:, None]


class Blocks(nn.Module):
    def __init__(self, block, checkpointed):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4), block, nn.Linear(4, 4)])
        self.checkpointed = checkpointed

    def forward(self, x):
        for block in self.blocks:
            if self.checkpointed:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return x


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(10, 4), nn.Linear(4, 4)

    def forward(self, tokens):
        return self.head(self.embedding(tokens))  # fault: embedding


class Attention(nn.Module):
    """The attention reads the weight of `out_proj`, whose module is never called."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 1, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)[0]  # fault: attention backward


class Tied(nn.Module):
    """The embedding, whose weight is the name of the parameter, has a finite gradient."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.embedding(tokens) * 1e30)  # fault: tied backward


class Recurrent(nn.Module):
    """The first of two calls of a module has a bad gradient, and backward comes to it last."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(4, 4, bias=False)

    def forward(self, x):
        first = self.cell(x * 1e3)  # fault: recurrent backward
        return first * 1e30 + self.cell(x)


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x):
        return self.layers(x)  # fault: learning rate


def train(model, x, rate, steps):
    """Gradient descent of the squared outputs."""
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(x).square().mean()  # fault: squared outputs
        loss.backward()
        optimizer.step()  # fault: optimizer


TOKENS = torch.tensor([1, 2])
ONES = torch.ones(1, 3, 4)
SUSPECTS = [
    ("attention backward", Attention, ONES * 1e10, 3e33, "attention", "Addmm"),
    ("tied backward", Tied, TOKENS, 1e30, "head", "Mm"),
    ("recurrent backward", Recurrent, ONES, 1e8, "cell", "Mm"),
]
