"""Quantised forms of a matrix [N, K] in numpy: each returns the tensors of a layer by suffix.

Only what `nonfinite lint` reads has to be right: names, dtypes, shapes, and values that the
exporters write. `exporters/` has the exporters themselves.
"""

import json

import ml_dtypes
import numpy as np

BF16, E4M3, E8M0 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
E2M1 = np.float32([0, 0.5, 1, 1.5, 2, 3, 4, 6])
NF4 = np.float32([
    -1, -0.6961928, -0.52507305, -0.39491749, -0.28444138, -0.18477343, -0.09105004, 0, 0.0795803,
    0.1609302, 0.24611230, 0.33791524, 0.44070983, 0.5626170, 0.72295684, 1,
])  # fmt: skip


def e2m1(x):
    """The codes of the nearest values of FP4."""
    code = np.abs(np.abs(x)[..., None] - E2M1).argmin(-1).astype(np.uint8)
    return code | np.where(np.signbit(x), 8, 0).astype(np.uint8)


def nibbles(codes):
    """Two codes a byte, the first in the low half."""
    return codes[..., ::2] | codes[..., 1::2] << 4


def words(codes, bits=4, axis=-1):
    """`32 / bits` codes in each I32, the first lowest."""
    each = 32 // bits
    codes = np.moveaxis(codes, axis, -1).astype(np.uint32)
    parts = codes.reshape(*codes.shape[:-1], -1, each) << np.arange(0, 32, bits, dtype=np.uint32)
    packed = np.bitwise_or.reduce(parts, axis=-1).astype(np.uint32).view(np.int32)
    return np.ascontiguousarray(np.moveaxis(packed, -1, axis))


def groups(w, size):
    return w.reshape(*w.shape[:-1], -1, size)


def largest(w, size):
    return np.abs(groups(w, size)).max(-1)


def fp8(w, scale):
    return np.clip(w / scale, -448, 448).astype(E4M3)


