"""Why a damage was not found: "legal" is no fault, "unknowable" cannot be seen, "missed" could."""

import re

OPTIONAL = re.compile(
    r"input_scale|input_global|\.[kv]_scale|g_idx|bias$|pre_quant|comfy_quant|weight_format|"
    r"weight_shape|layernorm|norm\.weight|sinks"
)
PART = re.compile(r"scale|packed|q(weight|zeros)|absmax|SCB|quant_(state|map)|blocks")
BASE_2 = re.compile(r"mx|ue8m0|gpt-oss|named-scale")
SETTINGS = (
    "quant_method", "quant_algo", "config_groups", "bits", "group_size", "weight_block_size",
    "mode", "load_in_4bit", "load_in_8bit", "bnb_4bit_quant_type", "checkpoint_format", "scale_fmt",
)  # fmt: skip


def of_scale(kind, name, layout):
    """A single scale that changed."""
    if "pre_quant_scale" in name:
        return "missed", "a scale of the inputs"
    if kind == "scale NaN":
        return "legal", "the bytes of a nested absmax have no NaN"
    if kind == "scale sign":
        return "legal", "this layout has negative scales"
    if kind == "scale 0":
        why = "a scale of 2^-127" if BASE_2.search(layout) else "this layout has zero scales"
        return "legal", why
    # One byte: any exponent can be meant. Otherwise the new value is far from all others.
    one_byte = re.search(r"0x[0-9a-f]{1,2} to", name) is not None
    return ("legal", "another scale") if one_byte else ("missed", "a scale far from the others")


def of_shape(kind, name, layout):
    """A tensor with another shape or dtype."""
    if PART.search(name) and not OPTIONAL.search(name):
        return "missed", "a part of a quantised layer"
    if kind == "dtype" and not re.search("BF16 as F16|F16 as BF16", name):
        return "missed", "a dtype that no exporter writes"
    return "unknowable", "only the architecture tells"


def of_absence(name, layout):
    """A tensor that is gone, under another name, or empty."""
    if OPTIONAL.search(name):
        return "legal", "the tensor is optional, or only the architecture tells"
    part = PART.search(name) or (layout.startswith("mlx") and name.endswith("biases"))
    return ("missed", "a part of a quantised layer") if part else (
        "unknowable", "only the architecture tells")  # fmt: skip


def of_config(kind, name):
    if kind == "config f16":
        return "legal", "the weights fit into f16"
    if kind == "no config":
        return "missed", "quantised weights without a configuration"
    key = name.split(":")[0]
    if key == "mode" and '"affine" to' in name:
        return "legal", "the mode that is meant without the entry"
    why = "missed" if key in SETTINGS else "legal"
    return why, f"entry {key}" if why == "missed" else "an entry that decides nothing"


def reason(kind, what, source):
    name, layout = what.split(": ", 1)[1], source.name
    if kind.startswith("scale"):
        return of_scale(kind, name, layout)
    if kind in ("half", "transpose", "dtype"):
        return of_shape(kind, name, layout)
    if kind in ("drop", "drop scale", "rename", "empty"):
        return of_absence(name, layout)
    if "config" in kind:
        return of_config(kind, name)
    if kind == "zero tensor":
        if PART.search(name) and "qzeros" not in name:
            return "missed", "scales or codes of zeros"
        return "unknowable", "biases can be zeros, and there is no other tensor of this name"
    if kind == "weight huge":
        if PART.search(name):
            return "missed", "a huge scale"
        return "legal", "less than the limit of its dtype"
    return {
        "bit": ("unknowable", "another legal code or value"),
        "swap": ("unknowable", "both tensors fit both places"),
        "page of zeros": ("missed", "in codes, or in a float tensor"),
        "truncate": ("legal", "only padding is gone"),
    }.get(kind, ("missed", "other"))
