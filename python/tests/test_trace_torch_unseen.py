"""What `nonfinite.torch.watch` does not see, and says so."""

import pickle
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module
from torch.nn.attention.flex_attention import flex_attention
from torch_faults import MODES, Faulty, Logarithm, X

from nonfinite.torch import UnsupportedError, private, watch

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
    """The loss is looked at, and gradients are."""
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    with torch.no_grad():
        model[1].weight.fill_(1e30)
    with pytest.warns(RuntimeWarning, match=NOTHING), watch(model, on_bad="record") as found:
        (compiled(model)(X) * 1e20).sum().backward()
    assert (found.first.phase, found.first.operator) == ("forward", None)
    assert "before backward began" in found.first.note
    with pytest.warns(RuntimeWarning, match=NOTHING), watch(model, on_bad="record") as found:
        y = compiled(model)(X)
        ((y - y.detach()) * 1e20).sum().backward()
    assert (found.first.phase, found.first.operator) == ("backward", "AddmmBackward0")


class CallsCompiled(nn.Module):
    """A compiled function of more operations than Dynamo compiles one frame for."""

    def __init__(self):
        super().__init__()
        self.layer, self.function = nn.Linear(4, 4), compiled(self.many)

    def many(self, x):
        x = (x.sin().cos().tan().exp() + 1).neg().abs() * 2 - 1
        return x.sqrt().sigmoid() - (x * 0).log()

    def forward(self, x):
        return self.function(self.layer(x))


@pytest.mark.parametrize("options", MODES, ids=str)
def test_a_replay_of_a_compiled_function_compiles_nothing(options):
    torch._dynamo.reset()
    model = CallsCompiled()
    model(X)
    frames = torch._dynamo.utils.counters["frames"]
    before = dict(frames)
    with watch(model, on_bad="record", **options) as found:
        model(X)
    assert found.first.operator == "aten.log.default"
    assert dict(frames) == before and before["total"] > 0


@pytest.mark.parametrize("options", MODES, ids=str)
def test_a_replica_of_data_parallel(options):
    """It has the hooks of the model, and is none of the model's modules."""
    model = nn.Linear(4, 4)
    with watch(model, on_bad="record", **options) as found:
        replica = model._replicate_for_data_parallel()
        replica.weight, replica.bias = model.weight, model.bias
        replica(X)
        model(X)
    assert found.findings == [] and found.calls == 1


@pytest.mark.parametrize("options", MODES, ids=str)
def test_gradients_in_a_transform(options):
    model, x = nn.Linear(4, 4), X.clone().requires_grad_()
    with watch(model, on_bad="record", **options) as found:
        torch.autograd.grad(model(x).sum(0), x, torch.eye(4), is_grads_batched=True)
        torch.autograd.functional.jacobian(model, x, vectorize=True)
    assert found.findings == []


def conditional(x):
    return torch.cond(x.sum() > 1e9, lambda x: x.cos(), lambda x: x.sin(), (x,))


def attention(x):
    """On the CPU it has no gradient."""
    one = x.detach()[None, None]
    return x + flex_attention(one, one, one)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("function", [conditional, attention])
def test_operators_of_higher_order(function):
    with watch(nn.Linear(4, 4), on_bad="record") as found:
        for divisor in (1, 0):
            (function(found._model(X)).sum() / divisor).backward()
    assert [each.operator for each in found.findings] == ["aten.div.Tensor"]


class WithState(nn.Identity):
    def __getstate__(self):
        return {"seed": 1}


def test_a_class_with_its_own_state():
    with watch(WithState()) as found:
        assert pickle.loads(pickle.dumps(found._model(found._model))).seed == 1


def test_a_model_that_is_not_initialised():
    with pytest.raises(UnsupportedError, match="0.weight is not initialised"):
        watch(nn.Sequential(nn.LazyLinear(4)))
    with pytest.raises(UnsupportedError, match="running_mean is not initialised"):
        watch(nn.LazyBatchNorm1d(affine=False))


