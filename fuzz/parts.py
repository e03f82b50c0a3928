"""What the seeds are made of: special elements of every format, and zip archives."""

import io
import sys
import zipfile

# In the order of nonfinite::Format::ALL: name, bytes, and the codes of special elements by
# ml_dtypes and IEEE 754: zero, one, the least subnormal, the largest number, NaN and infinities,
# and their neighbours.
FORMATS = [
    (
        "f16",
        2,
        [0x0000, 0x3C00, 0x0001, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0xFC01, 0x7E00, 0xFFFF],
    ),
    (
        "bf16",
        2,
        [0x0000, 0x3F80, 0x0001, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7F81, 0xFF81, 0x7FC0, 0xFFFF],
    ),
    (
        "f32",
        4,
        [
            0x00000000,
            0x3F800000,
            0x00000001,
            0x7F7FFFFF,
            0xFF7FFFFF,
            0x7F800000,
            0xFF800000,
            0x7F800001,
            0xFF800001,
            0x7FC00000,
            0x7FFFFFFF,
            0xFFFFFFFF,
        ],
    ),
    (
        "f64",
        8,
        [
            0x0000000000000000,
            0x3FF0000000000000,
            0x0000000000000001,
            0x7FEFFFFFFFFFFFFF,
            0xFFEFFFFFFFFFFFFF,
            0x7FF0000000000000,
            0xFFF0000000000000,
            0x7FF0000000000001,
            0x7FF0000080000000,
            0x7FF00000FFFFFFFF,
            0xFFF0000000000001,
            0x7FF0000100000000,
            0x7FF8000000000000,
            0xFFFFFFFFFFFFFFFF,
        ],
    ),
    ("f8e4m3fn", 1, [0x00, 0x38, 0x01, 0x7E, 0xFE, 0x7F, 0xFF, 0x78, 0xF8]),
    ("f8e4m3fnuz", 1, [0x00, 0x40, 0x01, 0x7F, 0xFF, 0x80, 0x81]),
    ("f8e5m2", 1, [0x00, 0x3C, 0x01, 0x7B, 0xFB, 0x7C, 0xFC, 0x7D, 0x7E, 0x7F, 0xFD, 0xFF]),
    ("f8e5m2fnuz", 1, [0x00, 0x40, 0x01, 0x7F, 0xFF, 0x80, 0x81]),
    ("f8e4m3", 1, [0x00, 0x38, 0x01, 0x77, 0xF7, 0x78, 0xF8, 0x79, 0x7F, 0xF9, 0xFF]),
    ("f8e3m4", 1, [0x00, 0x30, 0x01, 0x6F, 0xEF, 0x70, 0xF0, 0x71, 0x7F, 0xF1, 0xFF]),
    ("f8e4m3b11fnuz", 1, [0x00, 0x58, 0x01, 0x7F, 0xFF, 0x80, 0x81]),
    ("f8e8m0fnu", 1, [0x00, 0x7F, 0xFE, 0xFF]),
    ("f4e2m1fn", 1, [0x00, 0x02, 0x07, 0x0F, 0xFF]),
    ("f6e2m3fn", 1, [0x00, 0x08, 0x1F, 0x3F, 0xFF]),
    ("f6e3m2fn", 1, [0x00, 0x0C, 0x1F, 0x3F, 0xFF]),
]
PREDICATES = 8


def elements(size, values):
    return b"".join(value.to_bytes(size, sys.byteorder) for value in values)


def archive(members, method=zipfile.ZIP_STORED):
    """A zip archive, the same bytes every time."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            out.writestr(info, data)
    return file.getvalue()


METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
F32 = elements(4, FORMATS[2][2])
F32_COUNT = len(FORMATS[2][2])
