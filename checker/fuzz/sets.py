"""Seeds of read_index and read_checkpoint: files that name other files.

The other files are in beside/, and the targets contain them. To write them again:
PYTHONPATH=fuzz python3 checker/fuzz/sets.py
"""

import json
import struct
from pathlib import Path

from parts import F32, F32_COUNT, archive

BESIDE = Path(__file__).parent / "beside"
CHECKPOINT = b"ctorch.distributed.checkpoint."


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value


def integer(value):
    return b"J" + struct.pack("<i", value)


def saved(name):
    """What torch.save writes for a dict with one tensor, or for one tensor if it has no name."""
    storage = text(b"storage") + b"ctorch\nFloatStorage\n" + text(b"0") + text(b"cpu")
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n((" + storage + integer(F32_COUNT)
    tensor += b"tQK\x00(" + integer(F32_COUNT) + b"t(K\x01t\x89ccollections\nOrderedDict\n)RtR"
    pickle = b"}" + text(name) + tensor + b"s" if name else tensor
    members = {
        "m/data.pkl": b"\x80\x02" + pickle + b".",
        "m/byteorder": b"little",
        "m/data/0": F32,
        "m/version": b"3\n",
    }
    return archive(members)


def safetensors(name):
    entry = {"dtype": "F32", "shape": [F32_COUNT], "data_offsets": [0, len(F32)]}
    header = json.dumps({name: entry}).encode()
    return struct.pack("<Q", len(header)) + header + F32


def beside():
    """The files that the seeds name."""
    return {
        "a.safetensors": safetensors("a"),
        "b.safetensors": safetensors("b"),
        "a.bin": saved(b"a"),
        "b.bin": saved(b"b"),
        "cut.bin": saved(b"c")[:-9],
        "x.distcp": 2 * saved(b""),
    }


def index_files():
    def index(**shards):
        return json.dumps({"metadata": {"total_size": 96}, "weight_map": shards}).encode()

    for ending in ("safetensors", "bin"):
        yield index(a=f"a.{ending}", b=f"b.{ending}")
        yield index(a=f"a.{ending}", b=f"a.{ending}", c=f"gone.{ending}")
        yield index(a=f"./a.{ending}", b=f"../b.{ending}", c="/dev/null")
    yield index(a="a.bin", c="cut.bin")
    yield index()
    yield b"{}"


def object_of(name, **fields):
    state = b"".join(text(key.encode()) + value for key, value in fields.items())
    return CHECKPOINT + name + b"\n)\x81}(" + state + b"ub"


def part(name, at, file, offset, length, **more):
    size = b"ctorch\nSize\n(" + integer(at) + b"t\x85R"
    index = object_of(b"metadata\nMetadataIndex", fqn=text(name), offset=size, index=b"N")
    fields = {"relative_path": text(file), "offset": integer(offset), "length": integer(length)}
    return index + object_of(b"filesystem\n_StorageInfo", **fields, **more)


def metadata(*parts):
    data = b"}(" + b"".join(parts) + b"u"
    return b"\x80\x02" + object_of(b"metadata\nMetadata", storage_data=data) + b"."


def checkpoint_files():
    one = len(saved(b""))
    file = b"x.distcp"
    yield metadata(part(b"w", 0, file, 0, one), part(b"w", 3, file, one, one))
    yield metadata(part(b"w", 0, file, one, one))
    yield metadata(part(b"w", 0, file, 0, one), part(b"v", 0, file, 9, one))
    yield metadata(part(b"w", 0, file, 0, one), part(b"v", 0, b"gone.distcp", 0, one))
    yield metadata(part(b"w", 0, file, 0, 1 << 20), part(b"v", 0, b"a.safetensors", 0, 20))
    yield metadata(part(b"w", 0, file, 0, one, transform_descriptors=b"]"))
    yield metadata()


if __name__ == "__main__":
    BESIDE.mkdir(exist_ok=True)
    for path, data in beside().items():
        (BESIDE / path).write_bytes(data)
