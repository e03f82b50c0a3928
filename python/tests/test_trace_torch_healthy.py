"""Healthy programs, in which `nonfinite.torch.watch` may find nothing: infinities that are meant,
and NaN that the program expects."""

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch_faults import INF, MODES, NAN, Faulty, Of, WithLayer, line_of

from nonfinite.torch import watch

HERE = Path(__file__)
EYE = torch.eye(4, dtype=torch.bool)


def distances(y):
    return (y[:, None] - y).square().sum(-1)


def assigned(y, index):
    made = distances(y).clone()
    made[index] = INF
    return made


class Nearest(WithLayer):
    """A module inside fills +Inf in, and the model takes the minimum."""

    def __init__(self, make):
        super().__init__()
        self.inner = Of(make)

    def forward(self, x):
        return self.inner(self.layer(x)).min(-1).values


FILLED = {
    "masked_fill": lambda y: distances(y).masked_fill(EYE, INF),
    "masked_fill, a tensor": lambda y: distances(y).masked_fill(EYE, torch.tensor(INF)),
    "where": lambda y: torch.where(EYE, INF, distances(y)),
    "where, a tensor": lambda y: torch.where(EYE, torch.tensor(INF), distances(y)),
    "assigned by a mask": lambda y: assigned(y, EYE),
    "assigned by indices": lambda y: assigned(y, (torch.arange(4), torch.arange(4))),
    "assigned to a column": lambda y: assigned(y, (slice(None), 0)),
    "fill_diagonal_": lambda y: distances(y).clone().fill_diagonal_(INF),
    "full": lambda y: torch.cat([y, torch.full((4, 4), INF)], -1),
    "a list": lambda y: torch.cat([y, torch.tensor([[INF]] * 4)], -1),
    "a number": lambda y: torch.cat([y, torch.zeros(4, 1) + INF], -1),
    "pad": lambda y: F.pad(y, (1, 1), value=INF),
    "pad_sequence": lambda y: nn.utils.rnn.pad_sequence([y[:2, 0], y[:, 1]], True, INF),
    "scatter": lambda y: y.scatter(1, torch.zeros(4, 1, dtype=torch.long), INF),
    "the other sign": lambda y: -distances(y).masked_fill(EYE, -INF),
    "what keeps the infinities": lambda y: (distances(y).masked_fill(EYE, INF) * 2 + 1).sqrt(),
}


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("name", FILLED)
def test_infinities_that_are_filled_in(name, options):
    with watch(Nearest(FILLED[name]), on_bad="record", **options) as found:
        for _ in range(2):
            found._model(torch.randn(4, 4)).sum().backward()
    assert found.findings == [], str(found.first)


class Fills(WithLayer):
    def __init__(self):
        super().__init__()
        self.fill = Of(FILLED["masked_fill"])
        self.factor, self.subtracts = 1.0, False

    def forward(self, x):
        y = self.fill(self.layer(x) * self.factor)
        return (y - y if self.subtracts else y).min(-1).values  # fault: NaN of filled


@pytest.mark.parametrize("options", MODES, ids=str)
def test_what_is_filled_in_hides_no_fault(options):
    """Neither a NaN that comes of it, nor an overflow in the same module."""
    model = Fills()
    with watch(model, on_bad="record", **options) as found:
        for factor, subtracts in ((1.0, False), (1e25, False), (1.0, True)):
            model.factor, model.subtracts = factor, subtracts
            model(torch.randn(4, 4)).sum().backward()
    overflow, nan = found.findings
    assert (overflow.call, nan.call) == (1, 2)
    assert (overflow.kind, overflow.operator) == ("origin", "aten.pow.Tensor_Scalar")
    assert (nan.kind, nan.operator) == ("NaN from Inf", "aten.sub.Tensor")
    assert nan.line == line_of("NaN of filled", HERE)


def not_a_number(y):
    return y + torch.full((4, 4), -1.0).log()


def overflow(y):
    return y * 0 + torch.full((4, 4), 3e38) * 9


class Mended(Nearest):
    def forward(self, x):
        return self.inner(self.layer(x)).nan_to_num(0, 0, 0)


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize(
    "fill,fault", [(-INF, not_a_number), (-INF, overflow), (INF, not_a_number)]
)
def test_what_is_filled_in_on_a_device_hides_no_fault(fill, fault):
    """A module that has filled infinities in for some steps is still looked at."""
    model = Mended(lambda y: y.masked_fill(EYE, fill))
    with watch(model, on_bad="record") as found:
        for _ in range(3):
            model(torch.ones(4, 4)).mean().backward()
        assert found.findings == []
        model.inner.make = lambda y: fault(y).masked_fill(EYE, fill)
        model(torch.ones(4, 4)).mean().backward()
    [finding] = found.findings
    assert (finding.module, finding.kind) == ("inner", "origin")
    assert finding.outputs[0].nan if fault is not_a_number else finding.outputs[0].pos_inf


@pytest.mark.parametrize("options", MODES, ids=str)
def test_modules_whose_infinities_are_allowed(options):
    """By the path, with `*`, or the module itself: infinities, and NaN."""
    def of(value):
        return Faulty(nn.Sequential(Of(lambda x: (x * 0 + value).log().clamp(max=0)), nn.ReLU()))

    def findings(model, allow):
        with watch(model, on_bad="record", allow=allow, **options) as found:
            for _ in range(2):
                model(torch.ones(3, 4))
        return found.findings

    model = of(0)
    assert [each.operator for each in findings(model, [])] == ["aten.log.default"] * 2
    for allow in (["block.0"], ["block"], ["blo*"], [model.block[0]], [model.block, "after"]):
        assert findings(model, allow) == []
    assert len(findings(model, ["after"])) == 2
    assert len(findings(of(-1), [])) == 2 and findings(of(-1), ["block.0"]) == []
    with pytest.raises(ValueError, match="allow: the model has no module 'blok'"):
        watch(model, allow=["blok"])
    with pytest.raises(TypeError, match="allow is 'block', and must be a list"):
        watch(model, allow="block")


