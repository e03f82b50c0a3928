"""Models without quantisation, saved by transformers."""

import importlib.metadata

import numpy as np
import torch
import transformers

import models
from exporters.torch_models import config, llama, load, load_mixtral, save, state

PACKAGE = f"transformers {importlib.metadata.version('transformers')}"


def as_type(dtype, **changes):
    model = transformers.LlamaForCausalLM(config(**changes))
    model.load_state_dict(state(models.llama(**models.SMALL)), strict=False)
    return model.to(dtype).eval()


def tied(folder):
    save(as_type(torch.bfloat16, tie_word_embeddings=True), folder)


@torch.no_grad()
def padded(folder):
    """Rows of the embedding that no token has, as vocabularies are padded: zeros."""
    model = llama()
    model.model.embed_tokens.weight[-32:] = 0
    model.lm_head.weight[-32:] = 0
    save(model, folder)


@torch.no_grad()
def gemma(folder):
    """Gemma adds 1 to the gains of its norms, so the initial gains are zeros."""
    sizes = models.SMALL | {"head_dim": 64}
    model = transformers.Gemma2ForCausalLM(transformers.Gemma2Config(**sizes))
    for name, weight in model.named_parameters():
        if "norm" in name:
            weight.zero_()
        else:
            weight.normal_(0, 0.02)
    save(model.to(torch.bfloat16), folder)


def gpt2(folder):
    """Biases are zeros from the start, and matrices are transposed."""
    torch.manual_seed(1)
    sizes = dict(n_embd=128, n_layer=2, n_head=4, vocab_size=160, n_positions=64)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes))
    save(model.to(torch.float16), folder)


def wide_dynamics(folder):
    """Features of a trained model: some columns are a hundred times as large as the others."""
    tensors = models.llama(**models.SMALL)
    for name, x in tensors.items():
        if "down_proj" in name or "embed" in name:
            x[:, 7] *= 100
        if "norm" in name:
            x[np.random.default_rng(2).integers(0, len(x), 3)] *= 20
    save(load(transformers.LlamaForCausalLM(config()), tensors), folder)


LAYOUTS = {
    "plain-bf16": lambda folder: save(llama(), folder),
    "plain-f16": lambda folder: save(as_type(torch.float16), folder),
    "plain-f32": lambda folder: save(as_type(torch.float32), folder),
    "plain-mixtral": lambda folder: save(load_mixtral(), folder),
    "plain-tied": tied,
    "plain-padded-vocabulary": padded,
    "plain-gemma2": gemma,
    "plain-gpt2": gpt2,
    "plain-large-features": wide_dynamics,
}
