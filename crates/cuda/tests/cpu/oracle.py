"""Writes codes of all formats and their kinds, as numpy and ml_dtypes see them: `oracle.py FILE`.

For each format, in the order of `nonfinite::Format`: bytes of an element and the number of codes,
as u32; the codes, as u64; their kinds, as u8 (0 finite, 1 NaN, 2 +Inf, 4 -Inf). Of formats of 8 and
16 bits all codes are there; of f32 and f64 those at the edges, and random ones.
"""

import sys

import ml_dtypes
import numpy as np

FORMATS = [
    np.float16,
    ml_dtypes.bfloat16,
    np.float32,
    np.float64,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e4m3,
    ml_dtypes.float8_e3m4,
    ml_dtypes.float8_e4m3b11fnuz,
    ml_dtypes.float8_e8m0fnu,
    ml_dtypes.float4_e2m1fn,
    ml_dtypes.float6_e2m3fn,
    ml_dtypes.float6_e3m2fn,
]
# Codes of formats of less than 8 bits that have a value. The other bits make no difference.
USED = {ml_dtypes.float4_e2m1fn: 16, ml_dtypes.float6_e2m3fn: 64, ml_dtypes.float6_e3m2fn: 64}
RANDOM = 20000


def codes(dtype: np.dtype, random: np.random.Generator) -> np.ndarray:
    bits = 8 * dtype.itemsize
    if bits <= 16:
        return np.arange(USED.get(dtype.type, 1 << bits), dtype=np.uint64)
    exponent, mantissa = (8, 23) if bits == 32 else (11, 52)
    ones, low = (1 << exponent) - 1, (1 << mantissa) - 1
    mantissas = {0, 3, low, low - 1, low // 2, 0xFFFFFFFF & low, low & ~0xFFFFFFFF}
    mantissas |= {1 << bit for bit in range(mantissa)}
    exponents = {0, 1, 2, ones // 2, ones - 2, ones - 1, ones}
    exponents |= {ones ^ 1 << bit for bit in range(exponent)}
    signs = [0, 1 << (bits - 1)]
    edges = [s | e << mantissa | m for s in signs for e in exponents for m in mantissas]
    drawn = random.integers(0, 1 << bits, RANDOM, dtype=np.uint64)
    special = random.integers(0, 1 << bits, RANDOM, dtype=np.uint64)
    special |= np.uint64(ones << mantissa)
    return np.concatenate([np.array(edges, np.uint64), drawn, special])


def kinds(codes: np.ndarray, dtype: np.dtype) -> np.ndarray:
    values = codes.astype(f"u{dtype.itemsize}").view(dtype)
    # To f64: ml_dtypes has no `signbit` for some formats. All finite codes stay finite.
    with np.errstate(invalid="ignore"):
        wide = values.astype(np.float64)
    return np.select([np.isnan(wide), wide == np.inf, wide == -np.inf], [1, 2, 4], 0)


def main() -> None:
    random = np.random.default_rng(41)
    with open(sys.argv[1], "wb") as out:
        for kind in FORMATS:
            dtype = np.dtype(kind)
            own = codes(dtype, random)
            out.write(np.array([dtype.itemsize, len(own)], np.uint32).tobytes())
            out.write(own.tobytes())
            out.write(kinds(own, dtype).astype(np.uint8).tobytes())


if __name__ == "__main__":
    main()
