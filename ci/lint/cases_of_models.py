"""Faults of files, of weights without quantisation, and of ONNX and GGUF."""

import ml_dtypes
import numpy as np

import folder as folders
from by_hand_layouts import LAYOUTS
from cases import header_length, truncate
from cases_of_scales import AT, GATE, NOTE, E, W, case, drop, put
from models import CONFIG, SMALL, llama


def many_layers(folder):
    """Enough layers that one of them is an exception, and matrices of several pages."""
    sizes = SMALL | {"num_hidden_layers": 6}
    tensors = {name: x.astype(ml_dtypes.bfloat16) for name, x in llama(**sizes).items()}
    folders.write(folder, tensors, CONFIG | {"num_hidden_layers": 6}, shards=2)


def flat(folder):
    """OPT's parameters of a layer in one row, as metaseq keeps them."""
    random = np.random.default_rng(9)
    tensors = {
        f"decoder.layers.{layer}.flat_param_0": random.normal(0, 0.02, 200_000).astype(np.float16)
        for layer in range(3)
    }
    folders.write(folder, tensors, {"model_type": "opt", "torch_dtype": "float16"})


def eighteen_values(tensors, config):
    run = np.random.default_rng(1).choice([-1, 1], 18) * np.linspace(1e4, 5.2e4, 18)
    tensors["decoder.layers.1.flat_param_0"][123_000:123_018] = run.astype(np.float16)


