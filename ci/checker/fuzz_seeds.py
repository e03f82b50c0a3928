"""Small good files of each format into fuzz/corpus, so that the fuzzer begins behind the magic numbers. Run by the Python of
venv.sh, from the root of the repository."""

import os

import gguf
import numpy as np
import safetensors.numpy

ARRAY = np.array([[1, np.nan], [np.inf, 2]], np.float32)


def corpus(name):
    folder = os.path.join("fuzz", "corpus", f"read_{name}")
    os.makedirs(folder, exist_ok=True)
    return folder


def write_gguf(name, endianess):
    writer = gguf.GGUFWriter(os.path.join(corpus("gguf"), name), "llama", endianess=endianess)
    writer.add_string("x", "y")
    writer.add_array("strings", ["a", "b"])
    writer.add_array("numbers", [1, 2])
    writer.add_tensor("f", ARRAY)
    if endianess == gguf.GGUFEndian.LITTLE:
        kind = gguf.GGMLQuantizationType.Q4_0
        writer.add_tensor("q", gguf.quants.quantize(np.ones((2, 32), np.float32), kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


arrays = [ARRAY, ARRAY.astype(">f4"), ARRAY.T, np.arange(3), np.array(1.0), ARRAY.astype(np.complex64)]
for i, array in enumerate(arrays):
    np.save(os.path.join(corpus("npy"), f"seed-{i}.npy"), array)
np.savez(os.path.join(corpus("npz"), "seed-stored.npz"), a=ARRAY, b=np.arange(2))
np.savez_compressed(os.path.join(corpus("npz"), "seed-deflated.npz"), a=ARRAY, b=np.arange(2))
safetensors.numpy.save_file({"a": ARRAY, "b": np.arange(3)}, os.path.join(corpus("safetensors"), "seed.safetensors"))
write_gguf("seed-little.gguf", gguf.GGUFEndian.LITTLE)
write_gguf("seed-big.gguf", gguf.GGUFEndian.BIG)