def blocks(w, size=128):
    """The largest of each block, whole and ragged, and these spread over the matrix."""
    rows, columns = (-(-extent // size) for extent in w.shape[-2:])
    padded = np.zeros((*w.shape[:-2], rows * size, columns * size), np.float32)
    padded[..., : w.shape[-2], : w.shape[-1]] = w
    split = padded.reshape(*w.shape[:-2], rows, size, columns, size)
    return np.abs(split).max((-3, -1))


def spread(scale, shape, size=128):
    wide = scale.repeat(size, -2).repeat(size, -1)
    return wide[..., : shape[-2], : shape[-1]]


def ct_fp8(w, strategy="channel", static=False):
    if strategy == "block":
        scale = (blocks(w) / 448).astype(BF16)
        wide = spread(scale.astype(np.float32), w.shape)
    else:
        top = np.abs(w).max(None if strategy == "tensor" else -1, keepdims=True)
        scale = (top / 448).astype(BF16).reshape([1] if strategy == "tensor" else top.shape)
        wide = scale.astype(np.float32)
    out = {"weight": fp8(w, wide), "weight_scale": scale}
    return out | ({"input_scale": np.array([0.0089], BF16)} if static else {})


def ct_int8(w):
    scale = (np.abs(w).max(1, keepdims=True) / 127.5).astype(BF16)
    codes = np.clip(np.round(w / scale.astype(np.float32)), -128, 127).astype(np.int8)
    return {"weight": codes, "weight_scale": scale}


def ct_int4(w, size=128, symmetric=True, order=False):
    split = groups(w, size)
    low, high = split.min(-1), split.max(-1)
    if symmetric:
        scale, zero = largest(w, size) / 7.5, np.zeros(low.shape)
    else:
        scale = (high - low) / 15
        zero = np.clip(np.round(-8 - low / scale), -8, 7)
    codes = np.round(split / scale[..., None] + zero[..., None])
    codes = np.clip(codes, -8, 7).astype(np.int64).reshape(w.shape) + 8
    out = {
        "weight_packed": words(codes), "weight_scale": scale.astype(BF16),
        "weight_shape": np.array(w.shape, np.int64),
    }  # fmt: skip
    if not symmetric:
        out["weight_zero_point"] = words(zero.astype(np.int64) + 8, axis=0)
    if order:
        columns = np.random.default_rng(3).permutation(w.shape[1])
        out["weight_g_idx"] = (columns // size).astype(np.int32)
    return out


def nvfp4(w, amax=None):
    """Codes, the scales of blocks of 16, and the scale of all, by which values are multiplied."""
    amax = np.float32(np.abs(w).max() if amax is None else amax)
    whole = np.float32(amax / (6 * 448))
    # As ModelOpt: a block of zeros gets the scale 1.
    scale = np.where(largest(w, 16) == 0, 1, np.clip(largest(w, 16) / 6 / whole, 2**-9, 448))
    scale = scale.astype(E4M3)
    codes = e2m1(groups(w, 16) / (scale.astype(np.float32) * whole)[..., None])
    return nibbles(codes.reshape(w.shape)), scale, whole


def ct_nvfp4(w, amax=None, inputs=True):
    codes, scale, whole = nvfp4(w, amax)
    out = {"weight_packed": codes, "weight_scale": scale,
           "weight_global_scale": np.float32([1 / whole])}  # fmt: skip
    return out | ({"input_global_scale": np.float32([672])} if inputs else {})


def modelopt_nvfp4(w, amax=None, inputs=True):
    codes, scale, whole = nvfp4(w, amax)
    out = {"weight": codes, "weight_scale": scale, "weight_scale_2": np.array(whole)}
    return out | ({"input_scale": np.float32(0.0014)} if inputs else {})


def exponents(w, size=32, largest_exponent=2):
    """E8M0 of blocks, as bytes, and their values."""
    top = largest(w, size)
    with np.errstate(divide="ignore"):
        exponent = np.where(top == 0, -127, np.floor(np.log2(top)) - largest_exponent)
    exponent = np.clip(exponent, -127, 127)
    return (exponent + 127).astype(np.uint8), np.float32(2.0) ** exponent


def mxfp4(w):
    byte, scale = exponents(w)
    codes = e2m1(groups(w, 32) / scale[..., None])
    return nibbles(codes.reshape(w.shape)), byte


def ct_mxfp4(w):
    return dict(zip(("weight_packed", "weight_scale"), mxfp4(w)))


def modelopt_mxfp4(w):
    return dict(zip(("weight", "weight_scale"), mxfp4(w)))


def mxfp8(w):
    byte, scale = exponents(w, largest_exponent=8)
    return {"weight": fp8(w, scale.repeat(32, -1)), "weight_scale": byte}


def modelopt_fp8(w, shape=(), inputs=True):
    """`shape`: () for one scale, "channel", or "block"."""
    if shape == "block":
        scale = np.float32(blocks(w) / 448)
        wide, scale = spread(scale, w.shape), scale[:, None, :, None]
    elif shape == "channel":
        scale = np.float32(np.abs(w).max(1) / 448)
        wide = scale[:, None]
    else:
        wide = scale = np.array(np.float32(np.abs(w).max() / 448))
    out = {"weight": fp8(w, wide), "weight_scale": scale}
    return out | ({"input_scale": np.float32(0.0089)} if inputs else {})


def block_fp8(w, powers_of_two=False, scale="weight_scale_inv", dtype=np.float32):
    inverse = np.float32(blocks(w) / 448)
    if powers_of_two:
        inverse = np.float32(2.0) ** np.ceil(np.log2(inverse))
    codes = fp8(w, spread(inverse, w.shape))
    return {"weight": codes, scale: inverse.astype(dtype)}


def gptq(w, size=128, bits=4, v2=False, order=False):
    """Symmetric: the zero point is the middle, stored less one in the first version."""
    middle = 2 ** (bits - 1)
    scale = 2 * largest(w, size) / (2**bits - 1)
    codes = np.round(groups(w, size) / scale[..., None]).astype(np.int64) + middle
    codes = np.clip(codes, 0, 2**bits - 1).reshape(w.shape)
    zeros = np.full(scale.T.shape, middle if v2 else middle - 1)
    index = np.arange(w.shape[1]) // size
    if order:
        index = np.random.default_rng(3).permutation(index)
    return {
        "qweight": words(codes.T, bits, axis=0), "qzeros": words(zeros, bits),
        "scales": scale.T.astype(np.float16), "g_idx": index.astype(np.int32),
    }  # fmt: skip


def awq(w, size=128):
    split = groups(w, size)
    low, high = split.min(-1), split.max(-1)
    scale = np.maximum(high - low, 1e-5) / 15
    zero = np.clip(-np.round(low / scale), 0, 15)
    codes = np.clip(np.round(split / scale[..., None]) + zero[..., None], 0, 15)
    order = [0, 2, 4, 6, 1, 3, 5, 7]

    def packed(x):
        return words(x.reshape(x.shape[0], -1, 8)[..., order].reshape(x.shape))

    return {
        "qweight": packed(codes.reshape(w.shape).T.astype(np.int64)),
        "qzeros": packed(zero.T.astype(np.int64)), "scales": scale.T.astype(np.float16),
    }  # fmt: skip


def bnb_nf4(w, nested=False):
    flat = groups(w.reshape(1, -1), 64)[0]
    absmax = np.abs(flat).max(-1)
    safe = np.where(absmax == 0, 1, absmax)[:, None]
    codes = np.abs((flat / safe)[..., None] - NF4).argmin(-1).astype(np.uint8)
    packed = (codes[:, ::2] << 4 | codes[:, 1::2]).reshape(-1, 1)
    state = {"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": list(w.shape)}
    out = {"weight": packed, "weight.quant_map": NF4}
    if nested:
        # A map of 256 values, here evenly spread, of the differences from the mean.
        offset = float(absmax.mean())
        each = groups(np.pad(absmax - offset, (0, -len(absmax) % 256))[None], 256)[0]
        code = np.linspace(-1, 1, 256, dtype=np.float32)
        top = np.abs(each).max(-1)
        small = np.abs((each / top[:, None])[..., None] - code).argmin(-1).astype(np.uint8)
        out |= {"weight.absmax": small.reshape(-1)[: len(absmax)],
                "weight.nested_absmax": top.astype(np.float32),
                "weight.nested_quant_map": code}  # fmt: skip
        state |= {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": offset}
    else:
        out["weight.absmax"] = absmax.astype(np.float32)
    text = np.frombuffer(json.dumps(state).encode(), np.uint8)
    return out | {"weight.quant_state.bitsandbytes__nf4": text}


def bnb_int8(w):
    scb = np.abs(w).max(1).astype(np.float32)
    codes = np.round(w / scb[:, None] * 127).astype(np.int8)
    return {"weight": codes, "SCB": scb, "weight_format": np.array(0, np.uint8)}
