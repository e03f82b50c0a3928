"""Weights of small models, as numpy arrays of float32: random, but of the sizes of trained ones."""

import numpy as np

# One config serves most layouts: groups of 128 columns fit.
SMALL = dict(
    hidden_size=256, intermediate_size=384, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, vocab_size=160,
)  # fmt: skip
# Blocks of 128 by 128 do not fit: the last of each row is ragged.
RAGGED = SMALL | dict(intermediate_size=320)
CONFIG = SMALL | dict(
    architectures=["LlamaForCausalLM"], model_type="llama", torch_dtype="bfloat16",
    tie_word_embeddings=False, rms_norm_eps=1e-5, hidden_act="silu",
)  # fmt: skip


def llama(
    hidden_size, intermediate_size, num_hidden_layers, num_attention_heads,
    num_key_value_heads, vocab_size, num_local_experts=0,
):  # fmt: skip
    """The tensors of a llama, or of a Mixtral if there are experts."""
    random = np.random.default_rng(1)
    head = hidden_size // num_attention_heads
    kv = head * num_key_value_heads

    def matrix(rows, columns):
        return random.normal(0, 0.02, (rows, columns)).astype(np.float32)

    def norm():
        return (1 + random.normal(0, 0.05, hidden_size)).astype(np.float32)

    tensors = {"model.embed_tokens.weight": matrix(vocab_size, hidden_size)}
    for layer in range(num_hidden_layers):
        at = f"model.layers.{layer}."
        tensors |= {
            at + "input_layernorm.weight": norm(),
            at + "self_attn.q_proj.weight": matrix(hidden_size, hidden_size),
            at + "self_attn.k_proj.weight": matrix(kv, hidden_size),
            at + "self_attn.v_proj.weight": matrix(kv, hidden_size),
            at + "self_attn.o_proj.weight": matrix(hidden_size, hidden_size),
            at + "post_attention_layernorm.weight": norm(),
        }
        if num_local_experts:
            moe = at + "block_sparse_moe."
            tensors[moe + "gate.weight"] = matrix(num_local_experts, hidden_size)
            for expert in range(num_local_experts):
                tensors |= {
                    f"{moe}experts.{expert}.w1.weight": matrix(intermediate_size, hidden_size),
                    f"{moe}experts.{expert}.w2.weight": matrix(hidden_size, intermediate_size),
                    f"{moe}experts.{expert}.w3.weight": matrix(intermediate_size, hidden_size),
                }
        else:
            tensors |= {
                at + "mlp.gate_proj.weight": matrix(intermediate_size, hidden_size),
                at + "mlp.up_proj.weight": matrix(intermediate_size, hidden_size),
                at + "mlp.down_proj.weight": matrix(hidden_size, intermediate_size),
            }
    tensors["model.norm.weight"] = norm()
    tensors["lm_head.weight"] = matrix(vocab_size, hidden_size)
    return tensors


def linears(tensors):
    """Names of the layers that exporters quantise, without `.weight`."""
    for name, array in tensors.items():
        if array.ndim == 2 and "_proj" in name or ".experts." in name:
            yield name.removesuffix(".weight")
