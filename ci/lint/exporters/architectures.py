"""Small random models of many architectures of transformers: as they are, and quantised."""

import importlib.metadata
import re

import ml_dtypes
import numpy as np
import torch
import transformers

import by_hand as hand
import folder as folders
import quantisers as q

PACKAGE = f"transformers {importlib.metadata.version('transformers')}"

# The names that most configurations have. Others leave them unused.
SIZES = dict(
    hidden_size=64, intermediate_size=128, num_hidden_layers=4, num_attention_heads=4,
    num_key_value_heads=2, head_dim=16, vocab_size=160, max_position_embeddings=64,
    pad_token_id=0, bos_token_id=1, eos_token_id=2, num_experts=4, num_local_experts=4,
    n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=64, image_size=32,
    patch_size=16,
)  # fmt: skip
D_MODEL = dict(d_model=64, num_heads=4, num_layers=2, d_kv=16, d_ff=128, decoder_layers=2,
               encoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
               encoder_ffn_dim=128, decoder_ffn_dim=128)  # fmt: skip
N_EMBD = dict(n_embd=64, n_layer=2, n_head=4, n_positions=64, n_inner=128)
MLA = dict(q_lora_rank=32, kv_lora_rank=16, qk_rope_head_dim=16, qk_nope_head_dim=16, v_head_dim=16,
           num_key_value_heads=4, first_k_dense_replace=1, n_group=1, topk_group=1)  # fmt: skip
# Other sizes, by the name of the model without `Config`.
CHANGES = {
    "Albert": dict(embedding_size=64), "Bart": D_MODEL, "Bloom": N_EMBD, "DeepseekV2": MLA,
    "DeepseekV3": MLA, "DistilBert": dict(dim=64, n_layers=2, n_heads=4, hidden_dim=128),
    "Electra": dict(embedding_size=64), "Glm": dict(partial_rotary_factor=0.5),
    "Glm4": dict(partial_rotary_factor=0.5),
    "Glm4Moe": dict(n_group=1, topk_group=1, first_k_dense_replace=1), "GPTBigCode": N_EMBD,
    "GPTJ": N_EMBD | dict(rotary_dim=8), "Mamba": dict(state_size=8),
    "Mamba2": dict(state_size=8, num_heads=8, head_dim=16, n_groups=1),
    "Marian": D_MODEL | dict(decoder_start_token_id=0), "MBart": D_MODEL,
    "Mpt": dict(d_model=64, n_heads=4, n_layers=2), "MT5": D_MODEL,
    "OPT": dict(ffn_dim=128, word_embed_proj_dim=64), "Pegasus": D_MODEL,
    "Qwen2Moe": dict(shared_expert_intermediate_size=64),
    "Qwen3Next": dict(linear_num_value_heads=4, linear_num_key_heads=2, linear_key_head_dim=16,
                      linear_value_head_dim=16, shared_expert_intermediate_size=64),
    "Rwkv": dict(attention_hidden_size=64), "T5": D_MODEL,
    "Wav2Vec2": dict(conv_dim=[32, 32], conv_stride=[5, 2], conv_kernel=[10, 3],
                     num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4),
    "Whisper": D_MODEL | dict(num_mel_bins=16, max_source_positions=32, max_target_positions=32),
}  # fmt: skip
# The sizes are enough for these.
PLAIN = """
Beit Bert Cohere Cohere2 Ernie4_5 Exaone4 Gemma Gemma3Text GPTNeoX GptOss Granite GraniteMoe Helium
HunYuanDenseV1 Lfm2 MiniMax Mistral Nemotron Olmo Olmo2 Olmoe Persimmon Phi Phi3 Phimoe Qwen2 Qwen3
Qwen3Moe Roberta SmolLM3 StableLm Starcoder2 ViT XLMRoberta
""".split()


def small(name, more):
    """A model of this architecture with its head, if it has one for text."""
    config = getattr(transformers, name + "Config")(**SIZES | more)
    config.tie_word_embeddings = False
    torch.manual_seed(0)
    for auto in (transformers.AutoModelForCausalLM, transformers.AutoModelForSeq2SeqLM,
                 transformers.AutoModelForMaskedLM, transformers.AutoModel):  # fmt: skip
        if type(config) in auto._model_mapping:
            return auto.from_config(config)
    raise ValueError(name)


def plain(name, more):
    def layout(folder):
        small(name, more).to(torch.bfloat16).save_pretrained(folder)

    return layout


def ct(*arguments):
    return hand.ct_config(*arguments)["quantization_config"]


# What quantises a matrix, and what the configuration says of it.
KINDS = {
    "fp8": (q.ct_fp8, ct("float-quantized", hand.ct_args(), hand.DYNAMIC)),
    "nvfp4": (lambda w: q.ct_nvfp4(w, 2.0), ct("nvfp4-pack-quantized", hand.NVFP4_ARGS,
              hand.NVFP4_INPUTS)),
    "gptq": (lambda w: q.gptq(w, 32), {"quant_method": "gptq", "bits": 4, "group_size": 32,
             "sym": True, "desc_act": False, "checkpoint_format": "gptq"}),
    "nf4": (q.bnb_nf4, {"quant_method": "bitsandbytes", "load_in_4bit": True,
                        "load_in_8bit": False}),
}  # fmt: skip


def quantised(name, more, kind):
    """All linear layers but the head, as exporters choose them."""

    def layout(folder):
        model = small(name, more)
        quantise, config = KINDS[kind]
        linear = {path for path, module in model.named_modules()
                  if type(module) is torch.nn.Linear and min(module.weight.shape) >= 32
                  and all(size % 32 == 0 for size in module.weight.shape)
                  and not re.search("lm_head|embed_out|output_embedding", path)}  # fmt: skip
        out = {}
        for path, x in model.state_dict().items():
            module = path.removesuffix(".weight")
            if module in linear and path.endswith(".weight"):
                parts = quantise(x.numpy())
                out |= {f"{module}.{part}": array for part, array in parts.items()}
            else:
                array = x.numpy()
                out[path] = array.astype(ml_dtypes.bfloat16) if x.is_floating_point() else array
        folders.write(folder, out, {"dtype": "bfloat16", "quantization_config": config})

    return layout


LAYOUTS = {}
for architecture in sorted([*CHANGES, *PLAIN]):
    changes = CHANGES.get(architecture, {})
    LAYOUTS[f"arch-{architecture}"] = plain(architecture, changes)
    for kind in KINDS:
        LAYOUTS[f"arch-{architecture}-{kind}"] = quantised(architecture, changes, kind)
