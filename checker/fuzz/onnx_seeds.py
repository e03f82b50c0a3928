"""Seeds of read_onnx: messages of ONNX by hand.

Each field is a number and kind, and a value or a length and bytes.
"""

from parts import F32, F32_COUNT, FORMATS, elements

# TensorProto.DataType, and the index of the format in FORMATS.
TYPES = {10: 0, 16: 1, 1: 2, 11: 3, 17: 4, 18: 5, 19: 6, 20: 7, 24: 11}


def varint(value):
    parts = [value >> shift & 0x7F for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes([part | 0x80 for part in parts[:-1]] + parts[-1:])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *parts):
    return varint(field << 3 | 2) + varint(sum(map(len, parts))) + b"".join(parts)


def model(*graph):
    return number(1, 9) + message(7, *graph) + message(8, number(2, 20))


def tensor(name, code, count, *content):
    return number(1, count) + number(2, code) + b"".join(content) + message(8, name)


def attribute(name, *content):
    return message(5, message(1, name), *content)


def node(operator, *attributes):
    return message(1, message(2, b"y"), message(4, operator), *attributes)


def contents(code, form):
    """The special values of a format as raw bytes, and in the field of the type."""
    _, size, values = FORMATS[form]
    raw = message(9, elements(size, values))
    # Fields of f32, f64, and int32 for narrower types.
    field = {4: 4, 8: 10}.get(size)
    packed = message(field, elements(size, values)) if field else message(5, *map(varint, values))
    return len(values), raw, packed


def onnx_files():
    """ModelProto."""
    whole = []
    for code, form in TYPES.items():
        count, raw, packed = contents(code, form)
        both = tensor(b"raw", code, count, raw), tensor(b"packed", code, count, packed)
        whole += [message(5, one) for one in both]
        yield model(*whole[-2:])
    inner = message(5, tensor(b"inner", 1, 1, message(9, F32[-4:])))
    whole += [
        node(
            b"Constant", attribute(b"value", message(5, tensor(b"", 1, F32_COUNT, message(9, F32))))
        ),
        node(b"Constant", attribute(b"value_float", varint(2 << 3 | 5), F32[-4:])),
        node(b"Constant", attribute(b"value_floats", message(7, F32))),
        node(
            b"If",
            attribute(b"then_branch", message(6, inner)),
            attribute(b"else_branch", message(6, inner)),
        ),
        message(15, message(1, tensor(b"sparse", 1, F32_COUNT, message(9, F32)))),
    ]
    yield model(*whole)
    function = message(
        25,
        message(1, b"f"),
        message(7, node(b"Constant", attribute(b"value_floats", message(7, F32)))[2:]),
    )
    yield model(inner) + message(20, message(1, inner), message(2, inner)) + function
    external = [message(13, message(1, b"location"), message(2, b"weights")), number(14, 1)]
    yield model(message(5, tensor(b"external", 1, 1, *external)))
