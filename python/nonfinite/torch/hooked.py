# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Which modules of a model get hooks, and which ones can be run again."""

from torch import Tensor, nn
from torch.nn import Module

# Modules that seldom make bad outputs of finite inputs (a Dropout may: it multiplies). They get no
# hooks: bad values are seen in the output of the module in front, of the next one or of the caller.
# A replay of the caller names the operation.
KEEP_FINITE = {
    nn.Identity, nn.Flatten, nn.ReLU, nn.ReLU6, nn.Hardtanh, nn.Sigmoid, nn.Tanh, nn.Dropout,
    nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d,
}  # fmt: skip


def is_parallel(module: Module) -> bool:
    """Whether a module is a DistributedDataParallel. To call its `forward` again would begin
    another step of the communication between the ranks."""
    # Torch may be built without torch.distributed.
    return any(each.__name__ == "DistributedDataParallel" for each in type(module).__mro__)


def inside_parallel(model: Module) -> Module:
    """The model itself, if it is in a DistributedDataParallel."""
    return model.get_submodule("module") if is_parallel(model) else model


def gets_hooks(module: Module) -> bool:
    """Whether the outputs of a module are looked at. A replay runs a call with all calls inside, so
    modules around a DistributedDataParallel are left out, too."""
    return type(module) not in KEEP_FINITE and not any(map(is_parallel, module.modules()))


def waits_for_others(module: Module) -> bool:
    """Whether a replay on one rank would wait for the other ranks."""
    return any(isinstance(each, nn.SyncBatchNorm) for each in module.modules())


def owns(module: Module, parameter: Tensor) -> bool:
    """Whether a parameter is one of the module itself, not of a module inside."""
    return any(each is parameter for each in module._parameters.values())
