"""Small random models of many architectures of transformers, as they are and quantised.

compressed-tensors and bitsandbytes quantise them.
"""

import importlib.metadata
import re

import torch
import transformers

from exporters import bnb, compressed

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


@torch.no_grad()
def trained(name, more):
    """A model whose matrices have the distribution of trained ones, not of every initial one."""
    model = small(name, more)
    for module in model.modules():
        if type(module) is torch.nn.Linear:
            module.weight.normal_(0, 0.02)
    return model.to(torch.bfloat16)


def is_quantised(path, module):
    """Linear layers whose rows and columns fill whole blocks, but for heads and routers."""
    return (
        type(module) is torch.nn.Linear
        and all(size % 32 == 0 for size in module.weight.shape)
        and not re.search(r"lm_head|embed_out|output_embedding|router|\bgate$", path)
    )


def by_compressed_tensors(name, more, preset):
    def layout(folder):
        model = trained(name, more)
        linear = [x for x in model.named_modules() if isinstance(x[1], torch.nn.Linear)]
        ignore = [path for path, module in linear if not is_quantised(path, module)]
        compressed.quantized(folder, compressed.preset(preset), lambda: model, ignore)

    return layout


def by_bitsandbytes(name, more):
    def layout(folder):
        model = trained(name, more)
        chosen = [path for path, module in model.named_modules() if is_quantised(path, module)]
        bnb.four(folder, "nf4", tensors=dict(model.state_dict()), names=chosen)

    return layout


LAYOUTS = {}
for architecture in sorted([*CHANGES, *PLAIN]):
    of = architecture, CHANGES.get(architecture, {})
    LAYOUTS |= {
        f"arch-{architecture}": plain(*of),
        f"arch-{architecture}-fp8": by_compressed_tensors(*of, "FP8_DYNAMIC"),
        f"arch-{architecture}-nvfp4": by_compressed_tensors(*of, "NVFP4"),
        f"arch-{architecture}-nf4": by_bitsandbytes(*of),
    }