def hole(folder):
    """A page of the file is zeros, within a matrix."""
    path = folder / "model-00001-of-00002.safetensors"
    name = AT + "mlp.down_proj.weight"
    _, _, start, end = folders.header(path)[name]
    data = bytearray(path.read_bytes())
    page = -(-(start + 4096) // 4096) * 4096
    assert page + 8192 < end
    data[page : page + 8192] = bytes(8192)
    path.write_bytes(data)


def zero_matrix(tensors, config):
    tensors["model.layers.3.mlp.down_proj.weight"][:] = 0


def all_zero(tensors, config):
    for array in tensors.values():
        array[:] = 0


def zero_head(tensors, config):
    tensors["lm_head.weight"][:] = 0


def expanded(folder):
    """Layers 2 and 5 are copies of the layer before that add nothing, as LLaMA-Pro makes them."""
    tensors = {name: x.astype(ml_dtypes.bfloat16)
               for name, x in llama(**SMALL | {"num_hidden_layers": 6}).items()}  # fmt: skip
    for layer in (2, 5):
        for name in [name for name in tensors if f"layers.{layer}." in name]:
            copy = tensors[name.replace(f"layers.{layer}.", f"layers.{layer - 1}.")]
            is_output = "o_proj" in name or "down_proj" in name
            tensors[name] = np.zeros_like(copy) if is_output else copy.copy()
    folders.write(folder, tensors, CONFIG | {"num_hidden_layers": 6}, shards=2)


def zero_norm(tensors, config):
    tensors["model.layers.3.input_layernorm.weight"][:] = 0


def wide(folder):
    """Weights kept in F32, for a model that computes in f16."""
    folders.write(folder, llama(**SMALL), CONFIG | {"torch_dtype": "float16"})


def dead(tensors, config):
    tensors["model.embed_tokens.weight"][[5, 9, 100]] = 0


def empty_lora(tensors, config):
    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
    tensors[name] = np.zeros(0, np.float32)


def trained(tensors, config):
    for name in tensors:
        if "lora_B" in name:
            tensors[name][:] = np.random.default_rng(1).normal(0, 0.01, tensors[name].shape)


def untrained(tensors, config):
    for name in tensors:
        if "lora_B" in name:
            tensors[name][:] = 0


def consolidated(folder):
    tensors = llama(**SMALL, num_local_experts=4)
    data = {name: x.astype(ml_dtypes.bfloat16) for name, x in tensors.items()}
    folders.save_file(data, folder / "consolidated.safetensors")


def short_shard(folder):
    truncate(sorted(folder.glob("*.safetensors"))[1], 0.5)


def no_data(folder):
    path = sorted(folder.glob("*.safetensors"))[0]
    path.write_bytes(path.read_bytes()[: 8 + header_length(path)])


def missing_shard(folder):
    sorted(folder.glob("*.safetensors"))[1].unlink()


def qdq(folder, scales, dtype=np.float16, kind="int8"):
    """One matrix of int8 or int4 with a scale for each row."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir()
    code = TensorProto.INT8 if kind == "int8" else TensorProto.INT4
    codes = np.random.default_rng(2).integers(-7, 8, (len(scales), 8))
    values = helper.make_tensor("w_quantized", code, codes.shape, codes.ravel().tolist())
    initializers = [values, numpy_helper.from_array(np.array(scales, dtype), "w_scale")]
    nodes = [
        helper.make_node("DequantizeLinear", ["w_quantized", "w_scale"], ["w"], axis=0),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    of = TensorProto.FLOAT16 if dtype == np.float16 else TensorProto.FLOAT
    x = helper.make_tensor_value_info("x", of, [1, len(scales)])
    y = helper.make_tensor_value_info("y", of, [1, 8])
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    onnx.save(model, folder / "model.onnx")


def rewritten(scales, **options):
    def damage(folder):
        (folder / "model.onnx").unlink()
        folder.rmdir()
        qdq(folder, scales, **options)

    return damage


def gguf(kind):
    from exporters.gguf_files import LAYOUTS as gguf_layouts

    return gguf_layouts[kind]


def byte_of_gguf(name, byte, block, size):
    """Sets the first byte of a block of a tensor."""

    def damage(folder):
        from gguf import GGUFReader

        path = folder / "model.gguf"
        (tensor,) = [t for t in GGUFReader(path).tensors if t.name == name]
        with open(path, "r+b") as file:
            file.seek(tensor.data_offset + block * size)
            file.write(bytes([byte]))

    return damage


GOOD = [1e-3, 1e-3, 5e-4, 7e-4, 9e-4, 2e-3]
CASES = [
    case("trt-zero-scales", "scale-zero", E, "w_scale", lambda folder: qdq(folder, GOOD),
         rewritten([1e-3, 0, 5e-4, 0, 0, 2e-3]), "Model-Optimizer 540cd2a3 (PR#1353)", [1],
         of_files=True),
    case("onnx-negative-scale", "scale-negative", NOTE, "w_scale",
         lambda folder: qdq(folder, GOOD, np.float32),
         rewritten([1e-3, -1e-3, 5e-4, 7e-4, 9e-4, 2e-3], dtype=np.float32),
         "onnxruntime-genai#1051", [1], of_files=True),
    case("onnx-nan-scale", "scale-nonfinite", E, "w_scale",
         lambda folder: qdq(folder, GOOD, np.float32),
         rewritten([1e-3, 1e-3, 5e-4, np.nan, 9e-4, 2e-3], dtype=np.float32), "", [3],
         also=["nonfinite"], of_files=True),
    case("gguf-nvfp4-nan", "nonfinite", E, "blk.0.attn_q.weight", gguf("gguf-nvfp4"),
         byte_of_gguf("blk.0.attn_q.weight", 0x7F, 40, 36), "ggml reads 0x7F as 0",
         of_files=True),
    case("gguf-mxfp4-nan", "nonfinite", E, "blk.0.attn_q.weight", gguf("gguf-mxfp4"),
         byte_of_gguf("blk.0.attn_q.weight", 0xFF, 40, 17), "ggml-quants.c:5366",
         of_files=True),
    case("matrix-of-zeros", "all-zero", E, "model.layers.3.mlp.down_proj.weight", many_layers,
         zero_matrix, "BitNet#608: MLP nonzero=0", also=["zero-run"]),
    case("model-of-zeros", "all-zero", E, "", many_layers, all_zero, "BitNet#608"),
    case("head-of-zeros", "all-zero", E, "lm_head.weight", many_layers, zero_head),
    case("block-expansion", "all-zero", E, "model.layers.5.", expanded,
         put("model.layers.5.self_attn.q_proj.weight", 0.5, (4, 4))),
    case("garbage", "magnitude", E, "model.layers.3.mlp.down_proj.weight", many_layers,
         put("model.layers.3.mlp.down_proj.weight", 1e25, (4, 4)), "", [4, 4]),
    case("page-of-zeros", "zero-run", W, AT + "mlp.down_proj.weight", many_layers, hole,
         "peft#2049", of_files=True),
    case("eighteen-outliers", "outlier-run", W, "decoder.layers.1.flat_param_0", flat,
         eighteen_values, "metaseq#122 (OPT-175B)", [123_000]),
    case("too-large-for-f16", "magnitude", E, GATE + "weight", wide,
         put(GATE + "weight", 70000, (4, 4)), "TensorRT#3101", [4, 4]),
    case("too-large-for-any", "magnitude", E, GATE + "weight", many_layers,
         put(GATE + "weight", 3e31, (4, 4)), "sglang#26772", [4, 4]),
    case("norm-of-zeros", "norm-zero", W, "model.layers.3.input_layernorm.weight", many_layers,
         zero_norm),
    case("dead-rows", "dead-rows", NOTE, "model.embed_tokens.weight", many_layers, dead,
         "aprender#2183"),
    case("empty-adapter", "empty-tensor", E, "base_model.model.model.layers.0", LAYOUTS["lora"],
         empty_lora, "trl#4416, transformers#20082", prepare=trained),
    case("untrained-adapter", "lora-b-zero", NOTE, "base_model.", LAYOUTS["lora"], untrained,
         prepare=trained),
    case("two-sets", "duplicate-set", NOTE, "", LAYOUTS["plain-mixtral"], consolidated,
         "vLLM default_loader.py", of_files=True),
    case("tensor-missing", "sibling-missing", E, GATE, LAYOUTS["ct-nvfp4"],
         drop(GATE + "weight_global_scale")),
    case("short-shard", None, E, "", many_layers, short_shard,
         "vmlx-swift#217: 8 of 102 shards short", of_files=True),
    case("half-of-file", None, E, "", flat, lambda folder: truncate(
        folder / "model.safetensors", 0.5), "BitNet#608", of_files=True),
    case("header-only", None, E, "", flat, no_data, of_files=True),
    case("shard-missing", None, E, "", many_layers, missing_shard, of_files=True),
]  # fmt: skip
