"""Seeds of the fuzz targets of the crate: special values of every format."""

import itertools
import struct

from parts import FORMATS, PREDICATES, elements


QUESTIONS = 11
# The predicates, and three thresholds.
ASKED = PREDICATES + 3


def tensor(form, question, asked, data, start=0, bit=0, repeats=1, at=0xFFFF, value=0):
    """A Tensor of src/tensor.rs."""
    head = struct.pack("<BBBBBBHB", form, question, asked, start, bit, repeats - 1, at, value)
    return head + data


def tensors():
    for form, (_, size, values) in enumerate(FORMATS):
        start, bit = 7 * form % 64, 5 * form % 32
        # Several groups of finite elements and a rest, with one special byte near the end.
        clean = elements(size, [values[0]] * 7 + [values[1]] * 4)
        last = {"repeats": 200, "at": 1999 * size % (2200 * size), "value": 0xFF}
        for question in range(QUESTIONS):
            for asked in range(form % 2, ASKED, 2):
                yield tensor(form, question, asked, elements(size, values), start, bit)
                yield tensor(form, question, asked, clean, start, bit, **last)
            yield tensor(form, question, 0, elements(size, values), 3, 3, repeats=131)


def calls():
    """A Call of fuzz_targets/bytes_api.rs: the excess plus 3, the kind of offset, the offset."""
    for form, (_, size, values) in enumerate(FORMATS):
        for excess, cut in itertools.product((0, 2, 3, 4), (0, 1)):
            data = elements(size, values)[cut:]
            yield struct.pack("<BBBBB", form, form % PREDICATES, excess, 0, 9) + data
            yield struct.pack("<BBBBH", form, 4, excess, 2, 3) + data


def views():
    """A Strided of src/strided.rs: with nulls, choices for layouts of every rank, and elements."""
    patterns = [b"\xff" * 8, bytes(8), b"\x55\xff\x00\x01\x80\x7f\xfe\xaa"]
    for form, (_, size, values) in enumerate(FORMATS):
        for rank in range(7):
            turn = 7 * form + rank
            head = bytes([form, form % PREDICATES, turn % 64, (0, 7, 63, 255)[turn % 4]])
            choices = bytes([rank, *(turn * i % 251 for i in range(3, 24 + 9 * rank))])
            yield head + patterns[turn % 3] + choices + elements(size, values)


def replacements():
    """Three codes, then a Tensor."""
    for form, (_, size, values) in enumerate(FORMATS):
        codes = struct.pack("<QQQ", values[0], values[1], values[2])
        yield codes + tensor(form, 0, 0, elements(size, values), 7 * form % 64)
        yield codes + tensor(form, 0, 0, elements(size, values), 3, repeats=60, at=500, value=0xFF)


SEEDS = {"bytes_api": calls, "dense": tensors, "replace": replacements, "views": views}
