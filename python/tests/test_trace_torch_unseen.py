"""What `nonfinite.torch.watch` does not see, and says so."""

import warnings

import pytest
import torch
from torch import nn
from torch_faults import Faulty, Logarithm

from nonfinite.torch import watch

X = torch.ones(3, 4)
NOTHING, PARTS = "saw no call of the model", "none of the model itself"


def of_a_class():
    return Faulty(Logarithm())


def of_layers():
    return nn.Sequential(nn.Linear(4, 4), Logarithm())


def compiled(model):
    return torch.compile(model, backend="eager")


def never(model):
    return lambda: None


def by_forward(model):
    return lambda: model.forward(X)


def compiled_before(model):
    """The graph was made before there were hooks."""
    function = compiled(model)
    function(X)
    return lambda: function(X)


def compiled_inside(model):
    return lambda: compiled(model)(X)


def compiled_in_place(model):
    def call():
        model.compile(backend="eager")
        model(X)

    return call


@pytest.mark.parametrize("make", [of_a_class, of_layers, Logarithm])
@pytest.mark.parametrize(
    "how", [never, by_forward, compiled_before, compiled_inside, compiled_in_place]
)
def test_a_model_whose_calls_are_not_seen(make, how):
    """Each call, except `never`, gives NaN."""
    torch._dynamo.reset()
    model = make()
    call = how(model)
    parts = how is by_forward and make is not Logarithm
    with pytest.warns(RuntimeWarning, match=PARTS if parts else NOTHING) as caught:
        with watch(model, on_bad="record") as found:
            call()
    [warning] = [each for each in caught if each.category is RuntimeWarning]
    assert warning.filename == __file__
    assert ("Module model was compiled" in str(warning.message)) == (how is compiled_in_place)
    # The modules inside were looked at.
    assert bool(found.findings) == parts


def test_no_warning_without_need():
    model = of_layers()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = watch(model, on_bad="record")
        for _ in range(2):
            with found:
                model(X)
        # The error of the program is the news.
        with pytest.raises(KeyError), found:
            raise KeyError
    # Each `with` by itself.
    with pytest.warns(RuntimeWarning, match=NOTHING), found:
        pass


def test_backward_of_a_compiled_model():
    """Hooks of parameters run, and there is no call to run again."""
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    with torch.no_grad():
        model[1].weight.fill_(1e30)
    with pytest.warns(RuntimeWarning, match=NOTHING), watch(model, on_bad="record") as found:
        (compiled(model)(X) * 1e20).sum().backward()
    assert (found.first.phase, found.first.operator) == ("backward", None)
    assert "saw no call" in found.first.note
