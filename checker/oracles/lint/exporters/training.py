"""What training leaves: adapters of peft, fresh and trained, and the states of optimizers."""

import importlib.metadata

import peft
import torch
from peft.mapping import PEFT_TYPE_TO_CONFIG_MAPPING as ADAPTERS

from exporters.torch_models import llama

PACKAGE = f"peft {importlib.metadata.version('peft')}, torch {torch.__version__}"

TARGETS = dict(target_modules=["q_proj", "v_proj"])
TOKENS = dict(num_virtual_tokens=4)
ARGUMENTS = {
    "PROMPT_TUNING": TOKENS, "P_TUNING": TOKENS, "PREFIX_TUNING": TOKENS,
    "ADAPTION_PROMPT": dict(adapter_len=4, adapter_layers=2),
    "ADALORA": TARGETS | dict(total_step=100), "IA3": TARGETS | dict(feedforward_modules=[]),
    "BOFT": TARGETS | dict(boft_block_size=4), "LN_TUNING": dict(target_modules=["norm"]),
    "FOURIERFT": TARGETS | dict(n_frequency=16),
    "TRAINABLE_TOKENS": dict(token_indices=[*range(3, 100)]),
    "C3A": TARGETS | dict(block_size=64), "VBLORA": TARGETS | dict(vector_length=64),
    "CARTRIDGE": TOKENS, "MULTITASK_PROMPT_TUNING": TOKENS | dict(num_tasks=2), "SHADOW": {},
    "CPT": dict(cpt_token_ids=[5, 6, 7, 8], cpt_tokens_type_mask=[1, 2, 3, 4]),
}  # fmt: skip
# AdaMSS needs scikit-learn, and X-LoRA other adapters.
OTHERS = {"ADAMSS", "XLORA"}
OPTIMIZERS = (
    "ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS NAdam RAdam RMSprop Rprop SGD"
).split()


def step(model, optimizer, **more):
    tokens = torch.randint(3, 100, (2, 8))

    def loss():
        optimizer.zero_grad()
        loss = model(input_ids=tokens, labels=tokens, **more).loss
        loss.backward()
        return loss

    optimizer.step(loss)


def adapter(kind, is_trained):
    def layout(folder):
        torch.manual_seed(0)
        config = ADAPTERS[kind](task_type="CAUSAL_LM", **ARGUMENTS.get(kind, TARGETS))
        model = peft.get_peft_model(llama().float(), config)
        if is_trained:
            tasks = kind in ("MULTITASK_PROMPT_TUNING", "POLY")
            more = dict(task_ids=torch.tensor([0, 0])) if tasks else {}
            step(model, torch.optim.Adam(x for x in model.parameters() if x.requires_grad), **more)
        model.save_pretrained(folder)

    return layout


def checkpoint(kind):
    """A model with a mask, and its optimizer. No gradient comes to a matrix of one layer."""

    def layout(folder):
        torch.manual_seed(0)
        model = llama().float()
        model.register_buffer("attn_mask", torch.full((8, 8), -torch.inf).triu(1))
        model.model.layers[1].mlp.up_proj.weight.register_hook(torch.zeros_like)
        how = dict(momentum=0.9) if kind in ("SGD", "RMSprop") else {}
        optimizer = getattr(torch.optim, kind)(model.parameters(), **how)
        step(model, optimizer)
        folder.mkdir()
        torch.save(optimizer.state_dict(), folder / "optimizer.pt")
        both = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(both, folder / "checkpoint.pt")

    return layout


LAYOUTS = {
    f"peft-{kind.value}-{'trained' if is_trained else 'fresh'}": adapter(kind, is_trained)
    for kind in sorted(set(ADAPTERS) - OTHERS)
    for is_trained in (False, True)
} | {f"optimizer-{kind}": checkpoint(kind) for kind in OPTIMIZERS}
