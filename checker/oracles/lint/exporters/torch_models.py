"""Small models of transformers, with the weights of models.py."""



import torch
import transformers
from safetensors.torch import save_file

import models


def state(tensors):
    return {name: torch.from_numpy(x).to(torch.bfloat16) for name, x in tensors.items()}


def load(model, tensors):
    model.load_state_dict(state(tensors), strict=False)
    return model.to(torch.bfloat16).eval()


def config(sizes=models.SMALL, **changes):
    return transformers.LlamaConfig(
        **sizes, rms_norm_eps=1e-5, max_position_embeddings=64, bos_token_id=1,
        eos_token_id=2, architectures=["LlamaForCausalLM"], **changes,
    )  # fmt: skip


def llama(sizes=models.SMALL):
    return load(transformers.LlamaForCausalLM(config(sizes)), models.llama(**sizes))


def save(model, folder):
    """As `save_pretrained`, with shards small enough for an index."""
    model.save_pretrained(folder, max_shard_size="300KB")


def load_mixtral():
    """A Mixtral of transformers."""
    torch.manual_seed(1)
    config = transformers.MixtralConfig(
        **models.SMALL, num_local_experts=4, num_experts_per_tok=2,
        architectures=["MixtralForCausalLM"],
    )  # fmt: skip
    return transformers.MixtralForCausalLM(config).to(torch.bfloat16).eval()


class Mixtral(torch.nn.Module):
    """The layers of a Mixtral, by their names in a checkpoint.

    transformers has one parameter for all experts of a layer; exporters take them apart.
    """

    def __init__(self):
        super().__init__()
        self.config = transformers.MixtralConfig(
            **models.SMALL, num_local_experts=4, num_experts_per_tok=2
        )
        for name, array in models.llama(**models.SMALL, num_local_experts=4).items():
            weight = torch.from_numpy(array).to(torch.bfloat16)
            *parents, leaf, _ = name.split(".")
            at = self
            for parent in parents:
                if not hasattr(at, parent):
                    at.add_module(parent, torch.nn.Module())
                at = getattr(at, parent)
            kind = torch.nn.Embedding if "embed" in leaf else torch.nn.Linear
            if weight.ndim == 2:
                layer = kind(*(weight.shape if kind is torch.nn.Embedding else weight.shape[::-1]))
                if kind is torch.nn.Linear:
                    layer.bias = None
            else:
                layer = torch.nn.Module()
            layer.weight = torch.nn.Parameter(weight, requires_grad=False)
            at.add_module(leaf, layer)

    def save_pretrained(self, folder, **_):
        folder.mkdir()
        self.config.architectures = ["MixtralForCausalLM"]
        self.config.torch_dtype = "bfloat16"
        self.config.save_pretrained(folder)
        tensors = {name: x.contiguous() for name, x in self.state_dict().items()}
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def mixtral():
    return Mixtral().eval()
