"""Random damages of a model, in memory. Each returns what it did, or None if it does not fit."""

import json
import struct

import numpy as np

SCALES = ("scale", "scales", "absmax", "scb", "scale_inv", "scale_2", "biases", "_d", "e8m0")
NAN = {"F8_E4M3": 0x7F, "F8_E8M0": 0xFF, "U8": 0xFF, "BF16": 0x7FC0, "F16": 0x7E00,
       "F32": 0x7FC00000}  # fmt: skip
INF = {"BF16": 0x7F80, "F16": 0x7C00, "F32": 0x7F800000}
WORD = {"F8_E4M3": np.uint8, "F8_E8M0": np.uint8, "U8": np.uint8, "BF16": np.uint16,
        "F16": np.uint16, "F32": np.uint32}  # fmt: skip
SIGNED = ("F8_E4M3", "BF16", "F16", "F32")


class Tensors:
    """A safetensors file as name to [dtype, shape, bytes], in the order of the file."""

    def __init__(self, data):
        (length,) = struct.unpack("<Q", data[:8])
        entries = json.loads(data[8 : 8 + length])
        self.metadata = entries.pop("__metadata__", None)
        self.start = 8 + length
        entries = sorted(entries.items(), key=lambda entry: entry[1]["data_offsets"])
        self.all = {}
        for name, entry in entries:
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            self.all[name] = [entry["dtype"], entry["shape"], bytearray(data[begin:end])]

    def bytes(self):
        header, at = {}, 0
        if self.metadata:
            header["__metadata__"] = self.metadata
        for name, (dtype, shape, data) in self.all.items():
            offsets = [at, at + len(data)]
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
            at += len(data)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + b"".join(x[2] for x in self.all.values())

    def scales(self):
        return [name for name, (dtype, _, data) in self.all.items()
                if name.lower().endswith(SCALES) and dtype in WORD and data]  # fmt: skip

    def of_types(self, *types):
        return [name for name, (dtype, _, data) in self.all.items() if dtype in types and data]

    def words(self, name):
        dtype, _, data = self.all[name]
        return np.frombuffer(data, WORD[dtype])


def one_of(random, names):
    return names[random.integers(len(names))] if names else None


def set_scale(value):
    """An element of a scale becomes NaN, infinite, zero, or its sign or an exponent bit changes."""

    def damage(tensors, random):
        name = one_of(random, tensors.scales())
        if name is None:
            return None
        words, dtype = tensors.words(name), tensors.all[name][0]
        at = random.integers(len(words))
        old = words[at]
        if value == "nan":
            new = NAN[dtype]
        elif value == "infinity" and dtype in INF:
            new = INF[dtype]
        elif value == "zero":
            new = 0
        elif value == "sign" and dtype in SIGNED:
            new = int(old) ^ 1 << (8 * words.itemsize - 1)
        elif value == "exponent":
            high = {"F16": 14, "BF16": 14, "F32": 30, "F8_E4M3": 6}.get(dtype, 7)
            new = int(old) ^ 1 << high
        else:
            return None
        words[at] = new
        return None if old == words[at] else f"{name}[{at}]: {old:#x} to {int(new):#x}"

    return damage


def drop(tensors, random):
    name = one_of(random, list(tensors.all))
    del tensors.all[name]
    return name


def drop_scale(tensors, random):
    name = one_of(random, tensors.scales())
    if name is None:
        return None
    del tensors.all[name]
    return name


def rename(tensors, random):
    name = one_of(random, list(tensors.all))
    tensors.all = {
        (name + "_old" if key == name else key): value for key, value in tensors.all.items()
    }
    return name


