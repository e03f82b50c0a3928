# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""What a watch does not cover."""

from torch import Tensor, nn


class UnsupportedError(TypeError):
    """The model is of a kind that a watch does not cover."""


def refuse(model: nn.Module) -> None:
    """Raises UnsupportedError for models that hooks would break, or would see parts of, and
    TypeError for what is no module."""
    import torch

    if not isinstance(model, nn.Module):
        raise TypeError(f"watch needs a torch.nn.Module, and got a {type(model).__name__}")
    if isinstance(model, torch.jit.ScriptModule):
        raise UnsupportedError("watch does not cover torch.jit: watch the model of Python")
    for path, module in model.named_modules():
        where = f"module {path or 'model'}"
        kinds = {each.__name__ for each in type(module).__mro__}
        if kinds & {"FullyShardedDataParallel", "FSDPModule"}:
            raise UnsupportedError(
                f"{where} is sharded by FSDP: a replay would gather parameters on one rank only"
            )
    for name, parameter in model.named_parameters():
        refuse_distributed(f"parameter {name}", parameter)
        if parameter.is_meta:
            raise UnsupportedError(f"parameter {name} is on the device meta, and has no numbers")
    for name, buffer in model.named_buffers():
        refuse_distributed(f"buffer {name}", buffer)
    for name, each in (*model.named_parameters(), *model.named_buffers()):
        if torch.nn.parameter.is_lazy(each):
            raise UnsupportedError(f"{name} is not initialised: call the model once before")


def refuse_distributed(name: str, tensor: Tensor) -> None:
    """Raises UnsupportedError for a DTensor, by the name of the class: to import it takes long."""
    if any(each.__name__ == "DTensor" for each in type(tensor).__mro__):
        raise UnsupportedError(
            f"{name} is a DTensor, which a watch does not cover: this rank has a part of the "
            "numbers only, and a replay would wait for the other ranks"
        )
