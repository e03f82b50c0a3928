"""GPTQ: quantised and saved by GPTQModel on the CPU."""

import contextlib
import importlib.metadata
import os
import shutil
import tempfile
from pathlib import Path

# Its pools of threads refuse a machine with two cores otherwise.
os.environ.setdefault("GPTQMODEL_CPU_WORKERS", "2")

import torch
from gptqmodel import GPTQModel, QuantizeConfig
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

import models
from exporters.torch_models import llama

PACKAGE = f"gptqmodel {importlib.metadata.version('gptqmodel')}"


def tokenizer():
    words = {f"t{number}": number for number in range(models.SMALL["vocab_size"])}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(words, unk_token="t0")), bos_token="t1",
        eos_token="t2", pad_token="t3",
    )  # fmt: skip


def quantized(folder, **how):
    folder = folder.resolve()
    # Logs go into the current folder.
    with tempfile.TemporaryDirectory() as temporary, contextlib.chdir(temporary):
        plain = Path(temporary, "plain")
        llama().save_pretrained(plain)
        tokenizer().save_pretrained(plain)
        torch.manual_seed(1)
        model = GPTQModel.load(str(plain), QuantizeConfig(device="cpu", **how))
        tokens = [
            dict(input_ids=torch.randint(4, 160, (1, 64)), attention_mask=torch.ones(1, 64).long())
            for _ in range(8)
        ]
        model.quantize(tokens, batch_size=1)
        shutil.rmtree(folder, ignore_errors=True)
        model.save(str(folder))


LAYOUTS = {
    "gptq-4": lambda folder: quantized(folder, bits=4, group_size=128),
    "gptq-4-v2": lambda folder: quantized(folder, bits=4, group_size=128, format="gptq_v2"),
    "gptq-4-asymmetric": lambda folder: quantized(folder, bits=4, group_size=64, sym=False),
    "gptq-4-act-order": lambda folder: quantized(
        folder, bits=4, group_size=128, desc_act=True, act_group_aware=False
    ),
    "gptq-8": lambda folder: quantized(folder, bits=8, group_size=128),
    "gptq-3": lambda folder: quantized(folder, bits=3, group_size=128),
}