class Diffusion(nn.Module):
    """Attention over pixels, of which some are masked by -Inf, and a schedule that ends at 0."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.register_buffer("alphas", torch.linspace(1, 0, 5))

    def forward(self, x, step, keep):
        noisy = self.alphas[step].sqrt() * x + (1 - self.alphas[step]).sqrt() * torch.randn_like(x)
        q, k, v = self.qkv(noisy).chunk(3, -1)
        bias = torch.zeros(keep.shape).masked_fill(~keep, -INF)
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=bias))


def diffusion_with_masks():
    model, x, keep = Diffusion(), torch.randn(2, 4, 8), torch.ones(4, 4).tril() > 0

    def step(number):
        F.mse_loss(model(x, number % 5, keep), x).backward()

    return model, step


class Policy(nn.Module):
    """Actions that are not allowed have logits of -Inf."""

    def __init__(self):
        super().__init__()
        self.layers, self.value = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 1)
        self.logits = nn.Linear(8, 6)

    def forward(self, x, legal):
        x = self.layers(x)
        return self.logits(x).masked_fill(~legal, -INF), self.value(x)


def reinforcement_learning():
    model, legal = Policy(), torch.tensor([True, True, False, True, False, False])

    def step(number):
        logits, value = model(torch.randn(5, 4), legal)
        actions = torch.distributions.Categorical(logits=logits)
        chosen = actions.sample()
        gain = actions.log_prob(chosen) * value.detach()[:, 0]
        loss = -gain - 0.01 * actions.entropy()
        (loss.mean() + value.square().mean()).backward()

    return model, step


def top_k_sampling():
    model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))

    @torch.no_grad()
    def step(number):
        tokens = torch.tensor([[1], [2]])
        for _ in range(3):
            logits = model(tokens[:, -1])
            logits[logits < logits.topk(5).values[:, -1:]] = -INF
            order, where = logits.sort(-1, descending=True)
            order[order.softmax(-1).cumsum(-1) > 0.9] = -INF
            order[:, 0] = 1
            chances = logits.scatter(1, where, order).softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(chances, 1)], 1)

    return model.eval(), step


def ctc_loss():
    model = nn.Sequential(nn.Linear(4, 8), nn.LogSoftmax(-1))

    def step(number):
        targets, sizes = torch.randint(1, 8, (2, 6)), torch.tensor([6, 2])
        # The first target is longer than the input.
        lengths = torch.tensor([5, 7])
        rows = model(torch.randn(7, 2, 4))
        F.ctc_loss(rows, targets, lengths, sizes, zero_infinity=True).backward()

    return model, step


class Beams(nn.Module):
    """All beams but one begin at -Inf, as do those that have ended."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(10, 8), nn.Linear(8, 10)

    def forward(self, tokens, scores):
        made = scores[:, None] + self.head(self.embedding(tokens)).log_softmax(-1)
        made[tokens == 0] = -INF
        best = made.flatten().topk(4)
        return best.values, best.indices % 10


def beam_search():
    model = Beams()

    @torch.no_grad()
    def step(number):
        scores = torch.tensor([0.0] + [-INF] * 3)
        tokens = torch.tensor([1, 1, 1, 1])
        for _ in range(4):
            scores, tokens = model(tokens, scores)

    return model.eval(), step


class Missing(nn.Module):
    """Missing values are NaN, and the mean leaves them out."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 1)

    def forward(self, x):
        mean = x.nanmean(0)
        filled = torch.where(x.isnan(), mean, x)
        return self.layer(torch.cat([filled, x.isnan().float()], -1))


def nanmean():
    model = Missing()

    def step(number):
        x = torch.randn(6, 4)
        x[torch.arange(6) % 4 == number, number] = NAN
        model(x).square().mean().backward()

    return model, step


class Quantised(WithLayer):
    """Observers begin at +Inf and -Inf, as those of torch.ao do."""

    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.tensor(INF))
        self.register_buffer("high", torch.tensor(-INF))

    def forward(self, x):
        y = self.layer(x)
        with torch.no_grad():
            self.low.copy_(torch.minimum(self.low, y.min()))
            self.high.copy_(torch.maximum(self.high, y.max()))
        scale = (self.high - self.low).clamp(min=1e-6) / 255
        zero = (-self.low / scale).round().clamp(0, 255)
        return torch.fake_quantize_per_tensor_affine(y, scale, zero.int(), 0, 255)


def quantisation_aware_training():
    from torch.ao.quantization import FakeQuantize

    model = nn.Sequential(Quantised(), nn.ReLU(), nn.Linear(4, 4), FakeQuantize())
    return model, lambda number: model(torch.randn(5, 4)).square().mean().backward()


PROGRAMS = [
    diffusion_with_masks, reinforcement_learning, top_k_sampling, ctc_loss, beam_search, nanmean,
    quantisation_aware_training,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*torch.ao.quantization is deprecated")
@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_healthy_programs(program, options):
    torch.manual_seed(0)
    model, step = program()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with watch(model, on_bad="record", **options) as found:
        for number in range(4):
            step(number)
            optimizer.step()
            optimizer.zero_grad()
    assert found.findings == [], str(found.first)
    assert found.calls >= 4
