"""Training programs whose backward pass has bad gradients inside: healthy ones, in which a later
node stops these, and faulty ones. The line of each fault ends with `# fault: NAME`."""

from functools import partial
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch_faults import INF, NAN, Of

SOURCE = Path(__file__)
ROWS = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]]) > 0


def mlp(*last):
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4), *last)


def dead(y):
    """As the output of a ReLU whose rows are dead: zeros."""
    return F.relu(y - 100)


def masked_softmax(y):
    return y.masked_fill(~ROWS, -INF).softmax(-1)


def masked_mean(y):
    count = ROWS.sum(-1)
    total = y.masked_fill(~ROWS, 0).sum(-1)
    return torch.where(count > 0, total / count, 0)


def mended(y):
    y = y * 1
    y.register_hook(torch.nan_to_num)
    return (y * 0).sqrt()


# A function of the output, by the name of the program.
SHAPES = {
    "sqrt of relu": lambda y: torch.sqrt(dead(y)),
    "power of relu": lambda y: dead(y) ** 0.5,
    "sqrt of clamp": lambda y: (y - 100).clamp(min=0).sqrt(),
    "sqrt of maximum": lambda y: torch.maximum(y - 100, torch.zeros(())).sqrt(),
    "rsqrt of relu": lambda y: (dead(y) + torch.zeros(3, 4)).pow(0.3) * 2,
    "acos of clamp": lambda y: (y * 100).clamp(-1, 1).acos(),
    "asin of hardtanh": lambda y: F.hardtanh(y * 100).asin(),
    "masked mean": masked_mean,
    "nan_to_num of softmax": lambda y: masked_softmax(y).nan_to_num(),
    "softmax without masked rows": lambda y: masked_softmax(y)[[0, 2]],
    "where around softmax": lambda y: torch.where(ROWS.any(-1, True), masked_softmax(y), 0),
    "norm of masked": lambda y: y.masked_fill(torch.ones(3, 4) > 0, 0).square().sum(-1).sqrt(),
    "log of kept": lambda y: torch.where(y > 100, (y - 100).clamp(min=0), 1).log(),
    "a hook that mends": mended,
}


def x():
    return torch.randn(3, 4)


def trains(model):
    model(x()).sum().backward()


def inside(make):
    return mlp(Of(make)), trains


def outside(make):
    return mlp(), lambda model: make(model(x())).sum().backward()


def relu_last():
    model = mlp(nn.ReLU())
    nn.init.constant_(model[2].bias, -100)
    return model


def scaled(model):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler.scale(dead(model(x())).sqrt().sum()).backward()
    scaler.step(optimizer)
    scaler.update()


def checkpointed(reentrant):
    return mlp(Of(lambda y: checkpoint(SHAPES["sqrt of relu"], y, use_reentrant=reentrant)))


def accumulates(model):
    for _ in range(3):
        (dead(model(x())).sqrt().mean() / 3).backward()


def retains(model):
    y = model(x())
    y.retain_grad()
    loss = dead(y).sqrt().sum()
    loss.backward(retain_graph=True)
    loss.backward()


def penalised(model):
    given = x().requires_grad_()
    loss = (model(given) + SHAPES["sqrt of clamp"](model(given))).sum()
    [slope] = torch.autograd.grad(loss, given, create_graph=True)
    (loss + slope.square().sum()).backward()


def differentiates_twice(model):
    loss = (model(x()) ** 3).sum() + dead(model(x())).sqrt().sum()
    slopes = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)
    sum(each.square().sum() for each in slopes).backward()


def compiled():
    torch._dynamo.reset()
    return torch.compile(mlp(Of(SHAPES["sqrt of relu"])), backend="eager")