def test_a_torch_without_stances(monkeypatch):
    """Before torch 2.6."""
    torch._dynamo.reset()
    monkeypatch.delattr(torch.compiler, "set_stance")
    with watch(Faulty(Logarithm()), on_bad="record") as found:
        found._model(X)
    assert found.first.operator == "aten.log.default"


@pytest.fixture
def mesh(tmp_path):
    torch.distributed.init_process_group("gloo", f"file://{tmp_path}/s", rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    torch.distributed.destroy_process_group()


class WithBuffer(nn.Module):
    def __init__(self, buffer):
        super().__init__()
        self.register_buffer("factors", buffer)

    def forward(self, x):
        return x * self.factors


def test_real_dtensors_are_refused(mesh):
    distributed = distribute_tensor(torch.ones(4), mesh, [Replicate()])
    with pytest.raises(UnsupportedError, match="buffer factors is a DTensor"):
        watch(WithBuffer(distributed))
    model = nn.Linear(4, 4)
    parallelize_module(model, mesh, ColwiseParallel())
    with pytest.raises(UnsupportedError, match="parameter weight is a DTensor"):
        watch(model)


@pytest.mark.parametrize("options", MODES, ids=str)
def test_real_dtensors_as_activations_are_refused(mesh, options):
    """The model has none; the program passes one in."""
    x = distribute_tensor(torch.ones(3, 4), mesh, [Shard(0)])
    model = nn.Sequential(nn.Softmax(-1), nn.LogSoftmax(-1))
    with pytest.raises(UnsupportedError, match="output of a module is a DTensor"):
        with watch(model, **options):
            model(x)


@pytest.mark.filterwarnings("ignore:FSDP is switching")
def test_real_fsdp_is_refused(mesh):
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    fully_shard(model[1], mesh=mesh)
    with pytest.raises(UnsupportedError, match="module 1 is sharded by FSDP"):
        watch(model)
    fully_shard(model, mesh=mesh)
    with pytest.raises(UnsupportedError, match="module model is sharded by FSDP"):
        watch(model)
    old = FullyShardedDataParallel(nn.Linear(4, 4), device_id=torch.device("cpu"))
    with pytest.raises(UnsupportedError, match="module model is sharded by FSDP"):
        watch(old)


def samples():
    """Objects of torch, by the names of their classes."""
    x = torch.ones(1, requires_grad=True)
    found = [nn.Linear(1, 1), torch.amp.GradScaler("cpu"), torch.ops.aten.add.Tensor]
    named = {type(each).__name__: each for each in (*found, compiled(nn.Linear(1, 1)))}
    return named | {
        "Module": nn.Module(), "Tensor": x, "Node": (x * 1).grad_fn,
        "TorchDispatchMode": private.TorchDispatchMode,
    }  # fmt: skip


@pytest.mark.parametrize("kind,name", [
    (kind, name) for kind, names in private.ATTRIBUTES.items() for name in names
])  # fmt: skip
def test_torch_has_the_private_attribute(kind, name):
    assert hasattr(samples()[kind], name), f"torch {torch.__version__} has lost {kind}.{name}"


@pytest.mark.parametrize("name", private.NAMES)
def test_a_torch_that_has_lost_a_private_name(name):
    """The import says which one."""
    *above, _ = name.split(".")
    lost = SimpleNamespace()
    for each in reversed(above):
        lost = SimpleNamespace(**{each: lost})
    with pytest.raises(ImportError, match=re.escape(f"has no torch.{name}, on which")):
        private.of_torch(name, lost)
    assert private.of_torch(name, torch) is not None


def test_private_names_stand_in_one_file():
    folder = Path(private.__file__).parent
    words = {name for names in private.ATTRIBUTES.values() for name in names if name[0] == "_"}
    words = [rf"(?<!self)\.{each}\b" for each in words]
    words += [r"torch\._(?!_)", r"from torch\S* import .*\b_"]
    for path in folder.glob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        found = [line for line in lines if any(re.search(each, line) for each in words)]
        assert not found or path.name == "private.py", (path.name, found)