def half(tensors, random):
    """A tensor loses half of its columns or elements, as if cut for one of two GPUs."""
    names = [name for name, (_, shape, data) in tensors.all.items()
             if shape and shape[-1] % 2 == 0 and len(data) % 2 == 0 and data]  # fmt: skip
    name = one_of(random, names)
    if name is None:
        return None
    dtype, shape, data = tensors.all[name]
    rows = np.frombuffer(bytes(data), np.uint8).reshape(*shape[:-1], 2, -1)[..., 0, :]
    tensors.all[name] = [dtype, [*shape[:-1], shape[-1] // 2], bytearray(rows.tobytes())]
    return name


def transpose(tensors, random):
    names = [name for name, (_, shape, _) in tensors.all.items()
             if len(shape) == 2 and shape[0] != shape[1] and 1 not in shape]  # fmt: skip
    name = one_of(random, names)
    if name is None:
        return None
    tensors.all[name][1] = tensors.all[name][1][::-1]
    return name


def empty(tensors, random):
    name = one_of(random, list(tensors.all))
    tensors.all[name] = [tensors.all[name][0], [0], bytearray()]
    return name


def zero_tensor(tensors, random):
    name = one_of(random, list(tensors.all))
    data = tensors.all[name][2]
    if not any(data):
        return None
    data[:] = bytes(len(data))
    return name


def fill(value):
    """A float weight becomes NaN or huge."""

    def damage(tensors, random):
        name = one_of(random, tensors.of_types("BF16", "F16", "F32"))
        if name is None:
            return None
        words, dtype = tensors.words(name), tensors.all[name][0]
        at = random.integers(len(words))
        huge = {"BF16": 0x7F00, "F16": 0x7B00, "F32": 0x7F000000}
        words[at] = (NAN if value == "nan" else huge)[dtype]
        return f"{name}[{at}]"

    return damage


def swap(tensors, random):
    """Two tensors of one dtype and shape change places."""
    name = one_of(random, list(tensors.all))
    dtype, shape, data = tensors.all[name]
    others = [other for other, x in tensors.all.items()
              if other != name and x[:2] == [dtype, shape] and x[2] != data]  # fmt: skip
    other = one_of(random, others)
    if other is None:
        return None
    tensors.all[name], tensors.all[other] = tensors.all[other], tensors.all[name]
    return f"{name} and {other}"


def other_dtype(tensors, random):
    """The same bytes under another dtype of the same size."""
    other = {"BF16": "F16", "F16": "BF16", "U8": "I8", "I8": "U8", "F32": "I32", "I32": "F32",
             "F8_E4M3": "U8", "U32": "F32", "F8_E8M0": "U8"}  # fmt: skip
    name = one_of(random, tensors.of_types(*other))
    if name is None:
        return None
    dtype = tensors.all[name][0]
    tensors.all[name][0] = other[dtype]
    return f"{name}: {dtype} as {other[dtype]}"


OF_TENSORS = {
    "scale NaN": set_scale("nan"), "scale Inf": set_scale("infinity"),
    "scale 0": set_scale("zero"), "scale sign": set_scale("sign"),
    "scale exponent": set_scale("exponent"), "drop": drop, "drop scale": drop_scale,
    "rename": rename, "half": half, "transpose": transpose, "empty": empty,
    "zero tensor": zero_tensor, "weight NaN": fill("nan"), "weight huge": fill("huge"),
    "swap": swap, "dtype": other_dtype,
}  # fmt: skip


def page(data, random):
    """A page of the file is zeros, as after a write that never happened."""
    pages = len(data) // 4096
    if pages < 3:
        return None
    at = 4096 * int(random.integers(1, pages))
    if not any(data[at : at + 4096]):
        return None
    data[at : at + 4096] = bytes(4096)
    return f"bytes {at} to {at + 4096}"


def bit(data, random):
    at = int(random.integers(len(data) // 2, len(data)))
    data[at] ^= 1 << int(random.integers(8))
    return f"byte {at}"


def cut(data, random):
    left = int(random.integers(len(data) // 4, len(data)))
    del data[left:]
    return f"{left} bytes left"


OF_BYTES = {"page of zeros": page, "bit": bit, "truncate": cut}


def settings(config, random):
    """An entry of the quantisation is removed, or gets another value."""
    place = next((config[key] for key in ("quantization_config", "quantization")
                  if isinstance(config.get(key), dict)), None)  # fmt: skip
    if place is None:
        return None
    key = one_of(random, sorted(place))
    old = place[key]
    if isinstance(old, bool):
        place[key] = not old
    elif isinstance(old, int) and random.random() < 0.7:
        place[key] = old * 2
    elif isinstance(old, list) and old and random.random() < 0.7:
        place[key] = old[1:]
    else:
        del place[key]
    return f"{key}: {json.dumps(old)[:60]} to {json.dumps(place.get(key, 'removed'))[:60]}"


def no_settings(config, random):
    keys = [key for key in ("quantization_config", "quantization") if key in config]
    for key in keys:
        del config[key]
    return " and ".join(keys) + " removed" if keys else None


def half_precision(config, random):
    key = next((key for key in ("torch_dtype", "dtype") if config.get(key) == "bfloat16"), None)
    if key is None:
        return None
    config[key] = "float16"
    return key


OF_CONFIG = {"config entry": settings, "no config": no_settings, "config f16": half_precision}