class Sequences(nn.Module):
    """An LSTM, padding, and the weight of the embedding in the head, too."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 4, padding_idx=0)
        self.lstm, self.head = nn.LSTM(4, 4, batch_first=True), nn.Linear(4, 9, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0])


def predicts(model):
    tokens = torch.tensor([[1, 2, 0, 0], [3, 4, 5, 0]])
    logits = model(tokens[:, :-1]).flatten(0, 1)
    F.cross_entropy(logits, tokens[:, 1:].flatten(), ignore_index=0).backward()


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.norm = nn.MultiheadAttention(4, 2, batch_first=True), nn.LayerNorm(4)

    def forward(self, x):
        padded = torch.arange(4) > torch.tensor([[2], [1]])
        y = self.attention(x, x, x, key_padding_mask=padded, need_weights=False)[0]
        return self.norm(x + y)[~padded].square()


def frozen(model):
    """The gradient of the input is wanted."""
    given = x().requires_grad_()
    dead(model.requires_grad_(False)(given)).sqrt().sum().backward()
    assert given.grad.isfinite().all()


def two_losses(model):
    y = model(x())
    torch.autograd.backward([dead(y).sqrt().sum(), y.square().mean()])


def generates(model):
    """A generator and a discriminator."""
    other, fake = mlp(), model(x())
    dead(other(fake.detach())).sqrt().sum().backward()
    dead(other(fake)).sqrt().sum().backward()


def convolutions():
    return nn.Sequential(nn.Conv1d(3, 4, 1), nn.BatchNorm1d(4), nn.ReLU(), nn.MaxPool1d(2))


# What makes the model, and a step.
HEALTHY = {
    **{f"{name}, inside": partial(inside, make) for name, make in SHAPES.items()},
    **{f"{name}, outside": partial(outside, make) for name, make in SHAPES.items()},
    "relu inside": lambda: (relu_last(), lambda model: model(x()).sqrt().sum().backward()),
    "GradScaler": lambda: (mlp(), scaled), "checkpoint": lambda: (checkpointed(False), trains),
    "reentrant": lambda: (checkpointed(True), trains), "accumulation": lambda: (mlp(), accumulates),
    "retain_graph": lambda: (mlp(), retains), "penalty": lambda: (mlp(), penalised),
    "double backward": lambda: (mlp(), differentiates_twice),
    "compiled": lambda: (compiled(), trains), "LSTM": lambda: (Sequences(), predicts),
    "attention": lambda: (Attends(), lambda model: model(torch.randn(2, 4, 4)).sum().backward()),
    "frozen": lambda: (mlp(), frozen), "two losses": lambda: (mlp(), two_losses),
    "GAN": lambda: (mlp(), generates),
    "convolutions": lambda: (
        convolutions(), lambda model: dead(model(torch.randn(2, 3, 4))).sqrt().sum().backward()
    ),
}  # fmt: skip


def root(y):
    return (y * 0).sqrt()  # fault: root of nothing


def power(y):
    return ((y * 0) ** 0.5).view(-1).clone()  # fault: power of nothing


def arc(y):
    return (y * 0 + 1).acos()  # fault: arc of one


def unmasked_mean(y):
    total = y.sum(-1) * ROWS.any(-1)
    return torch.where(ROWS.any(-1), total / ROWS.sum(-1), 0)  # fault: unmasked mean


class Steep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * NAN


def steep(y):
    return Steep.apply(y)  # fault: function of the program


# A function of the output, the node, and the fault whose line it has.
FAULTY = {
    "root of nothing": (root, "SqrtBackward0"),
    "power of nothing": (power, "PowBackward0"),
    "arc of one": (arc, "AcosBackward0"),
    "unmasked mean": (unmasked_mean, "DivBackward0"),
    "function of the program": (steep, "SteepBackward"),
}


def beside(make):
    """A healthy infinite gradient beside the fault, in the same step."""
    return lambda y: make(y).sum() + dead(y).sqrt().sum() + masked_softmax(y).nan_to_num().sum()


def chain(make):
    """The gradient of the fault goes through more nodes, and through those of a healthy one."""
    return lambda y: make(y.exp().unsqueeze(0).squeeze(0).t().t() + dead(y).sqrt()).sum()


HOW = {"alone": lambda make: make, "beside": beside, "chain": chain}
