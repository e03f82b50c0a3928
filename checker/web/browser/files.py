"""Files of safetensors with planted numbers."""

import json
import struct


def safetensors(path, tensors, sparse=0):
    """Writes tensors: names, dtypes, shapes and bytes. `sparse` zeros follow as one more tensor."""
    header, data = {}, bytearray()
    for name, dtype, shape, content in tensors:
        offsets = [len(data), len(data) + len(content)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        data += content
    if sparse:
        offsets = [len(data), len(data) + sparse]
        header["sparse"] = {"dtype": "F32", "shape": [sparse // 4], "data_offsets": offsets}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
        file.truncate(8 + len(text) + len(data) + sparse)


def floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)
